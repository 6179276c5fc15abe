package llmperf

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/llmperf/args"
	"github.com/inferometer/inferometer/internal/tool/llmperf/report"
)

func serve(t *testing.T) (grpc, http string) {
	t.Helper()
	c := config.Default()
	c.Models = []string{"ensemble"}
	c.Latency.TTFT, c.Latency.ITL = 10*time.Millisecond, 2*time.Millisecond
	m, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	listen := func(serve func(net.Listener) error) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go serve(l)
		return l.Addr().String()
	}
	return listen(m.ServeGRPC), listen(m.Serve)
}

func command(t *testing.T, line string) string {
	t.Helper()
	if !strings.Contains(line, "--prof") {
		line += " --profile-export-file " + filepath.Join(t.TempDir(), "results.json")
	}
	a, err := args.Parse(strings.Fields(line), os.ReadFile, func(name string) bool { _, err := os.Stat(name); return err == nil })
	if err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	res, err := Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Version: "test", Out: &out, Log: &log})
	if err != nil || res == nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	return out.String()
}

func prompts(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"input": "tell me about number ` + strconv.Itoa(i) + `", "output": "..."}` + "\n")
	}
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// value finds a printed number of the n-th level.
func value(t *testing.T, out, name string, n int) float64 {
	t.Helper()
	all := regexp.MustCompile(`(?m)^`+name+`: ([0-9.e+-]+)`).FindAllStringSubmatch(out, -1)
	if len(all) <= n {
		t.Fatalf("no %s of level %d in\n%s", name, n, out)
	}
	v, err := strconv.ParseFloat(all[n][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSeed(t *testing.T) {
	grpc, _ := serve(t)
	export := filepath.Join(t.TempDir(), "export.json")
	out := command(t, "-u "+grpc+" -i grpc -m ensemble --concurrency 1,4,8 --input-data "+prompts(t, 16)+" --output-len 3 --profile-export-file "+export)
	level := func(n string) []string {
		return []string{
			strings.Repeat("-", 60), "Request concurrency: " + n, "average_input_token_per_sec: N", "average_output_token_per_sec: N", "average_ttft: N",
			"average_latency: N", "p99_ttft: N", "p99_latency: N", "payload and results: 16 16", "throughput: N infer/sec. ",
			"aggregate_input_token_per_sec: N (all streams together)", "aggregate_output_token_per_sec: N (all streams together)",
		}
	}
	want := append(append(append([]string{"triton_url: " + grpc + ", protocol: grpc, model: ensemble"}, level("1")...), level("4")...), level("8")...)
	shape := regexp.MustCompile(`\d+\.\d+(e-\d+)?( |$)`)
	var got []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if !strings.HasPrefix(line, "triton_url") {
			line = shape.ReplaceAllString(line, "N$2")
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, concurrency := range []float64{1, 4, 8} {
		latency, ttft, throughput := value(t, out, "average_latency", i), value(t, out, "average_ttft", i), value(t, out, "throughput", i)
		// On a busy machine all responses of a request may arrive in one read.
		if latency < 0.014 || ttft < 0.010 || ttft > latency || value(t, out, "p99_latency", i) < latency {
			t.Errorf("level %d: latency %v, first response %v", i, latency, ttft)
		}
		if latency*throughput > concurrency {
			t.Errorf("level %d: latency × throughput is %v, and %v may be in flight", i, latency*throughput, concurrency)
		}
		// Three tokens for each of sixteen requests, over the time of all of them.
		if got := value(t, out, "average_output_token_per_sec", i) * latency; got < 2.99 || got > 3.01 {
			t.Errorf("level %d: %v tokens a request", i, got)
		}
	}
	levels := results(t, export)
	for i, n := range []string{"1", "4", "8"} {
		l := levels[n]
		if l.Requests != 16 || len(l.Results) != 16 || strconv.Itoa(l.Concurrency) != n || l.Throughput != value(t, out, "throughput", i) || l.Metrics["average_ttft"] != value(t, out, "average_ttft", i) || len(l.Metrics) != 6 {
			t.Errorf("level %s: %+v", n, l)
		}
		for k, r := range l.Results {
			if r.Text == "" || !(r.TTFT > 0 && r.Latency >= r.TTFT) || r.OutputTokens != 3 || r.InputTokens == 0 || k == 10 && r.InputTokens == l.Results[0].InputTokens-1 {
				t.Errorf("level %s, request %d: %+v", n, k, r)
			}
		}
	}
}

// levelResults is a level of the file of results.
type levelResults struct {
	Concurrency int                `json:"concurrency"`
	Requests    int                `json:"client_requests"`
	Throughput  float64            `json:"throughput"`
	Results     []report.Request   `json:"perf_results"`
	Metrics     map[string]float64 `json:"metrics"`
}

func results(t *testing.T, name string) map[string]levelResults {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]levelResults{}
	if err := json.Unmarshal(data, &levels); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return levels
}

// Requests stand in the order of the prompts, and the later of two equal levels counts.
func TestOrderOfResults(t *testing.T) {
	grpc, _ := serve(t)
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	// differs: llm-prompt-names
	if err := os.WriteFile(path, []byte("{\"input\": \"one two three four five six\"}\n{\"prompt\": \"one\"}\n{\"input\": \"one two three four five six\"}\n{\"input\": \"one two three\", \"max_tokens\": 1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(t.TempDir(), "results.json")
	command(t, "-u "+grpc+" --conc 4,4 --in "+path+" --output-len 2 --prof "+export)
	levels := results(t, export)
	if len(levels) != 1 {
		t.Fatalf("%d levels, want 1", len(levels))
	}
	// differs: llm-max-tokens
	if r := levels["4"].Results; len(r) != 4 || r[2].OutputTokens != 2 || r[3].OutputTokens != 1 {
		t.Errorf("results %+v, want 2 tokens where the line does not say, and 1 where it does", r)
	}
	var tokens []int
	for _, r := range levels["4"].Results {
		tokens = append(tokens, r.InputTokens)
	}
	if len(tokens) != 4 || tokens[0] != tokens[2] || !(tokens[1] < tokens[3] && tokens[3] < tokens[0]) {
		t.Errorf("input tokens %v are not in the order of the file", tokens)
	}
}

// cue closes a channel when a text has been written to it.
type cue struct {
	got  []byte
	text string
	seen chan struct{}
}

func (c *cue) Write(p []byte) (int, error) {
	c.got = append(c.got, p...)
	if c.text != "" && strings.Contains(string(c.got), c.text) {
		c.text = ""
		close(c.seen)
	}
	return len(p), nil
}

// A level is printed when it ends, not when all have: the second would begin in an hour.
func TestLevelsArePrintedAsTheyEnd(t *testing.T) {
	grpc, _ := serve(t)
	line := "-u " + grpc + " --concurrency 2,4 --measurement-interval 3600 --output-len 2 --input-data " + prompts(t, 4) + " --profile-export-file " + filepath.Join(t.TempDir(), "results.json")
	a, err := args.Parse(strings.Fields(line), os.ReadFile, func(name string) bool { _, err := os.Stat(name); return err == nil })
	if err != nil {
		t.Fatal(err)
	}
	out := &cue{text: "throughput: ", seen: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := Run(ctx, a, &tool.Session{Kit: registry.Default(os.Getenv), Version: "test", Out: out, Log: io.Discard, Stop: out.seen})
	if err != nil || ctx.Err() != nil || !res.Interrupted {
		t.Fatalf("%v, %v: the first level was not printed before the second", err, ctx.Err())
	}
	got := string(out.got)
	if strings.Count(got, "Request concurrency:") != 1 || !strings.Contains(got, "payload and results: 4 4\n") {
		t.Errorf("want the first level alone:\n%s", got)
	}
}

func TestHTTPWithoutStreams(t *testing.T) {
	_, http := serve(t)
	line := "-u " + http + " -i http --no-streaming --concurrency 1 --input-data " + prompts(t, 5) + " --output-len 3"
	out := command(t, line)
	if value(t, out, "average_ttft", 0) != value(t, out, "average_latency", 0) || !strings.Contains(out, "payload and results: 5 5") {
		t.Errorf("a whole answer is its own first response:\n%s", out)
	}
	// differs: llm-http-ttft
	export := filepath.Join(t.TempDir(), "results.json")
	out = command(t, line+" --faithful --profile-export-file "+export)
	if value(t, out, "average_ttft", 0) != -1 || value(t, out, "p99_ttft", 0) != -1 || results(t, export)["1"].Results[0].TTFT != -1 {
		t.Errorf("the original has no first response here:\n%s", out)
	}
}

func TestFailedRequest(t *testing.T) {
	// differs: llm-failed, llm-stop-word
	rec := &record.Record{Sent: 1, End: 9, Text: []byte("half</s> more"), Failure: &record.Failure{Class: record.Reset, Message: "no further byte in time"}}
	want := report.Request{Text: "half</s> more", TTFT: -1, Latency: -1, Error: "reset no further byte in time"}
	if diff := cmp.Diff(want, request(rec, false)); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyPrompt(t *testing.T) {
	// differs: llm-empty-prompt
	grpc, _ := serve(t)
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(path, []byte("{\"input\": \"\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := args.Parse([]string{"-u", grpc, "--in", path, "--prof", filepath.Join(t.TempDir(), "r.json")}, os.ReadFile, func(name string) bool { _, err := os.Stat(name); return err == nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Out: io.Discard, Log: io.Discard}); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty prompt: %v", err)
	}
}
