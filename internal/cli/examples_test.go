package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/testkit/binary"
	"github.com/inferometer/inferometer/internal/tool"
	frontend "github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

// TestExamples runs every config of examples/, and the one at the top, against the mock:
// cut short, with the data sets of examples/data instead of those of the hub, and else
// as it stands.
func TestExamples(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("HF_HUB_OFFLINE", "1")
	files, err := filepath.Glob("examples/*/*.yml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d examples found: %v", len(files), err)
	}
	program, server := binary.Program(t), exampleServer(t)
	readme, err := os.ReadFile("examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "config.yml")
	outcomes := make([]chan outcome, len(files))
	room, temp := make(chan struct{}, 6), t.TempDir()
	for i, file := range files {
		outcomes[i] = make(chan outcome, 1)
		go func() {
			room <- struct{}{}
			defer func() { <-room }()
			outcomes[i] <- runExample(program, file, server, filepath.Join(temp, strconv.Itoa(i)))
		}()
	}
	for i, file := range files {
		name := filepath.ToSlash(strings.TrimPrefix(file, "examples"+string(filepath.Separator)))
		t.Run(name, func(t *testing.T) {
			if file != "config.yml" && !strings.Contains(string(readme), "("+name+")") {
				t.Errorf("examples/README.md does not list it")
			}
			(<-outcomes[i]).judge(t)
		})
	}
}

// outcome is what came of an example.
type outcome struct {
	err       error // it does not even parse, or start
	action    *frontend.Action
	code      int
	out, errs string
}

// exampleServer answers to all names that the examples have.
func exampleServer(t *testing.T) string {
	c := config.Default()
	c.Strict = true
	c.Models = []string{"mock", "my-model", "model-a", "adapter-a", "adapter-b", "adapter-c"}
	c.SessionID, c.SessionToken = "x-session-id", "x-session-token"
	c.Latency.TTFT, c.Latency.ITL = 2*time.Millisecond, 100*time.Microsecond
	s, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	return "http://" + l.Addr().String()
}

// runExample runs an example as a process of the program as it is shipped: under the race
// detector charts and vocabularies take minutes.
func runExample(program, file, server, dir string) outcome {
	args := []string{
		"-c", file, "--server.base_url", server, "--storage.local_storage.path", dir, "--load.interval", "0",
		"--tokenizer.pretrained_model_name_or_path", plan.TokenizerBuiltin, "--log-level", "WARNING",
	}
	a, err := frontend.Parse(args, frontend.World{ReadFile: os.ReadFile, Now: time.Now()})
	if err != nil {
		return outcome{err: err}
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(program, slices.Concat([]string{"inference-perf"}, args, shortened(a.Plan, server))...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return outcome{err: err}
	}
	return outcome{action: a, code: cmd.ProcessState.ExitCode(), out: out.String(), errs: errs.String()}
}

// judge looks for what every run leaves behind.
func (o outcome) judge(t *testing.T) {
	switch {
	case o.err != nil:
		t.Fatal(o.err)
	case o.code == tool.ExitRun && o.action.Plan.Saturation.On() && strings.Contains(o.out, "No rate was found that the server keeps up with"):
		t.Skip("this machine is too busy to find out what the server can do")
	case o.code != tool.ExitOK:
		t.Fatalf("exit code %d\n%s%s", o.code, o.errs, o.out)
	}
	p := o.action.Options.Prefix
	for _, want := range []string{p + "config.yaml", filepath.Join(p+frontend.RecordsDir, rundir.RecordsFile), filepath.Join(p+frontend.RecordsDir, rundir.PlanFile)} {
		if _, err := os.Stat(filepath.Join(o.action.Options.Dir, want)); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(o.action.Options.Dir, p+"summary_lifecycle_metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Successes struct{ Count int }
		Failures  struct{ Count int }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if report.Successes.Count == 0 || report.Failures.Count > 0 {
		t.Errorf("%d requests went well, %d failed\n%s", report.Successes.Count, report.Failures.Count, o.errs)
	}
}

// shortened are flags that keep a run to a second or so.
func shortened(p *plan.Plan, server string) []string {
	var args []string
	if p.Saturation.On() {
		args = append(args, "--load.sweep.num_requests", "40", "--load.sweep.timeout", "5", "--load.sweep.num_stages", "2", "--load.sweep.stage_duration", "1")
	} else if s := p.Stages[0]; s.Arrival != plan.ArrivalSessions && s.Arrival != plan.ArrivalTrace {
		var stages []map[string]int
		for i := range p.Stages {
			if s.Concurrency > 0 {
				stages = append(stages, map[string]int{"num_requests": 8, "concurrency_level": 2 + i})
			} else {
				stages = append(stages, map[string]int{"rate": 10 + i, "duration": 1})
			}
		}
		text, _ := json.Marshal(stages) // numbers and names always are JSON
		args = append(args, "--load.stages", string(text))
	}
	switch p.Data.Dataset.Kind {
	case plan.DatasetShareGPT:
		args = append(args, "--data.path", "examples/data/sharegpt.json")
	case plan.DatasetVisionArena:
		args = append(args, "--data.path", "examples/data/visionarena.parquet")
	case plan.DatasetCNN:
		args = append(args, "--data.path", "examples/data/cnn.json")
	}
	if p.Data.Source == plan.SourceOtelTrace { // the mock ends no tool call by itself
		args = append(args, "--data.otel_trace_replay.override_tool_call_max_tokens", "false")
	}
	if p.Data.Source == plan.SourceConversationReplay {
		args = append(args, "--data.conversation_replay.tool_call_latency_sec", "null")
	}
	if p.Probes.Prometheus.On() {
		args = append(args, "--metrics.prometheus.scrape_interval", strconv.Itoa(1))
	}
	if len(p.Probes.Scrape) > 0 {
		args = append(args, "--metrics.scrape_urls", `["`+server+`/metrics"]`)
	}
	if p.Output.S3.Bucket != "" {
		args = append(args, "--storage.simple_storage_service", "null", "--storage.google_cloud_storage", "null")
	}
	return args
}
