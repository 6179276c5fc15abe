package study

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/testkit/triton"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// serve starts a mock that takes 100 µs for each token of a prompt.
func serve(t *testing.T, change func(*config.Server)) (overHTTP, overGRPC string) {
	t.Helper()
	c := config.Default()
	c.Models = []string{"vllm_model"}
	c.Latency.TTFT, c.Latency.PrefillPerToken, c.Latency.ITL = 2*time.Millisecond, 100*time.Microsecond, time.Millisecond
	if change != nil {
		change(&c)
	}
	m, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	var at []string
	for _, serve := range []func(net.Listener) error{m.Serve, m.ServeGRPC} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go serve(l)
		at = append(at, l.Addr().String())
	}
	return "http://" + at[0], "grpc://" + at[1]
}

func study(t *testing.T, line string) (*Outcome, string) {
	t.Helper()
	a, err := args.Study(strings.Fields(line), planfile.Known{})
	if err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	o, err := Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Version: "test", Out: &out, Log: &log, Width: 80})
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), log.String())
	}
	return o, out.String()
}

func TestPrefillOverGRPC(t *testing.T) {
	_, grpc := serve(t, nil)
	dir := filepath.Join(t.TempDir(), "out")
	o, text := study(t, "prefill "+grpc+" --model vllm_model --prompt-lengths 16,1024 --requests 3 --out "+dir)
	if len(o.Rows) != 2 || o.Rows[0].Requests != 3 || o.Rows[1].Output != 1 {
		t.Fatalf("%+v\n%s", o.Rows, text)
	}
	// The mock takes 2 ms and 100 µs for each token; its tokens are words, about three
	// quarters as many as GPT-2's.
	if got := o.Rows[1].Avg; got < 50 {
		t.Errorf("1024 tokens take %v ms", got)
	}
	for _, want := range []string{"Prompts of 16 tokens\nAverage first-token latency: 0.0", "First-token latency by prompt length", "o average", "Charts: "} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	for name, magic := range map[string]string{"avg_first_token_latency_chart.png": "\x89PNG", "avg_first_token_latency_chart.svg": "<?xml"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.HasPrefix(got, []byte(magic)) {
			t.Errorf("%s: %.20q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "prompts-of-1024", "requests.jsonl.zst")); err != nil {
		t.Error(err)
	}
}

func TestGenerationOverOpenAI(t *testing.T) {
	http, _ := serve(t, nil)
	o, text := study(t, "generation "+http+" --prompt-lengths 16 --requests 2 --output-tokens 20 --no-chart")
	if r := o.Rows[0]; r.Output != 20 || r.Samples != 38 || r.Avg < 0.5 || len(o.Charts) != 0 {
		t.Fatalf("%+v\n%s", r, text)
	}
	if !strings.Contains(text, "Average token-to-token latency: 0.00") {
		t.Errorf("got\n%s", text)
	}
}

func TestAllRequestsFail(t *testing.T) {
	http, _ := serve(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultError, Share: 1}} })
	o, text := study(t, "prefill "+http+" --prompt-lengths 16 --requests 2 --no-chart")
	if o.Rows[0].Failed != 2 || !strings.Contains(text, "Average first-token latency: none, all 2 requests failed") || !strings.Contains(text, "(no points)") {
		t.Errorf("%+v\n%s", o.Rows, text)
	}
}

// Charts and records of another study stay as they are, and nothing is asked.
func TestOutHoldsAnotherStudy(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "prompts-of-64", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := args.Study(strings.Fields("prefill http://127.0.0.1:1 --model m --prompt-lengths 16,64 --out "+dir), planfile.Known{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, err = Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Out: &out, Log: &out, Width: 80})
	var faults plan.Faults
	if !errors.As(err, &faults) || !strings.Contains(err.Error(), "prompts-of-64 holds another study") || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "avg_first_token_latency_chart.png")); err == nil {
		t.Error("a chart was written")
	}
}

// stopper closes a channel when a text is written.
type stopper struct {
	bytes.Buffer
	at   string
	stop chan struct{}
}

func (s *stopper) Write(p []byte) (int, error) {
	if s.at != "" && bytes.Contains(p, []byte(s.at)) {
		s.at = ""
		close(s.stop)
	}
	return s.Buffer.Write(p)
}

func TestStopped(t *testing.T) {
	http, _ := serve(t, nil)
	a, err := args.Study(strings.Fields("prefill "+http+" --prompt-lengths 16,64,256,1024 --requests 1000000 --no-chart"), planfile.Known{})
	if err != nil {
		t.Fatal(err)
	}
	a.Runs[0].Plan.Stages[0].Requests = 2
	out := &stopper{at: "Prompts of 64 tokens", stop: make(chan struct{})}
	o, err := Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Out: struct{ io.Writer }{out}, Log: io.Discard, Width: 80,
		Stop: out.stop})
	// The stop may come before or after the second length's first request.
	if !slices.Equal(o.Left, []int{256, 1024}) && (err == nil || len(o.Rows) != 1) || o.Rows[0].Requests != 2 {
		t.Errorf("left %v, %+v, %v\n%s", o.Left, o.Rows, err, out.String())
	}
}

func TestNobodyAnswers(t *testing.T) {
	a, err := args.Study(strings.Fields("prefill http://127.0.0.1:1 --model m --no-chart"), planfile.Known{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Out: &out, Log: &out, Width: 80}); err == nil || !strings.Contains(err.Error(), "measuring prompts of 16 tokens") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestRealTriton(t *testing.T) {
	s := triton.Start(t, "vllm_model")
	o, text := study(t, "generation grpc://"+s.GRPC+" --model vllm_model --prompt-lengths 16,64 --requests 2 --output-tokens 8 --no-chart")
	for _, r := range o.Rows {
		if r.Requests != 2 || r.Output != 8 || r.Samples != 14 {
			t.Errorf("%+v\n%s", r, text)
		}
	}
}
