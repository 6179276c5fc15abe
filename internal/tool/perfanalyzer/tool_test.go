package perfanalyzer

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// server is a mock with the OpenAI API and Triton's.
type server struct {
	http, grpc string
	mock       *mock.Server
}

func serve(t *testing.T, change func(c *config.Server)) *server {
	t.Helper()
	c := config.Default()
	c.Models = []string{"mock", "ensemble", "vllm", "simple"}
	c.Latency.TTFT = 5 * time.Millisecond
	c.Output.Tokens = 3
	if change != nil {
		change(&c)
	}
	m, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{mock: m}
	for _, at := range []struct {
		serve func(net.Listener) error
		addr  *string
	}{{m.Serve, &s.http}, {m.ServeGRPC, &s.grpc}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*at.addr = l.Addr().String()
		go at.serve(l)
	}
	t.Cleanup(func() { m.Close() })
	return s
}

// said is what a command printed.
type said struct {
	Outcome
	out, log string
	err      error
}

func command(t *testing.T, line string, stop <-chan struct{}) said {
	t.Helper()
	for {
		got := attempt(t, line, stop, io.Discard)
		longer, ok := inLongerWindows(line)
		if !ok || !strings.Contains(got.log, emptyWindow) {
			return got
		}
		line = longer
	}
}

// emptyWindow is what is said of a window in which the machine got no request done.
const emptyWindow = "No valid requests recorded within time interval. Please use a larger time window."

// inLongerWindows is a command line with longer measurement windows; false: it has none, or
// they are long enough for any machine.
func inLongerWindows(line string) (string, bool) {
	at := regexp.MustCompile(`(?:^| )(?:-p|--measurement-interval)[ =](\d+)`).FindStringSubmatchIndex(line)
	if at == nil {
		return line, false
	}
	ms, err := strconv.Atoi(line[at[2]:at[3]])
	if err != nil || ms > 10_000 {
		return line, false
	}
	return line[:at[2]] + strconv.Itoa(4*ms) + line[at[3]:], true
}

// attempt runs a command line once, and shows its output to somebody else as well.
func attempt(t *testing.T, line string, stop <-chan struct{}, shown io.Writer) said {
	t.Helper()
	a, err := args.Parse(strings.Fields(line), args.Files{Read: os.ReadFile, Kind: func(name string) string {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return ""
		case info.IsDir():
			return "dir"
		}
		return "file"
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	o, err := Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Version: "test", Out: io.MultiWriter(&out, shown), Log: &log, Stop: stop})
	return said{o, out.String(), log.String(), args.Names(a.Plan).Error(err)}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const chats = `{"data":[
 {"payload":[{"model":"mock","messages":[{"role":"user","content":"hello there"}],"stream":true,"max_tokens":3}]},
 {"payload":[{"model":"mock","messages":[{"role":"user","content":"good day"}],"stream":true,"max_tokens":3}]}]}`

func openAI(t *testing.T, s *server, more string) string {
	return "-m mock --service-kind openai --endpoint v1/chat/completions --async --input-data " + write(t, "in.json", chats) + " -u " + s.http + " " + more
}

// shape is a text without its numbers and without blanks at the ends of lines.
func shape(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, strings.TrimRight(regexp.MustCompile(`\d+(\.\d+)?(e\+\d+)?`).ReplaceAllString(line, "N"), " "))
	}
	return out
}

func TestOpenAI(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	csv, export := filepath.Join(dir, "out.csv"), filepath.Join(dir, "export.json")
	got := command(t, openAI(t, s, "--concurrency-range 1:3:2 -p 300 -s 99999 -v -f "+csv+" --profile-export-file "+export), nil)
	if got.err != nil || got.Code != args.ExitOK {
		t.Fatalf("code %d, %v\n%s", got.Code, got.err, got.log)
	}
	level := []string{
		"Request concurrency: N",
		"  Pass [N] throughput: N infer/sec. Avg latency: N usec (std N usec).",
		"  Pass [N] throughput: N infer/sec. Avg latency: N usec (std N usec).",
		"  Pass [N] throughput: N infer/sec. Avg latency: N usec (std N usec).",
		"  Client:", "    Request count: N", "    Throughput: N infer/sec", "    Avg client overhead: N%",
		"    Avg latency: N usec (standard deviation N usec)",
		"    pN latency: N usec", "    pN latency: N usec", "    pN latency: N usec", "    pN latency: N usec",
		"    First response latency: avg N usec, pN N usec, pN N usec, pN N usec, pN N usec",
		"    Avg HTTP time: N usec (send N usec + response wait N usec + receive N usec)",
	}
	want := []string{
		" Successfully read data for N stream/streams with N step/steps.", "*** Measurement Settings ***", "  Service Kind: OPENAI",
		`  Using "time_windows" mode for stabilization`, "  Stabilizing using average throughput", "  Measurement window: N msec",
		"  Latency limit: N msec", "  Concurrency limit: N concurrent requests", "  Using asynchronous calls for inference", "",
	}
	want = append(append(append(want, level...), level...),
		"Inferences/Second vs. Client Average Batch Latency",
		"Concurrency: N, throughput: N infer/sec, latency N usec", "Concurrency: N, throughput: N infer/sec, latency N usec")
	if diff := cmp.Diff(want, shape(got.out)); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(csv)
	if err != nil || strings.Count(string(text), "\n") != 3 || !strings.HasPrefix(string(text), "Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency") {
		t.Errorf("CSV %q, %v", text, err)
	}
	checkExport(t, export, []float64{1, 3}, "payload")
}

// checkExport reads a profile export and looks whether it holds together.
func checkExport(t *testing.T, name string, levels []float64, input string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := profileexport.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Experiments) != len(levels) {
		t.Fatalf("%d experiments, want %d", len(doc.Experiments), len(levels))
	}
	for i, e := range doc.Experiments {
		if e.Load.Value != levels[i] || len(e.Windows) < 2 || len(e.Requests) == 0 {
			t.Fatalf("experiment %+v with %d requests and windows %v", e.Load, len(e.Requests), e.Windows)
		}
		for _, r := range e.Requests {
			var text string
			if json.Unmarshal(r.Inputs.Get(input), &text) != nil || text == "" || len(r.Moments) == 0 || len(r.Moments) != len(r.Responses) {
				t.Fatalf("request %+v", r)
			}
			if r.Moments[0] < r.Timestamp {
				t.Errorf("answered before it was sent: %+v", r)
			}
		}
	}
}

// The command of the ensemble's seed, with shorter windows.
func TestEnsembleOfTheSeed(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	data := write(t, "prompts_perfanalyzer.json", `{"data":[{"text_input":["hello world"],"max_tokens":[3]},{"text_input":["good day"],"max_tokens":[3]}]}`)
	export, csv := filepath.Join(dir, "qwen2-7b-1024_1.json"), filepath.Join(dir, "pa.csv")
	got := command(t, "-u "+s.grpc+" -i grpc -m ensemble --async --input-data "+data+" --measurement-interval 300 --profile-export-file "+export+
		" --service-kind triton -v --endpoint v1/chat/completions --concurrency-range 2:4:1 --stability-percentage 99999 --streaming --shape max_tokens:1 --shape text_input:1 -f "+csv, nil)
	if got.err != nil || got.Code != args.ExitOK {
		t.Fatalf("code %d, %v\n%s", got.Code, got.err, got.log)
	}
	text := strings.Join(shape(got.out), "\n")
	for _, want := range []string{
		"  Detected decoupled model, using the first response for measuring latency\n\nRequest concurrency: N\n  Pass [N]",
		"    Response Throughput: N infer/sec\n    Avg client overhead: N%\n",
		"\n  Server:\n    Inference count: N\n    Execution count: N\n    Successful request count: N\n    Avg request latency: N usec (overhead N usec + queue N usec + compute N usec)\n\n  Composing models:\n  postprocessing, version: N\n      Inference count: N\n",
		"\n  preprocessing, version: N\n", "\n  tensorrt_llm, version: N\n",
		"\nInferences/Second vs. Client Average Batch Latency\nConcurrency: N,",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, got.out)
		}
	}
	for _, name := range []string{"pa.csv", "postprocessing_v1.pa.csv", "preprocessing_v1.pa.csv", "tensorrt_llm_v1.pa.csv"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Count(string(text), "\n") != 4 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	checkExport(t, export, []float64{2, 3, 4}, "text_input")
}

// The command of the seed on prefill, with the oldest vLLM convention.
func TestPrefillOfTheSeed(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Triton.Models = map[string]repository.Convention{"vllm": "vllm-old"} })
	data := write(t, "prompts.json", `{"data": [{"PROMPT": ["Hello, my name is"], "STREAM": [true]}]}`)
	export := filepath.Join(t.TempDir(), "profile_export.json")
	got := command(t, "-m vllm -u "+s.grpc+" -i grpc --async --streaming --input-data="+data+" --profile-export-file="+export+
		" --measurement-mode=count_windows --measurement-request-count=10 --stability-percentage=999", nil)
	if got.err != nil || got.Code != args.ExitOK || !strings.Contains(got.out, "Request count: 30\n") {
		t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.log, got.out)
	}
	checkExport(t, export, []float64{1}, "PROMPT")
}

func TestRequestCount(t *testing.T) {
	s := serve(t, nil)
	got := command(t, openAI(t, s, "--request-count 20 --warmup-request-count 5 --concurrency-range 4"), nil)
	if got.Code != args.ExitOK || !strings.Contains(got.out, "  Sending 5 warmup requests\n  Sending 20 benchmark requests\n") || !strings.Contains(got.out, "    Request count: 20\n") {
		t.Errorf("code %d\n%s%s", got.Code, got.out, got.log)
	}
}

func TestRate(t *testing.T) {
	s := serve(t, nil)
	got := command(t, openAI(t, s, "--request-rate-range 50 -p 300 -s 99999 --request-distribution poisson"), nil)
	if got.Code != args.ExitOK || !strings.Contains(got.out, "Request Rate: 50 inference requests per second\n") ||
		!strings.Contains(got.out, "    Latency from the scheduled send: avg ") || !strings.Contains(got.out, "\nRequest Rate: 50, throughput: ") {
		t.Errorf("code %d\n%s%s", got.Code, got.out, got.log)
	}
}

// differs: pa-unstable-search
func TestNeverStable(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		c.Triton.Models = map[string]repository.Convention{"simple": repository.ConventionAdd}
	})
	for _, more := range []string{"", " --concurrency-range 1:4", " --concurrency-range 1:4 --binary-search -l 60000"} { // the range ends with its first level
		got := command(t, "-m simple -u "+s.http+" -p 300 -s 0 -r 3 --percentile 99"+more, nil)
		if got.Code != args.ExitUnstable || !strings.Contains(got.log, "Failed to obtain stable measurement within 3 measurement windows for concurrency 1. Please try to increase the --measurement-interval.") {
			t.Errorf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
		}
		if got.Result == nil || len(got.Result.Stages) != 1 || got.Result.Stages[0].Level.Merged == nil || strings.Contains(got.out, "Inferences/Second") {
			t.Errorf("what was measured is lost, or was reported:\n%s", got.out)
		}
	}
}

func TestThresholdIsNeverMet(t *testing.T) {
	s := serve(t, nil)
	got := command(t, openAI(t, s, "-p 300 -s 99999 -l 1 --concurrency-range 1:8"), nil)
	if got.Code != args.ExitOK || !strings.Contains(got.log, "Measured latency went over the set limit of 1 msec. ") || len(got.Result.Stages) != 1 {
		t.Errorf("code %d, %d levels\n%s%s", got.Code, len(got.Result.Stages), got.out, got.log)
	}
}

func TestEmptyWindow(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Latency.TTFT = time.Second })
	got := attempt(t, openAI(t, s, "-p 100"), nil, io.Discard)
	if got.Code != args.ExitOption || !strings.Contains(got.log, emptyWindow) {
		t.Errorf("code %d\n%s%s", got.Code, got.out, got.log)
	}
}

// What this program itself breaks off at the end is no failure of the server's.
func TestEmptyWindowWithARequestCutOff(t *testing.T) {
	res := &result.Result{Stages: []result.Stage{{Counts: result.Counts{Failed: 1}}}}
	for failed, want := range map[record.StopReason]int{record.StopEmpty: args.ExitOption, failing: args.ExitGeneric} {
		tl := &job{action: new(args.Action), env: &tool.Session{Log: io.Discard}, failed: failed}
		if got := tl.exit(res); got != want {
			t.Errorf("%s: code %d, want %d", failed, got, want)
		}
	}
}

// cue does something as soon as a text is written.
type cue struct {
	text string
	then func()
	seen strings.Builder
}

func (c *cue) Write(p []byte) (int, error) {
	if c.seen.Write(p); c.then != nil && strings.Contains(c.seen.String(), c.text) {
		go c.then()
		c.then = nil
	}
	return len(p), nil
}

func TestServerDies(t *testing.T) {
	for _, windows := range []string{"-p 1000", "--measurement-mode count_windows --measurement-request-count 10"} {
		s := serve(t, nil)
		got := attempt(t, openAI(t, s, windows+" -s 0 -r 5000 --percentile 99 -v"), nil, &cue{text: "  Pass [1] throughput:", then: func() { s.mock.Close() }})
		if got.Code != args.ExitGeneric || !strings.Contains(got.log, "Failed to maintain requested inference load.") || !strings.Contains(got.out, "  Pass [1] throughput:") {
			t.Errorf("%s: code %d\n%s%s", windows, got.Code, got.out, got.log)
		}
	}
}

// differs: pa-ctrl-c
func TestStopped(t *testing.T) {
	s := serve(t, nil)
	stop := make(chan struct{})
	got := attempt(t, openAI(t, s, "-p 2000 -s 0 -r 500 --percentile 99 -v"), stop, &cue{text: "  Pass [1] throughput:", then: func() { close(stop) }})
	if !got.Result.Interrupted || !strings.Contains(got.out, "Inferences/Second vs. Client") {
		t.Errorf("code %d\n%s%s", got.Code, got.out, got.log)
	}
}

// differs: pa-metrics-page
func TestCollectMetrics(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		c.Triton.Models = map[string]repository.Convention{"simple": repository.ConventionAdd}
	})
	page := http.NewServeMux()
	page.HandleFunc("/gpu", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "# TYPE nv_gpu_utilization gauge\nnv_gpu_utilization{gpu_uuid=\"GPU-a\"} 0.5\n# TYPE nv_gpu_power_usage gauge\nnv_gpu_power_usage{gpu_uuid=\"GPU-a\"} 70\n"+
			"# TYPE nv_gpu_memory_used_bytes gauge\nnv_gpu_memory_used_bytes{gpu_uuid=\"GPU-a\"} 1000\n# TYPE nv_gpu_memory_total_bytes gauge\nnv_gpu_memory_total_bytes{gpu_uuid=\"GPU-a\"} 4000\n")
	})
	page.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "# TYPE nv_cpu_utilization gauge\nnv_cpu_utilization 0.5\n")
	})
	at := httptest.NewServer(page)
	t.Cleanup(at.Close)
	line := "-m simple -u " + s.http + " -p 300 -s 99999 --collect-metrics --metrics-interval 20 --metrics-url " + at.URL
	csv := filepath.Join(t.TempDir(), "pa.csv")
	got := command(t, line+"/gpu --verbose-csv -f "+csv, nil)
	if want := "  Server Prometheus Metrics: \n    Avg GPU Utilization:\n      GPU-a : 50%\n    Avg GPU Power Usage:\n      GPU-a : 70 watts\n    Max GPU Memory Usage:\n      GPU-a : 1000 bytes\n    Total GPU Memory:\n      GPU-a : 4000 bytes\n"; got.Code != args.ExitOK || !strings.Contains(got.out, want) || strings.Contains(got.log, "Unable to parse") {
		t.Errorf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
	}
	if text, err := os.ReadFile(csv); err != nil || !strings.HasSuffix(string(text), ",GPU-a:0.5;,GPU-a:70;,GPU-a:1000;,GPU-a:4000;\n") {
		t.Errorf("CSV %q, %v", text, err)
	}
	for path, want := range map[string]string{"/cpu": "WARNING: Unable to parse 'nv_gpu_power_usage' metric.", "/nosuch": "HTTP status 404"} {
		if got := command(t, line+path, nil); got.Code != args.ExitOK || !strings.Contains(got.log, want) {
			t.Errorf("%s: code %d, %v\n%s", path, got.Code, got.err, got.log)
		}
	}
}

func TestBadData(t *testing.T) {
	s := serve(t, nil)
	data := write(t, "bad.json", "{\"data\": [\n {\"text_input\": [\"x\"],}\n]}")
	got := command(t, "-m ensemble -i grpc --streaming -u "+s.grpc+" --input-data "+data, nil)
	if got.Code != args.ExitGeneric || got.err == nil || !strings.Contains(got.err.Error(), "bad.json:2") {
		t.Errorf("code %d, %v: want the file and the line", got.Code, got.err)
	}
}

// Shapes are for inputs whose shape the model leaves open.
func TestShapesWithoutEffect(t *testing.T) {
	s := serve(t, nil)
	data := write(t, "in.json", `{"data":[{"text_input":["x"],"max_tokens":[3]}]}`)
	got := command(t, "-m ensemble -i grpc --streaming -u "+s.grpc+" --input-data "+data+" --request-count 2 --shape max_tokens:4 --shape NOPE:3", nil)
	if got.Code != args.ExitOK || got.err != nil || !strings.Contains(got.log, "--shape max_tokens:4 has no effect") || !strings.Contains(got.log, "--shape NOPE:3 has no effect") {
		t.Errorf("code %d, %v\n%s", got.Code, got.err, got.log)
	}
}

// What stands in the way is told of before the first request.
func TestModelThatDoesNotFit(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		c.Triton.Models = map[string]repository.Convention{"simple": repository.ConventionAdd}
	})
	short := write(t, "short.json", "{\"data\": [\n {\"INPUT0\": [1, 2, 3], \"INPUT1\": [1, 2, 3]}]}")
	for line, want := range map[string]string{
		"-m simple -x 7 -u " + s.http:                       "has no version 7",
		"-m simple -b 100000 -u " + s.http:                  "takes at most",
		"-m simple --input-data " + short + " -u " + s.http: "short.json:2",
		"-m vllm -i grpc -u " + s.grpc:                      "--streaming",
		"-m simple -u 127.0.0.1:1":                          "127.0.0.1:1",
	} {
		got := command(t, line, nil)
		if got.Code != args.ExitGeneric || got.err == nil || !strings.Contains(got.err.Error(), want) {
			t.Errorf("%s: code %d, %v; want %q", line, got.Code, got.err, want)
		}
	}
}

func TestFixedSchedule(t *testing.T) {
	s := serve(t, nil)
	entry := func(at string) string {
		return `{"timestamp":[` + at + `],"payload":[{"model":"mock","messages":[{"role":"user","content":"hello"}],"stream":true,"max_tokens":3}]}`
	}
	data := write(t, "schedule.json", `{"data":[`+entry("0")+","+entry("50")+","+entry("120")+`]}`)
	got := command(t, "-m mock --service-kind openai --endpoint v1/chat/completions --async --fixed-schedule --input-data "+data+" -v -u "+s.http, nil)
	if got.err != nil || got.Code != args.ExitOK || !regexp.MustCompile(`\n  Sending 3 benchmark requests\n(.*\n)?  Using asynchronous calls for inference\n\n  Pass \[1\] .*\n  Client: \n    Request count: 3\n`).MatchString(got.out) {
		t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
	}
}

// Sessions go on from their answers, each once, and the next begins where one has ended.
// differs: pa-sessions
func TestSessions(t *testing.T) {
	s := serve(t, nil)
	turn := func(session, text, more string) string {
		return `{"session_id":["` + session + `"],"payload":[{"model":"mock","messages":[{"role":"user","content":"` + text + `"}],"stream":true,"max_tokens":3}]` + more + `}`
	}
	data := write(t, "sessions.json", `{"data":[`+turn("a", "one", `,"delay":[20]`)+","+turn("b", "two", `,"delay":[1]`)+","+turn("a", "three", "")+","+turn("c", "four", "")+","+turn("b", "five", "")+`]}`)
	export := filepath.Join(t.TempDir(), "export.json")
	got := command(t, "-m mock --service-kind openai --endpoint v1/chat/completions --async --session-concurrency 2 --input-data "+data+" -u "+s.http+" --profile-export-file "+export, nil)
	if got.err != nil || got.Code != args.ExitOK || !strings.Contains(got.out, "    Request count: 5\n") {
		t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
	}
	f, err := os.Open(export)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := profileexport.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	e := doc.Experiments[0]
	if e.Load.Mode != "request_rate" || e.Load.Value != 0 || len(e.Requests) != 5 {
		t.Fatalf("%+v with %d requests", e.Load, len(e.Requests))
	}
	turns := map[string][]profileexport.Request{}
	for _, r := range e.Requests {
		id, _ := r.Inputs.Text("session_id")
		turns[id] = append(turns[id], r)
	}
	if len(turns["a"]) != 2 || len(turns["b"]) != 2 || len(turns["c"]) != 1 {
		t.Fatalf("%d turns of a, %d of b, %d of c", len(turns["a"]), len(turns["b"]), len(turns["c"]))
	}
	first, second := turns["a"][0], turns["a"][1]
	payload, _ := second.Inputs.Text("payload")
	if !strings.Contains(payload, `{"role":"user","content":"one"},{"role":"assistant","content":"`) || !strings.Contains(payload, `"three"`) {
		t.Errorf("the second turn says %s", payload)
	}
	if gap := time.Duration(second.Timestamp - first.Moments[len(first.Moments)-1]); gap < 19*time.Millisecond {
		t.Errorf("the second turn came %v after the first answer", gap)
	}
}

func TestNoSessions(t *testing.T) {
	s := serve(t, nil)
	got := command(t, openAI(t, s, "--session-concurrency 1"), nil)
	if got.Code != args.ExitGeneric || got.err == nil || !strings.Contains(got.err.Error(), "the data has no sessions") {
		t.Errorf("code %d, %v", got.Code, got.err)
	}
}
