package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// environment is one with nothing else in it. The libraries read it themselves.
func environment(t *testing.T, pairs ...string) func(string) string {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	for _, name := range []string{"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "STORAGE_EMULATOR_HOST"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	for i := 0; i+1 < len(pairs); i += 2 {
		t.Setenv(pairs[i], pairs[i+1])
	}
	return os.Getenv
}

// keyed is an environment with credentials.
func keyed(t *testing.T, more ...string) func(string) string {
	t.Helper()
	return environment(t, append(more, "AWS_ACCESS_KEY_ID", "AKID", "AWS_SECRET_ACCESS_KEY", "s3cret")...)
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

// bucket is a stand-in for a store that can fail.
type bucket struct {
	objects map[string]string
	failing int // answers with status 503 to come
	status  int // of every response; 0: as it should be
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
	b := &bucket{objects: map[string]string{}, failing: 1}
	server := httptest.NewTLSServer(b)
	defer server.Close()
	out := plan.Output{S3: plan.S3{Bucket: "reports", Path: "/runs/1/", Prefix: "x-", Endpoint: server.URL}}
	dir := tree(t)
	var log bytes.Buffer
	o := Options{Getenv: keyed(t), Log: &log, Client: server.Client()}
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
}

func TestCopyToGCS(t *testing.T) {
	b := &bucket{objects: map[string]string{"runs/summary.json": "another's"}, failing: 1}
	server := httptest.NewServer(b)
	defer server.Close()
	out := plan.Output{GCS: plan.GCS{Bucket: "reports", Path: "runs"}}
	err := Copy(t.Context(), &out, files(t, tree(t)), Options{Getenv: environment(t, "STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))})
	if err != nil || b.objects["runs/summary.json"] != "another's" || b.objects["runs/records/requests.jsonl.zst"] != "zz as application/zstd" {
		t.Errorf("%v, %q", err, b.objects)
	}
}

func TestWithoutCredentials(t *testing.T) {
	metadata := httptest.NewServer(http.NotFoundHandler())
	defer metadata.Close()
	out := plan.Output{S3: plan.S3{Bucket: "box"}, GCS: plan.GCS{Bucket: "g"}}
	err := Copy(t.Context(), &out, nil, Options{Getenv: environment(t, "AWS_EC2_METADATA_DISABLED", "true", "GCE_METADATA_HOST", strings.TrimPrefix(metadata.URL, "http://"))})
	if err == nil || !strings.Contains(err.Error(), "S3 bucket box: there are no credentials") || !strings.Contains(err.Error(), "bucket g: no usable application-default credentials") {
		t.Errorf("error %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		s3   plan.S3
		env  []string
		want string
	}{
		{plan.S3{Bucket: "box"}, nil, "https://box.s3.us-east-1.amazonaws.com/k"},
		{plan.S3{Bucket: "box", Region: "cn-north-1"}, nil, "https://box.s3.cn-north-1.amazonaws.com.cn/k"},
		{plan.S3{Bucket: "b.c"}, []string{"AWS_REGION", "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com/b.c/k"},
		{plan.S3{Bucket: "box", Addressing: "path"}, []string{"AWS_DEFAULT_REGION", "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com/box/k"},
		{plan.S3{Bucket: "box", Endpoint: "http://minio:9000"}, nil, "http://minio:9000/box/k"},
		{plan.S3{Bucket: "box", Endpoint: "http://minio:9000/", Addressing: "virtual"}, nil, "http://box.minio:9000/k"},
		{plan.S3{Bucket: "box"}, []string{"AWS_ENDPOINT_URL_S3", "http://h/base"}, "http://h/base/box/k"},
	} {
		var asked *url.URL
		client := &http.Client{Transport: network(func(r *http.Request) (*http.Response, error) {
			asked = r.URL
			return answer(r, http.StatusNotFound, "")
		})}
		s, err := NewS3(t.Context(), c.s3, Options{Getenv: keyed(t, c.env...), Client: client})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.there(t.Context(), "k"); err != nil || asked.String() != c.want {
			t.Errorf("%+v %v: %v, %v, want %s", c.s3, c.env, asked, err, c.want)
		}
	}
	if _, err := NewS3(t.Context(), plan.S3{Bucket: "box", Endpoint: "nonsense"}, Options{Getenv: keyed(t)}); err == nil {
		t.Error("nonsense is an address")
	}
}

// TestStoreWithoutParts: a store that knows no uploads in parts gets a large file whole.
func TestStoreWithoutParts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(name, nil, 0o644), os.Truncate(name, 5<<20+1)); err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	client := &http.Client{Transport: network(func(r *http.Request) (*http.Response, error) {
		switch r.Method {
		case http.MethodHead:
			return answer(r, http.StatusNotFound, "")
		case http.MethodPost:
			return answer(r, http.StatusNotImplemented, "<Error><Code>NotImplemented</Code></Error>")
		}
		n, err := io.Copy(io.Discard, r.Body)
		sizes = append(sizes, n)
		if err != nil {
			return nil, err
		}
		return answer(r, http.StatusOK, "")
	})}
	s, err := NewS3(t.Context(), plan.S3{Bucket: "box", Endpoint: "https://h"}, Options{Getenv: keyed(t), Client: client})
	if err != nil {
		t.Fatal(err)
	}
	s.part = 5 << 20
	if _, err := s.Put(t.Context(), "k", name); err != nil || !slices.Equal(sizes, []int64{5<<20 + 1}) {
		t.Errorf("%v, stored %v", err, sizes)
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
	out := plan.Output{S3: plan.S3{Bucket: "box", Endpoint: server.URL}}
	if err := Copy(t.Context(), &out, files(t, tree(t))[:1], Options{Getenv: keyed(t)}); err != nil || !slices.Equal(regions, []string{"us-east-1", "eu-west-1", "eu-west-1"}) {
		t.Errorf("%v, regions %v", err, regions)
	}
}

func TestPersist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		_, err := persist(t.Context(), func() (bool, error) { n++; return false, &temporary{errors.New("busy")} })
		if n != tries || err == nil || time.Since(began) != 15*firstPause {
			t.Errorf("%d tries, %v, %v", n, err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n = 0
		if _, err := persist(ctx, func() (bool, error) { n++; return false, &temporary{errors.New("busy")} }); n != 1 || err == nil {
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
		return false, errors.New("connection refused")
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
	d := &dying{left: 1}
	err := errors.Join(location{store: d, path: "p"}.copy(t.Context(), all, io.Discard)...)
	if len(d.got) != 1 || err == nil {
		t.Fatalf("%v, %v", d.got, err)
	}
	told := strings.Count(err.Error(), "connection refused")
	if told != min(len(all)-1, mostRefused) || !strings.Contains(err.Error(), all[1].Path) {
		t.Errorf("of %d files %d are told of: %v", len(all)-1, told, err)
	}
	for _, f := range all {
		if _, err := os.Stat(f.Path); err != nil {
			t.Error(err)
		}
	}
}
