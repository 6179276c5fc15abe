package cli

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/tool"
)

// watched runs a command with a live page and looks at it when all is done. It gives what
// the page of metrics and the stream of events had by then, and the exit code.
func watched(t *testing.T, args ...string) (metrics, events string, code int) {
	t.Helper()
	out, in := io.Pipe()
	interrupts, done := make(chan os.Signal, 1), make(chan int, 1)
	env := tool.Env{
		Args: append(args, "--live", "--live-linger", "1h"), Stdout: io.Discard, Stderr: in, Getenv: func(string) string { return "" },
		Interrupts: interrupts, Restore: func() {},
	}
	go func() {
		done <- Main(env)
		in.Close()
	}()
	var said strings.Builder
	page := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if url, ok := strings.CutPrefix(lines.Text(), "Live page: "); ok {
			page = url
		}
		if strings.Contains(lines.Text(), "The live page stays for 1h0m0s") {
			metrics, events = fetch(t, page+"metrics", "\x00"), fetch(t, page+"events", "\n\n")
			interrupts <- os.Interrupt
		}
	}
	if code = <-done; page == "" || metrics == "" {
		t.Fatalf("exit code %d, and no live page to the end:\n%s", code, &said)
	}
	return metrics, events, code
}

// fetch gives what is at an address, as far as a text in it.
func fetch(t *testing.T, url, end string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	var all strings.Builder
	for b := make([]byte, 4096); !strings.Contains(all.String(), end); {
		n, err := resp.Body.Read(b)
		all.Write(b[:n])
		if err != nil {
			break
		}
	}
	return all.String()
}

// Every tool that measures can be watched.
func TestLiveOfEveryTool(t *testing.T) {
	cfg := config.Default()
	cfg.Latency.TTFT, cfg.Latency.ITL, cfg.Output.Tokens = 0, 0, 4
	s, err := mock.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	url, dir := "http://"+l.Addr().String(), t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("prompts.json", []byte(`{"data":[{"payload":[{"model":"mock","messages":[{"role":"user","content":"hello"}],"stream":true}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("config.yml", []byte("api: {type: chat, streaming: true}\nserver: {type: vllm, base_url: '"+url+"', model_name: mock, ignore_eos: false}\n"+
		"data: {type: mock}\nload: {type: constant, stages: [{rate: 100, duration: 1}]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"run":            url + " --requests 20 --concurrency 2 --quiet --tokenizer words",
		"genai-perf":     "profile -m mock -u " + url + " --endpoint-type chat --streaming --tokenizer builtin:gpt2 --concurrency 2 --request-count 6 --artifact-dir " + filepath.Join(dir, "genai-perf"),
		"perf_analyzer":  "-m mock --service-kind openai --endpoint v1/chat/completions --async --streaming -u " + l.Addr().String() + " --input-data prompts.json --request-count 6",
		"inference-perf": "-c config.yml",
	} {
		metrics, events, code := watched(t, append([]string{name}, strings.Fields(args)...)...)
		if code > tool.ExitRun && code != tool.ExitInconclusive {
			t.Errorf("%s: exit code %d", name, code)
		}
		for _, want := range []string{`inferometer_run_over{`, `model="mock"`, `phase="measured",outcome="ok"}`, `inferometer_time_to_first_token_seconds_count`} {
			if !strings.Contains(metrics, want) {
				t.Errorf("%s: no %s in\n%s", name, want, metrics)
			}
		}
		if !strings.HasPrefix(events, "event: end\ndata: {\"document\":{") || !strings.Contains(events, `"checks":[{`) {
			t.Errorf("%s: the events are %.300s", name, events)
		}
	}
}

func TestLiveFaults(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tt := range []struct {
		args string
		want string
	}{
		{"run --live " + l.Addr().String(), "address already in use; name a free port"},
		{"run --live=nonsense", "is not HOST:PORT"},
		{"run --live-linger soon", `--live-linger: "soon" is not a time`},
		{"run --live-linger=-1s", "is not a time"},
		{"llm_perf --input-data prompts.jsonl --live=" + l.Addr().String(), "address already in use"},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("prompts.jsonl", []byte(`{"text_input": "hello", "max_tokens": 3}`+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, text := call(strings.Fields(tt.args)...); code != tool.ExitUsage || !strings.Contains(text, tt.want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", tt.args, code, tt.want, text)
		}
	}
	if code, text := call("genai-perf", "--help"); code != tool.ExitOK || !strings.Contains(text, "--live [HOST:PORT]") {
		t.Errorf("exit code %d, no word of --live in\n%s", code, text)
	}
}
