package storage

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/inferometer/inferometer/internal/plan"
)

// TestCheck: whether files can be stored is known beforehand, and nothing is stored.
func TestCheck(t *testing.T) {
	getenv := keyed(t)
	for _, c := range []struct {
		name   string
		status int    // of the beginning of an upload
		body   string // and what is said with it
		want   string // in the error; "": none
		calls  string
	}{
		{"allowed", 200, "<InitiateMultipartUploadResult><UploadId>u 1+2</UploadId></InitiateMultipartUploadResult>", "", "HEAD /box/runs/x-write-check ; POST /box/runs/x-write-check uploads=; DELETE /box/runs/x-write-check uploadId=u%201%2B2; "},
		{"no bucket", 404, "<Error><Code>NoSuchBucket</Code></Error>", "create the bucket first", ""},
		{"not allowed", 403, "<Error><Code>AccessDenied</Code></Error>", "403 AccessDenied", ""},
		{"no uploads in parts", 501, "", "", ""},
		{"nonsense", 200, "hello", "begins an upload without naming it", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var calls strings.Builder
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.WriteString(r.Method + " " + r.URL.Path + " " + r.URL.RawQuery + "; ")
				switch r.Method {
				case http.MethodHead:
					w.WriteHeader(http.StatusNotFound)
				case http.MethodPost:
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				}
			}))
			defer server.Close()
			out := plan.Output{S3: plan.S3{Bucket: "box", Path: "runs", Prefix: "x-", Endpoint: server.URL}}
			err := Check(t.Context(), &out, Options{Getenv: getenv})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if c.calls != "" && calls.String() != c.calls {
				t.Errorf("calls %s", &calls)
			}
		})
	}
}

func TestCheckGCS(t *testing.T) {
	status, body := 200, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Query().Get("uploadType") != "resumable" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	out := plan.Output{GCS: plan.GCS{Bucket: "g"}}
	o := Options{Getenv: environment(t, "STORAGE_EMULATOR_HOST", server.URL)}
	if err := Check(t.Context(), &out, o); err != nil {
		t.Error(err)
	}
	status, body = 404, `{"error": {"message": "The specified bucket does not exist."}}`
	if err := Check(t.Context(), &out, o); err == nil || !strings.Contains(err.Error(), "does not exist.: create the bucket first") {
		t.Error(err)
	}
}

// TestNobodyThere: an address at which nobody listens is found out, after some attempts.
func TestNobodyThere(t *testing.T) {
	getenv, all := keyed(t), files(t, tree(t))[:1]
	synctest.Test(t, func(t *testing.T) {
		out := plan.Output{S3: plan.S3{Bucket: "box", Endpoint: "http://nobody"}}
		asked := 0
		client := &http.Client{Transport: network(func(*http.Request) (*http.Response, error) {
			asked++
			return nil, errors.New("connection refused")
		})}
		err := Check(t.Context(), &out, Options{Getenv: getenv, Client: client})
		if err == nil || asked != s3Tries || !strings.Contains(err.Error(), "nothing could be copied to s3://box/: connection refused") {
			t.Errorf("%d attempts, %v", asked, err)
		}
		err = Copy(t.Context(), &out, all, Options{Getenv: getenv, Client: client})
		if err == nil || asked != 2*s3Tries || !strings.Contains(err.Error(), all[0].Path+" to s3://box/") || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%d attempts, %v", asked, err)
		}
	})
}

// network is one that answers by itself.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// answer is a response of such a network.
func answer(r *http.Request, status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}
