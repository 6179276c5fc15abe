package storage

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"inferometer/internal/plan"
)

// TestCheck: whether files can be stored is known beforehand, and nothing is stored.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int    // of the beginning of an upload
		body   string // and what is said with it
		want   string // in the error; "": none
		calls  string
	}{
		{"allowed", 200, "<R><UploadId>u 1+2</UploadId></R>", "", "HEAD /b/runs/x-write-check ; POST /b/runs/x-write-check uploads=; DELETE /b/runs/x-write-check uploadId=u+1%2B2; "},
		{"no bucket", 404, "<Error><Code>NoSuchBucket</Code></Error>", "NoSuchBucket : make the bucket first", ""},
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
			out := plan.Output{S3: plan.S3{Bucket: "b", Path: "runs", Prefix: "x-", Endpoint: server.URL}}
			err := Check(t.Context(), &out, Options{Getenv: keys()})
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
	o := Options{Getenv: env(map[string]string{"STORAGE_EMULATOR_HOST": server.URL})}
	if err := Check(t.Context(), &out, o); err != nil {
		t.Error(err)
	}
	status, body = 404, `{"error": {"message": "The specified bucket does not exist."}}`
	if err := Check(t.Context(), &out, o); err == nil || !strings.Contains(err.Error(), "does not exist.: make the bucket first") {
		t.Error(err)
	}
}

// TestCheckNobodyThere: an address at which nobody listens is found out.
func TestCheckNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := plan.Output{S3: plan.S3{Bucket: "b", Endpoint: "http://nobody"}}
		client := &http.Client{Transport: refusing{}}
		err := Check(t.Context(), &out, Options{Getenv: keys(), Client: client})
		if err == nil || !strings.Contains(err.Error(), "nothing could be copied to s3://b/: tried 5 times: connection refused") {
			t.Error(err)
		}
	})
}

// refusing is a network without servers.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection refused")
}
