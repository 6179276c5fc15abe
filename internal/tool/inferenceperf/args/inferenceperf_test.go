package args

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// moment is the time of the start in all tests.
var moment = time.Date(2026, 1, 31, 14, 25, 30, 0, time.UTC)

// parse parses a command line with a config of the given text in c.yml.
func parse(config string, args ...string) (*Action, error) {
	if config != "" {
		args = append([]string{"-c", "c.yml"}, args...)
	}
	return Parse(args, World{Now: moment, ReadFile: func(name string) ([]byte, error) {
		if name == "c.yml" || name == UsualFile {
			return []byte(config), nil
		}
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}})
}

// small is a config that has nothing but what is needed.
const small = "server: {base_url: 'http://h:8000'}\nload: {stages: [{rate: 2, duration: 3}], base_seed: 1}\n"

// TestPlans: each config of testdata/plans compiles to the plan beside it, and the
// config in force reads back as the same.
func TestPlans(t *testing.T) {
	configs, err := filepath.Glob("testdata/plans/*.yml")
	if err != nil || len(configs) < 5 {
		t.Fatalf("%d configs found: %v", len(configs), err)
	}
	for _, name := range configs {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yml"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			a, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := planfile.Encode(a.Plan)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".yml") + ".plan.yaml"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
			again, err := parse(strings.ReplaceAll(string(a.Config), hidden, "k"))
			if err != nil {
				t.Fatalf("the config in force does not read back: %v\n%s", err, a.Config)
			}
			back, err := planfile.Encode(again.Plan)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(back)); diff != "" {
				t.Errorf("the config in force is another one: %s", diff)
			}
			if diff := cmp.Diff(string(a.Config), string(again.Config)); diff != "" {
				t.Errorf("the config in force changes when it is read back: %s", diff)
			}
		})
	}
}

func TestSmallest(t *testing.T) {
	a, err := parse(small)
	if err != nil {
		t.Fatal(err)
	}
	p := a.Plan
	if p.Target.Endpoint != plan.EndpointCompletions || p.Target.Streaming || p.Data.Source != plan.SourceMock || !p.Data.IgnoreEOS ||
		p.Data.Output.Mean != 30 || len(p.Stages) != 1 || p.Stages[0].Requests != 6 || p.Stages[0].Arrival != plan.ArrivalConstant {
		t.Errorf("the defaults are not the original's: %+v", p)
	}
	want := Options{
		Lifecycle: LifecycleReports{
			Summary: true, PerStage: true, PerAdapter: true, MaxErrorMessages: 100,
			Fields:      RequestFields{Request: true, Response: true, Info: true, Chunks: true},
			Percentiles: []float64{0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9},
		},
		Prometheus: PrometheusReports{Summary: true}, Sessions: SessionReports{Summary: true, PerStage: true},
		Dir: "reports-20260131-142530", Server: "vllm", Configured: 1, Stages: []int{0},
	}
	if diff := cmp.Diff(want, a.Options); diff != "" {
		t.Error(diff)
	}
	if p.Output.Dir != filepath.Join("reports-20260131-142530", RecordsDir) {
		t.Errorf("records go to %s", p.Output.Dir)
	}
}

// TestFlags: flags come on top of the file, merged key by key.
// differs: ip-config-workers
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		holds func(a *Action) bool
	}{
		{"number", []string{"--load.request_timeout", "5"}, func(a *Action) bool { return a.Plan.Target.Timeouts.Request == plan.Duration(5*time.Second) }},
		{"attached", []string{"--load.base_seed=9"}, func(a *Action) bool { return a.Plan.Seed == 9 }},
		{"prefixes with a seed of 0", []string{"--data.type", "shared_prefix", "--data.shared_prefix.seed", "0", "--load.base_seed", "9"},
			func(a *Action) bool { return a.Plan.Seed == 0 && a.Plan.Data.SharedPrefix.Seed == 0 }},
		{"choice", []string{"--api.type", "chat"}, func(a *Action) bool { return a.Plan.Target.Endpoint == plan.EndpointChat }},
		{"boolean", []string{"--api.streaming", "yes"}, func(a *Action) bool { return a.Plan.Target.Streaming }},
		// differs: ip-flag-words
		{"boolean in other words", []string{"--api.streaming", "on"}, func(a *Action) bool { return a.Plan.Target.Streaming }},
		// differs: ip-config-values
		{"as given", []string{"--data.type", "random", "--data.input_distribution.mean", "99", "--data.output_distribution.type", "fixed"},
			func(a *Action) bool {
				return strings.Contains(string(a.Config), "total_count: null") && a.Plan.Data.Ahead.Input > 0
			}},
		{"list", []string{"--load.stages", `[{"rate": 5, "duration": 2}, {"rate": 1, "duration": 1}]`}, func(a *Action) bool { return len(a.Plan.Stages) == 2 && a.Plan.Stages[0].Rate == 5 }},
		{"mapping", []string{"--api.headers", `{"X-A": "1"}`}, func(a *Action) bool { return a.Plan.Target.Headers["X-A"] == "1" }},
		{"text that looks like a number", []string{"--server.model_name", "007"}, func(a *Action) bool { return a.Plan.Target.Model == "007" }},
		{"section of its own", []string{"--data.type", "random", "--data.input_distribution.mean", "99", "--data.output_distribution.type", "fixed"},
			func(a *Action) bool { return a.Plan.Data.Input.Mean == 99 && a.Plan.Data.Output.Mean == 512 }},
		{"workers", []string{"--load.num_workers", "4"}, func(a *Action) bool { return a.Plan.Stages[0].MaxInFlight == 0 }},
		{"faithful workers", []string{"--load.num_workers", "4", "--faithful"}, func(a *Action) bool { return a.Plan.Stages[0].MaxInFlight == 400 }},
		{"older name", []string{"--data.type", "shared_prefix", "--data.shared_prefix.num_groups", "3"}, func(a *Action) bool { return a.Plan.Data.SharedPrefix.Groups == 3 }},
		{"union", []string{"--data.type", "shared_prefix", "--data.shared_prefix.question_len", `{"type": "uniform", "min": 1, "max": 9}`},
			func(a *Action) bool { return a.Plan.Data.SharedPrefix.Question.Max == 9 }},
		{"section", []string{"--data.type", "shared_prefix", "--data.shared_prefix", `{"output_len": 7}`}, func(a *Action) bool { return a.Plan.Data.Output.Mean == 7 }},
		{"no section", []string{"--storage", "null"}, func(a *Action) bool { return a.Plan.Output.Dir == "" && a.Options.Dir == "" }},
		{"null", []string{"--load.base_seed", "null"}, func(a *Action) bool { return a.Plan.Seed == uint64(moment.UnixMilli()) }},
		{"a seed below 0", []string{"--load.base_seed", "-1"}, func(a *Action) bool { return a.Plan.Seed == 1<<64-1 }},
		{"no time-out", []string{"--load.request_timeout", "0"}, func(a *Action) bool { return a.Plan.Target.Timeouts.Request == usualTimeout }},
		{"last one wins", []string{"--load.base_seed", "3", "--load.base_seed", "4"}, func(a *Action) bool { return a.Plan.Seed == 4 }},
		{"last one replaces what cannot be", []string{"--api.streaming", "x", "--load.num_workers", "-1", "--api.headers", "[]", "--api.streaming", "true", "--load.num_workers", "1", "--api.headers", "{}"},
			func(a *Action) bool { return a.Plan.Target.Streaming }},
		{"abbreviated", []string{"--load.base", "3"}, func(a *Action) bool { return a.Plan.Seed == 3 }},
		{"level", []string{"--log-level", "debug"}, func(a *Action) bool { return a.LogLevel == "DEBUG" }},
	} {
		a, err := parse(small, c.args...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !c.holds(a) {
			t.Errorf("%s: %v has no effect", c.name, c.args)
		}
	}
}

// TestOriginalFlags: every flag of the original is one here.
func TestOriginalFlags(t *testing.T) {
	text, err := os.ReadFile("testdata/flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, f := range append(general(), flagsOf(root(), nil)...) {
		ours = append(ours, f.name)
	}
	names := strings.Fields(string(text))
	if len(names) < 250 {
		t.Fatalf("only %d flags in the list", len(names))
	}
	for _, name := range names {
		if name == "--log" { // --log-level, cut where the list was made
			continue
		}
		if !slices.Contains(ours, name) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestCommandLines(t *testing.T) {
	if a, err := parse("", "--analyze", "a", "b", "-u", "c", "--percentiles", "p50,99"); err != nil || a.Command != Analyze || !slices.Equal(a.Dirs, []string{"a", "b"}) || a.Unified != "c" || !slices.Equal(a.Percentiles, []string{"50", "99"}) {
		t.Errorf("analyze: %+v, %v", a, err)
	}
	if a, err := parse("", "-h"); err != nil || a.Command != Help {
		t.Errorf("help: %+v, %v", a, err)
	}
	none := func(args ...string) error {
		_, err := Parse(args, World{Now: moment, ReadFile: func(name string) ([]byte, error) {
			return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
		}})
		return err
	}
	if err := none(); err == nil || !strings.Contains(err.Error(), "config.yml: without arguments") {
		t.Errorf("without arguments: %v", err)
	}
	a, err := Parse(nil, World{Now: moment, ReadFile: func(name string) ([]byte, error) { return []byte(small), nil }})
	if err != nil || a.File != UsualFile {
		t.Errorf("without arguments: %+v, %v", a, err)
	}
	a, err = parse("", "--server.base_url", "http://h", "--load.stages", `[{"rate":1,"duration":1}]`)
	if err != nil || a.File != "" {
		t.Errorf("flags alone: %+v, %v", a, err)
	}
}

// TestSecrets: neither the plan nor the config in force shows a key.
func TestSecrets(t *testing.T) {
	a, err := parse(small + "api: {headers: {Authorization: 'Bearer hidden-1', X-Plain: shown}}\ntokenizer: {token: hidden-2}\nmetrics: {type: prometheus, prometheus: {url: 'http://u:hidden-3@p'}}\n")
	if err != nil {
		t.Fatal(err)
	}
	printed, err := planfile.Encode(a.Plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(printed), string(a.Config)} {
		if strings.Contains(text, "hidden-") || !strings.Contains(text, "shown") {
			t.Errorf("%s", text)
		}
	}
	if a.Options.HubToken != "hidden-2" || a.Plan.Target.Headers["Authorization"] != "Bearer hidden-1" {
		t.Error("the secrets are lost")
	}
	for _, c := range []struct{ api, header, want string }{{"chat", "Authorization", "Bearer k"}, {"anthropic_messages", "x-api-key", "k"}} {
		a, err := parse(small, "--server.api_key", "k", "--api.type", c.api)
		if err != nil || a.Plan.Target.Headers[c.header] != c.want || strings.Contains(string(a.Config), "api_key: k") {
			t.Errorf("%s: %v", c.api, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--load.request_retry_backoff_sec 3", "load.request_retry_backoff_sec has no effect: load.request_retries is 0"},
		{"--server.type mock", "server.type mock is the built-in server"},
		{"--data.conversation_replay.seed 3", "data.conversation_replay has no effect: data.type is mock"},
		{"--api.type anthropic_messages --api.response_format.type json_object", "api.response_format has no effect"},
	} {
		a, err := parse(small, strings.Fields(c.args)...)
		if err != nil || len(a.Warnings) == 0 || !strings.Contains(strings.Join(a.Warnings, "\n"), c.want) {
			t.Errorf("%s: %v, %+v", c.args, err, a)
		}
	}
}

// TestLognormal: lengths of prompts that are made begin at their minimum, as in the original;
// others are lognormal from 0 on.
func TestLognormal(t *testing.T) {
	for kind, shifted := range map[string]bool{"random": true, "synthetic": true, "shared_prefix": false} {
		args := []string{"--data.type", kind, "--data.input_distribution.type", "lognormal", "--data.output_distribution.type", "lognormal"}
		if kind == "shared_prefix" {
			args = []string{"--data.type", kind, "--data.shared_prefix.output_len", `{"type":"lognormal"}`}
		}
		a, err := parse(small, args...)
		if err != nil || a.Plan.Data.Input.Shifted != shifted || a.Plan.Data.Output.Shifted != shifted ||
			a.Plan.Data.Output.Dist != plan.DistLognormal {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
