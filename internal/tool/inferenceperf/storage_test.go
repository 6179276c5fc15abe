package inferenceperf

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

// TestCopyReports: reports go to the bucket under its own prefix, and a bucket that
// refuses them is an error.
func TestCopyReports(t *testing.T) {
	got, refuse := map[string]string{}, false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case refuse:
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		default:
			got[r.URL.Path] = string(body)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	name := filepath.Join(dir, "local-summary.json")
	if err := os.WriteFile(name, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := plan.Default()
	p.Output.S3 = plan.S3{Bucket: "box", Path: "runs", Prefix: "far-", Endpoint: server.URL}
	var log bytes.Buffer
	env := map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
	made := &job{action: &args.Action{Plan: &p}, env: &tool.Session{Getenv: func(k string) string { return env[k] }, Log: &log}}
	made.action.Options.Dir, made.action.Options.Prefix = dir, "local-"
	if w := made.copyReports(t.Context()); w != nil || !strings.Contains(got["/box/runs/far-summary.json"], "{}") || !strings.Contains(log.String(), "copied s3://box/runs/far-summary.json") {
		t.Errorf("%v, bucket %v, log %s", w, got, &log)
	}
	refuse = true
	if w := made.copyReports(t.Context()); w == nil || !strings.Contains(w.Error(), "403") {
		t.Errorf("%v", w)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
	p.Output.S3 = plan.S3{}
	if w := made.copyReports(t.Context()); w != nil {
		t.Errorf("nothing was asked for: %v", w)
	}
}
