package inferenceperf

import (
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	frontend "github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// serve starts the built-in server with adapters.
func serve(t *testing.T) (url string) {
	t.Helper()
	c := config.Default()
	c.Models = []string{"mock", "red", "org/blue"}
	s, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String()
}

// measure runs a config against the built-in server.
func measure(t *testing.T, config string, args ...string) (dir string, out *Outcome, printed string) {
	t.Helper()
	t.Setenv("HF_HUB_OFFLINE", "1") // nobody looks for a tokenizer of "mock"
	dir = filepath.Join(t.TempDir(), "reports")
	file := filepath.Join(t.TempDir(), "c.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := frontend.Parse(append([]string{"-c", file, "--storage.local_storage.path", dir}, args...), frontend.World{ReadFile: os.ReadFile, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	var screen bytes.Buffer
	out, err = Run(t.Context(), a, &tool.Session{Kit: registry.Default(os.Getenv), Version: "test", Getenv: func(string) string { return "" }, Out: &screen, Log: io.Discard}, &screen)
	if err != nil {
		t.Fatal(err)
	}
	return dir, out, screen.String()
}

const configYAML = `
api: {type: completion, streaming: true}
data: {type: mock}
load:
  type: constant
  interval: 0.1
  stages: [{rate: 50, duration: 1}, {rate: 100, duration: 1}]
  lora_traffic_split: [{name: red, split: 0.5}, {name: org/blue, split: 0.5}]
server: {type: vllm, model_name: mock, base_url: "URL", api_key: very-secret}
report:
  request_lifecycle: {per_request: true, per_adapter_stage: true}
  goodput: {constraints: {ttft: 10}}
`

// differs: ip-config-tokenizer
func TestFilesOfARun(t *testing.T) {
	dir, out, printed := measure(t, strings.Replace(configYAML, "URL", serve(t), 1))
	want := []string{
		"adapter_org_blue_lifecycle_metrics.json", "adapter_org_blue_stage_0_lifecycle_metrics.json", "adapter_org_blue_stage_1_lifecycle_metrics.json",
		"adapter_red_lifecycle_metrics.json", "adapter_red_stage_0_lifecycle_metrics.json", "adapter_red_stage_1_lifecycle_metrics.json",
		"config.yaml", "inference-perf.partial.stage_0.yaml", "inference-perf.partial.stage_1.yaml", "inferometer",
		"per_request_lifecycle_metrics.json", "stage_0_lifecycle_metrics.json", "stage_1_lifecycle_metrics.json",
		"summary_lifecycle_metrics.json", "validation.json",
	}
	if diff := cmp.Diff(want, writtenFiles(t, dir, out.Files)); diff != "" {
		t.Error(diff)
	}
	checkValidation(t, dir)
	if notes := strings.Join(out.Result.Notes, "\n"); !strings.Contains(notes, "pass tokenizer.pretrained_model_name_or_path") || strings.Contains(notes, "--tokenizer") {
		t.Errorf("the notes do not speak of the config: %s", notes)
	}
	var s struct {
		Load struct {
			Count     int
			Requested float64 `json:"requested_rate"`
		} `json:"load_summary"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "stage_1_lifecycle_metrics.json"))
	if err != nil || json.Unmarshal(text, &s) != nil || s.Load.Count != 100 || s.Load.Requested != 100 {
		t.Errorf("%v, %+v", err, s)
	}
	if !strings.Contains(printed, "=== START_STAGE_1 ===\n"+string(text)+"\n=== END_STAGE_1 ===") || !strings.Contains(printed, "=== START_SUMMARY ===") {
		t.Error("the reports are not on the screen")
	}
	var marks []string
	for _, m := range regexp.MustCompile(`=== START_(\w+) ===`).FindAllStringSubmatch(printed, -1) {
		marks = append(marks, m[1])
	}
	if got := strings.Join(marks, " "); got != "SUMMARY STAGE_0 STAGE_1 PARTIAL_BR_V0_2_STAGE_0 PARTIAL_BR_V0_2_STAGE_1" {
		t.Errorf("they come in another order: %s", got)
	}
	var single []struct {
		Request string
		Info    struct {
			Adapter string `json:"lora_adapter"`
		}
	}
	text, _ = os.ReadFile(filepath.Join(dir, "per_request_lifecycle_metrics.json"))
	if err := json.Unmarshal(text, &single); err != nil || len(single) != 150 {
		t.Fatalf("%d requests: %v", len(single), err)
	}
	for _, r := range single {
		if !strings.Contains(r.Request, `"model":"`+r.Info.Adapter+`"`) {
			t.Fatalf("adapter %q of %s", r.Info.Adapter, r.Request)
		}
	}
	checkCharts(t, dir)
}

// writtenFiles are the names in a directory of reports. None holds a secret, and all were told of.
func writtenFiles(t *testing.T, dir string, told []string) (got []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("very-secret")) {
			t.Errorf("%s holds a secret", e.Name())
		}
		if filepath.Ext(e.Name()) == ".json" && !json.Valid(text) {
			t.Errorf("%s is not JSON", e.Name())
		}
		if !slices.Contains(told, filepath.Join(dir, e.Name())) {
			t.Errorf("%s was written and not told of", e.Name())
		}
	}
	return got
}

// checkValidation checks that every report was looked at, and nothing found.
func checkValidation(t *testing.T, dir string) {
	t.Helper()
	var looked struct {
		Reports map[string]struct{ Errors []any }
	}
	readReport(t, dir, "validation.json", &looked)
	if got, want := slices.Sorted(maps.Keys(looked.Reports)), []string{
		"inference-perf.partial.stage_0.yaml", "inference-perf.partial.stage_1.yaml", "per_request_lifecycle_metrics.json",
		"stage_0_lifecycle_metrics.json", "stage_1_lifecycle_metrics.json", "summary_lifecycle_metrics.json",
	}; !slices.Equal(got, want) {
		t.Errorf("validation.json has %v", got)
	}
	for name, report := range looked.Reports {
		if len(report.Errors) > 0 {
			t.Errorf("%s contradicts itself: %v", name, report.Errors)
		}
	}
}

// checkCharts checks that what was written can be drawn.
func checkCharts(t *testing.T, dir string) {
	t.Helper()
	over := filepath.Join(t.TempDir(), "over")
	files, err := Analyze(&frontend.Action{Dirs: []string{dir, dir}, Unified: over, Percentiles: []string{"50", "99"}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	charts := 0
	for _, name := range files {
		if filepath.Ext(name) != ".png" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
		charts++
	}
	if charts != 12 { // four of each directory, and four over one another
		t.Errorf("%d charts", charts)
	}
}

// A closed loop has no rate, but where the original's is asked for.
func TestClosedLoop(t *testing.T) {
	const closed = `
data: {type: mock}
load: {type: concurrent, stages: [{num_requests: 20, concurrency_level: 4}]}
server: {type: mock, model_name: mock, base_url: "http://unused"}
`
	dir, _, _ := measure(t, closed)
	text, err := os.ReadFile(filepath.Join(dir, "stage_0_lifecycle_metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Load struct {
			Requested   *float64 `json:"requested_rate"`
			Concurrency int
			Delay       struct{ Max float64 } `json:"schedule_delay"`
		} `json:"load_summary"`
		Successes struct {
			Latency map[string]any
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if s.Load.Requested != nil || s.Load.Concurrency != 4 || math.Abs(s.Load.Delay.Max) > 0.5 {
		t.Errorf("%+v", s.Load)
	}
	if s.Successes.Latency["time_to_first_token"] != nil || s.Successes.Latency["request_latency"] == nil {
		t.Errorf("an answer in one piece has %v", s.Successes.Latency)
	}
	dir, _, _ = measure(t, closed, "--faithful")
	readReport(t, dir, "stage_0_lifecycle_metrics.json", &s)
	if s.Load.Requested == nil || *s.Load.Requested != 20 {
		t.Errorf("faithful: a rate of %v", s.Load.Requested)
	}
}

// TestSessionsOfConversations: generated conversations have reports of sessions too.
// differs: ip-config-mock, ip-session-reports
func TestSessionsOfConversations(t *testing.T) {
	dir, _, _ := measure(t, `
data: {type: shared_prefix, shared_prefix: {num_groups: 1, num_prompts_per_group: 2, enable_multi_turn_chat: true, output_len: 2}}
load: {type: concurrent, stages: [{num_requests: 8, concurrency_level: 2}]}
server: {type: mock, model_name: mock, base_url: "http://unused"}
report: {session_lifecycle: {per_session: true}}
`)
	for _, name := range []string{"summary_session_lifecycle_metrics.json", "stage_0_session_lifecycle_metrics.json"} {
		var s struct {
			Sessions int `json:"num_sessions"`
			Events   int `json:"total_events"`
		}
		readReport(t, dir, name, &s)
		if s.Sessions < 2 || s.Events != 8 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	var single []struct {
		Session string `json:"session_id"`
	}
	readReport(t, dir, "per_session_lifecycle_metrics.json", &single)
	if len(single) < 2 || single[0].Session == "" {
		t.Errorf("%+v", single)
	}
}

// differs: ip-analyze
func TestAnalyzeTellsOfEveryDirectory(t *testing.T) {
	bad, good := t.TempDir(), t.TempDir()
	for i, rate := range []string{"1", "2"} {
		name := filepath.Join(good, "stage_"+[]string{"0", "1"}[i]+"_lifecycle_metrics.json")
		text := `{"load_summary":{"achieved_rate":` + rate + `},"successes":{"latency":{"time_to_first_token":{"mean":0.1}},"throughput":{"output_tokens_per_sec":5}}}`
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Analyze(&frontend.Action{Dirs: []string{bad, good}}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), bad) || len(files) != 6 {
		t.Errorf("%v, %d files", err, len(files))
	}
	if _, err := Analyze(&frontend.Action{Dirs: []string{good}, Percentiles: []string{"42"}}, io.Discard); err == nil || !strings.Contains(err.Error(), "p42") {
		t.Errorf("a percentile that nobody has: %v", err)
	}
	made := filepath.Join(t.TempDir(), "not", "there")
	if files, err := Analyze(&frontend.Action{Dirs: []string{good, good}, Unified: made}, io.Discard); err != nil ||
		!slices.ContainsFunc(files, func(f string) bool { return filepath.Dir(f) == made }) {
		t.Errorf("overlaid charts: %v, %v", files, err)
	}
}

func TestMediaOfPrompts(t *testing.T) {
	var g mediaLog
	g.remember(&prompt.Prompt{Hash: 5, Messages: []prompt.Message{{Parts: []prompt.Part{
		{Kind: prompt.Text, Text: "look"},
		{Kind: prompt.Image, Data: []byte("abc"), Width: 4, Height: 2},
		{Kind: prompt.Image, Data: []byte("ab"), Width: 8, Height: 8, Frames: 1},
		{Kind: prompt.Image, Data: []byte("cd"), Width: 8, Height: 8, Frames: 2},
		{Kind: prompt.Audio, Data: []byte("x"), Length: time.Second},
	}}}})
	want := []dialect.Medium{
		{Kind: dialect.Image, Bytes: 3, Width: 4, Height: 2},
		{Kind: dialect.Video, Bytes: 4, Width: 8, Height: 8, Frames: 2},
		{Kind: dialect.Audio, Bytes: 1, Length: time.Second},
	}
	if diff := cmp.Diff(want, g.media(5)); diff != "" {
		t.Error(diff)
	}
	if g.media(6) != nil {
		t.Error("a prompt that nobody saw shows something")
	}
}
