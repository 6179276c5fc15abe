package inferenceperf

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

const spansConfig = `
api: {type: completion, streaming: true}
data: {type: mock}
load: {type: constant, interval: 0, stages: [{rate: 20, duration: 1}, {rate: 10, duration: 1}]}
server: {type: vllm, model_name: mock, base_url: "URL", api_key: very-secret}
`

// spanned runs a config with variables of the environment.
func spanned(t *testing.T, env map[string]string) (dir string, out *Outcome, err error) {
	t.Helper()
	t.Setenv("HF_HUB_OFFLINE", "1")
	dir = filepath.Join(t.TempDir(), "reports")
	text := strings.Replace(spansConfig, "URL", serve(t), 1)
	a, err := args.Parse([]string{"-c", "c.yml", "--storage.local_storage.path", dir},
		args.World{ReadFile: func(string) ([]byte, error) { return []byte(text), nil }, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	out, err = Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Version: "test", Getenv: func(name string) string { return env[name] }, Out: io.Discard, Log: io.Discard}, io.Discard)
	return dir, out, err
}

// names are the spans' names of an export, and how many there are of each.
func names(t *testing.T, body []byte) map[string]int {
	t.Helper()
	var message struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []struct{ Name string } }
		}
	}
	if err := json.Unmarshal(body, &message); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	out := map[string]int{}
	for _, s := range message.ResourceSpans[0].ScopeSpans[0].Spans {
		out[s.Name]++
	}
	return out
}

func TestSpansToACollector(t *testing.T) {
	bodies := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
		_, _ = io.WriteString(w, "{}")
	}))
	defer collector.Close()
	dir, _, err := spanned(t, map[string]string{"OTEL_TRACES_ENABLED": "true", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_TRACE_PER_STAGE": "true"})
	if err != nil {
		t.Fatal(err)
	}
	body := <-bodies
	if n := names(t, body); n["text_completion mock"] != 30 || n["stage.0"] != 1 || n["stage.1"] != 1 || len(bodies) != 0 {
		t.Errorf("spans are %v", n)
	}
	if bytes.Contains(body, []byte("very-secret")) {
		t.Error("the spans tell the key")
	}
	if _, err := os.Stat(filepath.Join(dir, SpansFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("spans are in a file too: %v", err)
	}
}

// differs: ip-spans
func TestSpansToAFile(t *testing.T) {
	dir, out, err := spanned(t, map[string]string{"OTEL_TRACES_ENABLED": "true"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, SpansFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := names(t, text); n["text_completion mock"] != 30 || len(n) != 1 {
		t.Errorf("spans are %v", n)
	}
	if last := out.Files[len(out.Files)-1]; filepath.Base(last) != SpansFile {
		t.Errorf("the last file told of is %s", last)
	}
}

// A collector that refuses costs no report.
func TestSpansRefused(t *testing.T) {
	collector := httptest.NewServer(http.NotFoundHandler())
	defer collector.Close()
	dir, out, err := spanned(t, map[string]string{"OTEL_TRACES_ENABLED": "true", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL})
	if err == nil || !strings.Contains(err.Error(), "30 were not") || out == nil {
		t.Fatalf("%v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "summary_lifecycle_metrics.json")); err != nil {
		t.Error(err)
	}
}

// A bad setting is told of before anything is sent or written.
func TestSpansNowhere(t *testing.T) {
	dir, out, err := spanned(t, map[string]string{"OTEL_TRACES_ENABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "unix:///collector"})
	var early *run.PrepareError
	if !errors.As(err, &early) || out != nil {
		t.Errorf("%v, %v", out, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there are reports: %v", err)
	}
}
