package selftest

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/testkit/binary"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A whole test, on a mock in this process and on one of its own. How large the errors are
// depends on the machine; that every figure has one does not.
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start Starter
		apart bool
	}{
		{"in this process", InProcess(), false},
		{"a process of its own", Process(binary.Program(t)), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan.Default()
			p.Stages = []plan.Stage{{Concurrency: 2}}
			p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 5}
			told := 0
			rep, err := Run(context.Background(), Options{
				Plan: &p, Levels: 1, Time: 300 * ms, TTFT: 5 * ms, ITL: ms, Start: tt.start, Kit: registry.Offline(os.Getenv), Version: "v", Tell: func(string) { told++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			l := rep.Levels[0]
			if rep.Apart != tt.apart || told != 1 || len(rep.Levels) != 1 || l.Lost != 0 || l.Requests == 0 || l.Load != "2 in flight" || rep.Host.Cores == 0 || rep.Summary == "" {
				t.Errorf("%+v", rep)
			}
			for _, metric := range []string{"time_to_first_token", "inter_token_latency", "request_latency", "request_throughput", "output_sequence_length"} {
				if find(&l.Calibration, metric) == nil {
					t.Errorf("%s has no error bar", metric)
				}
			}
		})
	}
}

func TestAMockThatDoesNotStart(t *testing.T) {
	_, err := Run(context.Background(), Options{Levels: 1, Time: ms, Start: Process(binary.Program(t) + "-not-there"), Kit: registry.Offline(os.Getenv)})
	if err == nil || !strings.Contains(err.Error(), "starting the mock") {
		t.Errorf("%v; want an error that says what was being done", err)
	}
}

func TestLikeness(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stages []plan.Stage
		levels plan.Levels
		want   []plan.Stage // without time
		err    string
	}{
		{"closed loop", []plan.Stage{{Concurrency: 3}}, plan.Levels{}, []plan.Stage{{Concurrency: 3}, {Concurrency: 6}, {Concurrency: 12}}, ""},
		{"the heaviest stage", []plan.Stage{{Concurrency: 3}, {Concurrency: 30}, {Concurrency: 8}}, plan.Levels{}, []plan.Stage{{Concurrency: 30}, {Concurrency: 60}, {Concurrency: 120}}, ""},
		{"open loop", []plan.Stage{{Rate: 10, Arrival: plan.ArrivalPoisson, MaxInFlight: 5}}, plan.Levels{},
			[]plan.Stage{{Rate: 10, Arrival: plan.ArrivalPoisson, MaxInFlight: 5}, {Rate: 20, Arrival: plan.ArrivalPoisson, MaxInFlight: 10}, {Rate: 40, Arrival: plan.ArrivalPoisson, MaxInFlight: 20}}, ""},
		{"a ramp", []plan.Stage{{Concurrency: 3, RampTo: 9}}, plan.Levels{}, []plan.Stage{{Concurrency: 9}, {Concurrency: 18}, {Concurrency: 36}}, ""},
		{"levels", []plan.Stage{{Concurrency: 1}}, plan.Levels{List: []float64{1, 16, 4}}, []plan.Stage{{Concurrency: 16}, {Concurrency: 32}, {Concurrency: 64}}, ""},
		{"a trace", []plan.Stage{{Arrival: plan.ArrivalTrace}}, plan.Levels{}, nil, "no stage with a concurrency or rate"},
	} {
		p := plan.Default()
		p.Stages, p.Levels = tt.stages, tt.levels
		p.Target.Headers, p.Output.Dir = map[string]string{"X": "secret"}, "kept"
		got, down, err := Options{Plan: &p, Levels: 3, Time: time.Second}.loads()
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil || len(got) != len(tt.want) {
			t.Errorf("%s: %d loads, %v", tt.name, len(got), err)
			continue
		}
		for _, l := range down {
			if s, first := l.Stages[0], got[0].Stages[0]; s.Concurrency >= first.Concurrency && s.Rate >= first.Rate || s.Concurrency == 0 &&
				s.Rate == 0 {
				t.Errorf("%s: %+v is no lighter load than %+v", tt.name, s, first)
			}
		}
		for i, w := range tt.want {
			s := got[i].Stages[0]
			if s.Concurrency != w.Concurrency || s.Rate != w.Rate || s.Arrival != w.Arrival || s.MaxInFlight != w.MaxInFlight {
				t.Errorf("%s: load %d is %+v, want %+v", tt.name, i, s, w)
			}
			if len(got[i].Target.Headers) > 0 || got[i].Output.Dir != "" {
				t.Errorf("%s: what belongs to the target goes to the mock", tt.name)
			}
		}
	}
}

func TestLongAnswersTakeLonger(t *testing.T) {
	p := plan.Default()
	p.Data.Output.Mean = 500
	if got := (Options{Time: time.Second}).length(&p); got != 3*(50*ms+5*time.Second) {
		t.Errorf("%v", got)
	}
	p.Data.Output.Mean = 1e6
	if got := (Options{Time: time.Second}).length(&p); got != longest {
		t.Errorf("%v, want no more than %v", got, longest)
	}
}

func TestSummary(t *testing.T) {
	level := func(load string, honest bool) Trial {
		l := Trial{Calibration: record.Calibration{Load: load, Rate: 10, Events: 640}, Honest: honest}
		if !honest {
			l.Reasons = []string{"It was late."}
		}
		return l
	}
	for _, tt := range []struct {
		rep  Report
		want string
	}{
		{Report{Honest: "8 in flight", Levels: []Trial{level("8 in flight", true)}}, "This host measures 8 in flight accurately: 10.0 requests/s, 640 events/s. No heavier load was tried."},
		{Report{Honest: "8 in flight", Levels: []Trial{level("32 in flight", false), level("8 in flight", true)}}, "This host measures 8 in flight accurately: 10.0 requests/s, 640 events/s. It does not measure 32 in flight accurately: It was late."},
		{Report{Levels: []Trial{level("32 in flight", false), level("8 in flight", false)}}, "This host measures none of the loads tried accurately. It does not measure 8 in flight accurately: It was late."},
		{Report{Honest: "8 in flight", Beyond: "32 in flight could not be tried: no.", Levels: []Trial{level("8 in flight", true)}}, "This host measures 8 in flight accurately: 10.0 requests/s, 640 events/s. 32 in flight could not be tried: no."},
	} {
		if got := summary(&tt.rep); got != tt.want {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	bars := []record.Bar{
		{Metric: "time_to_first_token", Name: "Time to first token", Unit: "ms", True: 50.02, Avg: 0.013, P50: 0.011, P90: 0.02, P99: 0.2, Error: 0.2},
		{Metric: "inter_token_latency", Name: "Inter-token latency", Unit: "ms", True: 10, Avg: 0.0004, P50: 0, P90: -0.01, P99: 0.1, Error: 0.1},
		{Metric: "request_throughput", Name: "Requests/s", Unit: "requests/sec", True: 1234, Avg: -1, Error: 1},
	}
	rep := &Report{Apart: true, Cores: []int{6, 7}, Honest: "8 in flight", Levels: []Trial{
		{Calibration: record.Calibration{Load: "8 in flight", Verdict: "valid", Requests: 40, Rate: 11.7, InFlight: 8, Events: 752, Bars: bars}, Honest: true},
		{Calibration: record.Calibration{Load: "32 in flight", Verdict: "invalid", Requests: 160, Rate: 47, InFlight: 32, Events: 3008, Bars: bars[:1]}, Reasons: []string{"The client was short of CPU."}},
	}}
	rep.Summary = summary(rep)
	var b bytes.Buffer
	if err := Write(&b, rep, 100); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("testdata", "table.txt")
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}
