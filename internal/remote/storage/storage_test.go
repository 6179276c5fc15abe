package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"inferometer/internal/plan"
)

// env is an environment with nothing else in it.
func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

// keys is an environment with credentials.
func keys(more ...string) func(string) string {
	m := map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "s3cret"}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i]] = more[i+1]
	}
	return env(m)
}

// tree makes a directory of reports.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"p-summary.json": "{}", "p-empty.txt": "", "records/requests.jsonl.zst": "zz", "odd name+ü.json": "[]"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func files(t *testing.T, dir string) []File {
	t.Helper()
	all, err := Files(dir, "p-")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSignature signs the worked examples of Amazon's description of signature version 4
// for S3.
func TestSignature(t *testing.T) {
	const host = "https://examplebucket.s3.amazonaws.com"
	body := sha256.Sum256([]byte("Welcome to Amazon S3."))
	k := awsKey{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	for _, c := range []struct {
		method, path, sum string
		headers           []string
		want              string
	}{
		{http.MethodGet, "/test.txt", emptySum, []string{"Range", "bytes=0-9"}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{http.MethodPut, "/test$file.text", hex.EncodeToString(body[:]), []string{"Date", "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class", "REDUCED_REDUNDANCY"}, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
	} {
		req, err := http.NewRequest(c.method, host+escape(c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.headers); i += 2 {
			req.Header.Set(c.headers[i], c.headers[i+1])
		}
		k.sign(req, "us-east-1", "s3", c.sum, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
}

// bucket is a stand-in for a store that can fail.
type bucket struct {
	objects map[string]string
	failing int // answers with status 503 to come
	status  int // of every answer; 0: as it should be
	asked   []string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.asked = append(b.asked, r.Method+" "+r.Host+r.URL.EscapedPath())
	key := r.URL.Path
	if r.Method == http.MethodPost {
		key = r.URL.Query().Get("name")
	}
	body, _ := io.ReadAll(r.Body)
	_, taken := b.objects[key]
	switch {
	case b.failing > 0:
		b.failing--
		w.WriteHeader(http.StatusServiceUnavailable)
	case b.status != 0:
		w.WriteHeader(b.status)
		fmt.Fprint(w, `<Error><Code>AccessDenied</Code><Message>no</Message></Error>`)
	case r.Method == http.MethodHead && !taken:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost && taken:
		w.WriteHeader(http.StatusPreconditionFailed)
	case r.Method != http.MethodHead:
		b.objects[key] = string(body) + " as " + r.Header.Get("Content-Type")
	}
}

func TestCopyToS3(t *testing.T) {
	b := &bucket{objects: map[string]string{}, failing: 2}
	server := httptest.NewServer(b)
	defer server.Close()
	out := plan.Output{S3: plan.S3{Bucket: "reports", Path: "/runs/1/", Prefix: "x-", Endpoint: server.URL}}
	dir := tree(t)
	var log bytes.Buffer
	o := Options{Getenv: keys(), Log: &log}
	if err := Copy(t.Context(), &out, files(t, dir), o); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/reports/runs/1/x-summary.json":               "{} as application/json",
		"/reports/runs/1/x-empty.txt":                  " as text/plain",
		"/reports/runs/1/x-records/requests.jsonl.zst": "zz as application/zstd",
		"/reports/runs/1/x-odd name+ü.json":            "[] as application/json",
	}
	for k, v := range want {
		if b.objects[k] != v {
			t.Errorf("%s holds %q, want %q", k, b.objects[k], v)
		}
	}
	if len(b.objects) != len(want) || !strings.Contains(log.String(), "copied s3://reports/runs/1/x-summary.json") {
		t.Errorf("%d objects, log %s", len(b.objects), &log)
	}
	if !slices.ContainsFunc(b.asked, func(a string) bool { return strings.HasSuffix(a, "/reports/runs/1/x-odd%20name%2B%C3%BC.json") }) {
		t.Errorf("asked %q", b.asked)
	}
	// What is there is left alone, and what is local stays.
	b.objects["/reports/runs/1/x-summary.json"] = "another's"
	log.Reset()
	if err := Copy(t.Context(), &out, files(t, dir), o); err != nil || b.objects["/reports/runs/1/x-summary.json"] != "another's" || strings.Contains(log.String(), "copied") {
		t.Errorf("%v, log %s", err, &log)
	}
	if len(files(t, dir)) != 4 {
		t.Error("a local file is gone")
	}
	// A store that refuses is told of, once for each of a few files, and no secret is.
	b.status = http.StatusForbidden
	err := Copy(t.Context(), &out, files(t, dir), o)
	if err == nil || strings.Count(err.Error(), "AccessDenied no") != mostRefused || !strings.Contains(err.Error(), "1 more files were not copied") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("refused: %v", err)
	}
	// One that is gone costs an error, after some attempts.
	server.Close()
	if err := Copy(t.Context(), &out, files(t, dir)[:1], o); err == nil || !strings.Contains(err.Error(), "tried 5 times") {
		t.Errorf("gone: %v", err)
	}
}

func TestCopyToGCS(t *testing.T) {
	b := &bucket{objects: map[string]string{"runs/summary.json": "another's"}, failing: 1}
	server := httptest.NewServer(b)
	defer server.Close()
	out := plan.Output{GCS: plan.GCS{Bucket: "reports", Path: "runs"}}
	err := Copy(t.Context(), &out, files(t, tree(t)), Options{Getenv: env(map[string]string{"STORAGE_EMULATOR_HOST": strings.TrimPrefix(server.URL, "http://")})})
	if err != nil || b.objects["runs/summary.json"] != "another's" || b.objects["runs/records/requests.jsonl.zst"] != "zz as application/zstd" {
		t.Errorf("%v, %q", err, b.objects)
	}
}

func TestWithoutCredentials(t *testing.T) {
	out := plan.Output{S3: plan.S3{Bucket: "b"}, GCS: plan.GCS{Bucket: "g"}}
	err := Copy(t.Context(), &out, nil, Options{Getenv: env(map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "GCE_METADATA_HOST": "127.0.0.1:1"})})
	if err == nil || !strings.Contains(err.Error(), "S3 bucket b: there are no credentials") || !strings.Contains(err.Error(), "bucket g: there are no application-default credentials") {
		t.Errorf("error %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		s3   plan.S3
		env  []string
		want string
	}{
		{plan.S3{Bucket: "b"}, nil, "https://b.s3.us-east-1.amazonaws.com/k"},
		{plan.S3{Bucket: "b", Region: "cn-north-1"}, nil, "https://b.s3.cn-north-1.amazonaws.com.cn/k"},
		{plan.S3{Bucket: "b.c"}, []string{"AWS_REGION", "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com/b.c/k"},
		{plan.S3{Bucket: "b", Addressing: "path"}, []string{"AWS_DEFAULT_REGION", "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com/b/k"},
		{plan.S3{Bucket: "b", Endpoint: "http://minio:9000"}, nil, "http://minio:9000/b/k"},
		{plan.S3{Bucket: "b", Endpoint: "http://minio:9000/", Addressing: "virtual"}, nil, "http://b.minio:9000/k"},
		{plan.S3{Bucket: "b"}, []string{"AWS_ENDPOINT_URL_S3", "http://h/base"}, "http://h/base/b/k"},
	} {
		s, err := NewS3(t.Context(), c.s3, Options{Getenv: keys(c.env...)})
		if err != nil {
			t.Fatal(err)
		}
		req, err := s.request(t.Context(), http.MethodGet, "k", nil)
		if err != nil || req.URL.String() != c.want {
			t.Errorf("%+v %v: %v, %v, want %s", c.s3, c.env, req.URL, err, c.want)
		}
	}
	if _, err := NewS3(t.Context(), plan.S3{Bucket: "b", Endpoint: "nonsense"}, Options{Getenv: keys()}); err == nil {
		t.Error("nonsense is an address")
	}
}

func TestBucketElsewhere(t *testing.T) {
	var regions []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		region := strings.Split(r.Header.Get("Authorization"), "/")[2]
		regions = append(regions, region)
		if region != "eu-west-1" {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			w.WriteHeader(http.StatusBadRequest)
		} else if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	out := plan.Output{S3: plan.S3{Bucket: "b", Endpoint: server.URL}}
	if err := Copy(t.Context(), &out, files(t, tree(t))[:1], Options{Getenv: keys()}); err != nil || !slices.Equal(regions, []string{"us-east-1", "eu-west-1", "eu-west-1"}) {
		t.Errorf("%v, regions %v", err, regions)
	}
}

func TestPersist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		_, err := persist(t.Context(), func() (bool, error) { n++; return false, &TemporaryError{errors.New("busy")} })
		if n != tries || err == nil || time.Since(began) != 15*firstPause {
			t.Errorf("%d tries, %v, %v", n, err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n = 0
		if _, err := persist(ctx, func() (bool, error) { n++; return false, &TemporaryError{errors.New("busy")} }); n != 1 || err == nil {
			t.Errorf("a run that is over: %d tries, %v", n, err)
		}
		n = 0
		if _, err := persist(t.Context(), func() (bool, error) { n++; return false, errors.New("never") }); n != 1 || err == nil {
			t.Errorf("a refusal: %d tries, %v", n, err)
		}
	})
}

// dying is a store that is gone after so many files.
type dying struct {
	left int
	got  []string
}

func (d *dying) Put(_ context.Context, key, _ string) (bool, error) {
	if d.left == 0 {
		return false, &TemporaryError{errors.New("connection refused")}
	}
	d.left--
	d.got = append(d.got, key)
	return false, nil
}

func (d *dying) Check(context.Context, string) error { return nil }

func (d *dying) URL(key string) string { return "s3://b/" + key }

// TestStoreDies: what was copied stays, all that was not is told, and nothing here is
// touched.
func TestStoreDies(t *testing.T) {
	dir := tree(t)
	all := files(t, dir)
	synctest.Test(t, func(t *testing.T) {
		d := &dying{left: 1}
		err := errors.Join(place{store: d, path: "p"}.copy(t.Context(), all, io.Discard)...)
		if len(d.got) != 1 || err == nil {
			t.Fatalf("%v, %v", d.got, err)
		}
		told := strings.Count(err.Error(), "connection refused")
		if told != min(len(all)-1, mostRefused) || !strings.Contains(err.Error(), all[1].Path) {
			t.Errorf("of %d files %d are told of: %v", len(all)-1, told, err)
		}
	})
	for _, f := range all {
		if _, err := os.Stat(f.Path); err != nil {
			t.Error(err)
		}
	}
}
