package console

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// around makes a metric whose values lie around mid.
func around(unit string, count int64, mid float64, thin ...string) result.Stat {
	return result.Stat{Unit: unit, Count: count, Avg: mid * 1.02, LowSamples: thin, Distribution: &result.Distribution{
		Min: mid * 0.8, Max: mid * 2.5, Std: mid * 0.11,
		P1: mid * 0.82, P5: mid * 0.85, P10: mid * 0.9, P25: mid * 0.95, P50: mid,
		P75: mid * 1.05, P90: mid * 1.2, P95: mid * 1.3, P99: mid * 1.8, P999: mid * 2.4,
	}}
}

func rate(unit string, v float64) result.Stat { return result.Stat{Unit: unit, Avg: v} }

// sampled gives metrics intervals of sampling, but none for percentiles of the second token.
func sampled(all map[string]result.Stat) map[string]result.Stat {
	for _, id := range []string{
		"time_to_first_token", "time_to_first_output_token", "time_to_second_token", "inter_token_latency", "time_per_output_token", "request_latency",
		"request_latency_from_due", "output_token_throughput_per_user", "request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput",
	} {
		m, ok := all[id]
		if !ok {
			continue
		}
		at := func(v, share float64) result.ConfidenceInterval {
			return result.ConfidenceInterval{Lo: v * (1 - share), Hi: v * (1 + share)}
		}
		m.Intervals = map[string]result.ConfidenceInterval{"avg": at(m.Avg, 0.0212)}
		if m.Distribution != nil && id != "time_to_second_token" {
			m.Intervals["p50"], m.Intervals["p90"], m.Intervals["p99"] = at(m.P50, 0.0093), at(m.P90, 0.034), at(m.P99, 0.118)
		}
		all[id] = m
	}
	return all
}

func streamed(n int64, slow float64) map[string]result.Stat {
	thin := []string{"p99.9"}
	return sampled(map[string]result.Stat{
		"time_to_first_token":              around("ms", n, 51.2*slow, thin...),
		"time_to_first_output_token":       around("ms", n, 51.2*slow, thin...),
		"time_to_second_token":             around("ms", n, 10.3*slow, thin...),
		"inter_token_latency":              around("ms", n*63, 10.1*slow),
		"time_per_output_token":            around("ms", n, 10.15*slow, thin...),
		"request_latency":                  around("ms", n, 690*slow, thin...),
		"output_sequence_length":           around("tokens", n, 64, thin...),
		"input_sequence_length":            around("tokens", n, 550, thin...),
		"output_token_throughput_per_user": around("tokens/sec/user", n, 98.7/slow, thin...),
		"tokens_per_event":                 around("tokens", n*64, 1),
		"lag":                              around("ms", n, 0.021),
		"request_throughput":               rate("requests/sec", 46.37/slow),
		"output_token_throughput":          rate("tokens/sec", 2967.8/slow),
		"input_token_throughput":           rate("tokens/sec", 25503.5/slow),
		"total_token_throughput":           rate("tokens/sec", 28471.3/slow),
		"request_goodput":                  rate("requests/sec", 44.1/slow),
		"slo_attainment":                   rate("share", 0.9929),
		"concurrency":                      rate("requests", 31.84),
		"error_rate":                       rate("share", 0.0071),
		"dispatch_delay":                   around("ms", n, 0.015),
		"read_delay":                       around("ms", n*64, 0.03),
		"connect_time":                     around("ms", 32, 0.4, "p90", "p95", "p99", "p99.9"),
		"request_latency_from_due":         around("ms", n, 690.001*slow, thin...),
	})
}

func oneStage() *result.Result {
	return &result.Result{
		Schema: result.Schema, Version: "0.1.0", Seed: 42, Duration: 35.2,
		Started: time.Date(2026, 11, 15, 13, 10, 0, 0, time.UTC),
		Verdict: result.Verdict{Status: result.Valid, Valid: true, Reasons: []string{}, Checks: []result.Check{
			{Stage: 0, Name: "dispatch_delay_p99", Value: 0.12, Budget: 1, Unit: "ms", OK: true},
			{Stage: 0, Name: "resent", Value: 0.0004, Budget: 0.01, Unit: "share", OK: true},
			{Stage: 0, Name: "achieved_requests", Value: 1, Budget: 0.99, Unit: "share", OK: true},
			{Stage: -1, Name: "client_cpu", Value: 0.34, Budget: 0.85, Unit: "share", OK: true},
			{Stage: -1, Name: "clock_step", Value: 0, Budget: 1, Unit: "ms", OK: true},
		}},
		Notes: []string{"12 prompts were sent more than once: a prefix cache may have answered them."},
		Stages: []result.Stage{{
			Load:   "32 in flight",
			Counts: result.Counts{Sent: 1400, OK: 1390, Failed: 10, CutOff: 3, Warmup: 64},
			Failures: []record.FailureCount{
				{Class: "http_status", Status: 503, Count: 7, Example: `{"error": {"message": "the server is overloaded, please try again later", "type": "overloaded_error"}}`},
				{Class: "cut_off", Count: 3, Example: "drain timeout exceeded"},
			},
			Tokens: result.Tokens{Tokenizer: "words", Input: map[string]int64{"tokenizer": 1390}, Output: map[string]int64{"server": 1380, "events": 10, "none": 0}},
			Goodput: []result.SLO{
				{Metric: "time_to_first_token", MaxMS: 200, Met: 1390, Of: 1400},
				{Metric: "inter_token_latency", MaxMS: 30, Met: 1400, Of: 1400},
			},
			Window:  result.Span{Begin: 5, End: 35.1},
			Metrics: streamed(1390, 1),
			Steady: &result.Steady{
				Window:  result.Span{Begin: 5, End: 34.4},
				Counts:  result.Counts{Sent: 1360, OK: 1353, Failed: 7},
				Metrics: streamed(1353, 0.99),
			},
		}},
	}
}

func threeStages() *result.Result {
	r := oneStage()
	first := r.Stages[0]
	first.Name, first.Steady, first.Failures = "low", nil, nil
	first.Counts = result.Counts{Sent: 1400, OK: 1400}
	second := first
	second.Index, second.Name, second.Load = 1, "peak", "50/s poisson, at most 500 in flight"
	second.Counts = result.Counts{Sent: 1500, OK: 1498, Failed: 2, Scheduled: 1510, Waited: 120, Unsent: 10}
	second.Metrics = streamed(1498, 30)
	second.Metrics["request_latency_from_due"] = around("ms", 1498, 24000)
	second.Metrics["slot_wait"] = around("ms", 120, 3300, "p99", "p99.9")
	third := first
	third.Index, third.Name, third.Load = 2, "embeddings", "4 in flight"
	third.Goodput = nil
	third.Tokens = result.Tokens{Tokenizer: "words", Input: map[string]int64{"server": 20}}
	third.Counts = result.Counts{Sent: 20, OK: 20}
	third.Metrics = map[string]result.Stat{
		"request_latency":    around("ms", 20, 0.05, "p90", "p95", "p99", "p99.9"),
		"request_throughput": rate("requests/sec", 19000),
	}
	r.Stages = []result.Stage{first, second, third}
	r.Verdict = result.Verdict{
		Status: result.Invalid, Summary: "1 of 3 stages is valid: its figures can be trusted. Do not rely on those of stage 2 (peak) and stage 3 (embeddings).",
		Reasons: []string{
			"stage 2: requests went out 3.1 ms after they were due (p99), the budget is 1 ms: give the client more CPU or ask for a lower rate",
			"stage 3: 20 requests are too few for p90 (64 needed): run longer",
		},
		Checks: []result.Check{
			{Stage: 1, Name: "resent", Value: 0, Budget: 0.01, Unit: "share", OK: true},
			{Stage: 1, Name: "dispatch_delay_p99", Value: 3.1, Budget: 1, Unit: "ms"},
		},
	}
	for i, word := range []string{result.Valid, result.Invalid, result.Invalid} {
		r.Stages[i].Verdict = &result.StageVerdict{Status: word, Valid: i == 0}
	}
	r.Notes = nil
	r.Interrupted = true
	return r
}

// undecided is a run too short for one of its checks.
func undecided() *result.Result {
	r := oneStage()
	for id, off := range map[string][2]float64{"time_to_first_token": {0.05, 0.6}, "inter_token_latency": {}, "request_latency": {0.05, 0.6}, "request_throughput": {0.02}} {
		m := r.Stages[0].Metrics[id]
		m.Error = map[string]result.ErrorBar{"avg": {Lo: m.Avg - off[0], Hi: m.Avg}, "p99": {Lo: m.Figure("p99") - off[1], Hi: m.Figure("p99")}}
		r.Stages[0].Metrics[id] = m
	}
	const why = "12 requests are too few to tell a trend from chance."
	r.Verdict = result.Verdict{
		Status: result.Inconclusive, Reasons: []string{}, Undecided: []string{why + " Send at least 30."},
		Checks: append(r.Verdict.Checks, result.Check{Name: "latency_drift", Budget: 0.15, Unit: "share", Undecided: true, Reason: why, Fix: "Send at least 30."}),
	}
	return r
}

// targets is a stage whose requests went to three servers.
func targets() *result.Result {
	r := oneStage()
	down := streamed(0, 1)
	for name, m := range down {
		if m.Distribution != nil {
			delete(down, name)
		}
	}
	down["request_throughput"], down["output_token_throughput"] = rate("requests/sec", 0), rate("tokens/sec", 0)
	r.Stages[0].Targets = []result.Target{
		{URL: "http://host-a:8000", Counts: result.TargetCounts{Sent: 700, OK: 700}, Metrics: streamed(700, 1)},
		{URL: "http://host-b:8000/behind/a/long/path/of/its/own", Counts: result.TargetCounts{Sent: 696, OK: 690, Failed: 6}, Metrics: streamed(690, 4)},
		{URL: "http://host-c:8000", Counts: result.TargetCounts{Sent: 4, Failed: 4}, Metrics: down},
	}
	return r
}

// models is a stage whose requests asked for two adapters.
func models() *result.Result {
	r := oneStage()
	r.Stages[0].Models = []result.Model{
		{Name: "sql-adapter", Counts: result.TargetCounts{Sent: 700, OK: 700}, Metrics: streamed(700, 1)},
		{Name: "tweet-summary", Counts: result.TargetCounts{Sent: 300, OK: 290, Failed: 10}, Metrics: streamed(290, 4)},
	}
	return r
}

func TestGolden(t *testing.T) {
	files := []string{"plan.yaml", "requests.jsonl.zst", "inputs.jsonl.zst", "result.json", "summary.csv"}
	for _, c := range []struct {
		name string
		r    *result.Result
		o    Options
	}{
		{"one", oneStage(), Options{Subject: "http://host:8000, model m, chat completions, streamed", Dir: "runs/a", Files: files}},
		{"three", threeStages(), Options{Dir: "runs/a"}},
		{"all", oneStage(), Options{All: true}},
		{"color", oneStage(), Options{Color: true}},
		{"targets", targets(), Options{}},
		{"models", models(), Options{}},
		{"undecided", undecided(), Options{All: true}},
		{"empty", &result.Result{Incomplete: true}, Options{}},
	} {
		for _, width := range []int{80, 100, 140} {
			t.Run(fmt.Sprintf("%s-%d", c.name, width), func(t *testing.T) {
				c.o.Width = width
				var buf bytes.Buffer
				if err := Write(&buf, c.r, c.o); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(buf.String()) {
					if w := screen.Width(strings.TrimSuffix(line, "\n")); w > width {
						t.Errorf("line of %d columns: %q", w, line)
					}
				}
				golden(t, fmt.Sprintf("%s-%d.txt", c.name, width), buf.String())
			})
		}
	}
}

func text(t *testing.T, r *result.Result, o Options) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, r, o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestDefaultWidthIs100(t *testing.T) {
	if diff := cmp.Diff(text(t, oneStage(), Options{Width: 100}), text(t, oneStage(), Options{})); diff != "" {
		t.Error(diff)
	}
}

func TestColorChangesNothingElse(t *testing.T) {
	got := text(t, threeStages(), Options{Color: true})
	for _, sequence := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;32m"} {
		got = strings.ReplaceAll(got, sequence, "")
	}
	if diff := cmp.Diff(text(t, threeStages(), Options{}), got); diff != "" {
		t.Error(diff)
	}
}

func TestMissingMetricsAreLeftOut(t *testing.T) {
	r := oneStage()
	r.Stages[0].Steady = nil
	delete(r.Stages[0].Metrics, "time_to_second_token")
	delete(r.Stages[0].Metrics, "input_token_throughput")
	got := text(t, r, Options{All: true})
	for _, absent := range []string{"Time to second token", "Input tokens/s"} {
		if strings.Contains(got, absent) {
			t.Errorf("a metric that was not measured is shown: %s", absent)
		}
	}
	if !strings.Contains(got, "Time to first token") || !strings.Contains(got, "Total tokens/s") {
		t.Error("the others are not shown")
	}
}

func TestVisibleTokenShownWhereItDiffers(t *testing.T) {
	r := oneStage()
	const label = "Time to first visible token"
	if strings.Contains(text(t, r, Options{}), label) {
		t.Error("shown though it is the same as the first token")
	}
	r.Stages[0].Metrics["time_to_first_output_token"] = around("ms", 1390, 400)
	if !strings.Contains(text(t, r, Options{}), label) {
		t.Error("not shown though it differs")
	}
}

// Where every event is one token, what is said of events says nothing new.
func TestEventsShownWhereTheyAreNoTokens(t *testing.T) {
	r := oneStage()
	all := r.Stages[0].Metrics
	all["tokens_per_event"] = result.Stat{Unit: "tokens/event", Count: 1390, Avg: 1, Distribution: &result.Distribution{Min: 1, Max: 1, P50: 1, P99: 1}}
	all["inter_event_latency"] = all["inter_token_latency"]
	for _, label := range []string{"Tokens per event", "Inter-event latency"} {
		if strings.Contains(text(t, r, Options{}), label) {
			t.Errorf("%s is shown though each event is a token", label)
		}
		if !strings.Contains(text(t, r, Options{All: true}), label) {
			t.Errorf("%s is not among all metrics", label)
		}
	}
	all["tokens_per_event"] = around("tokens/event", 1390, 3)
	delete(all, "inter_token_latency") // the tokens of each event are not known
	for _, label := range []string{"Tokens per event", "Inter-event latency"} {
		if !strings.Contains(text(t, r, Options{}), label) {
			t.Errorf("%s is not shown", label)
		}
	}
}

func TestServerTextCannotDriveTheTerminal(t *testing.T) {
	r := oneStage()
	evil := "\x1b[2J\x1b]0;title\a\r\nnext\u202e"
	r.Stages[0].Name, r.Stages[0].Load = evil, evil
	r.Stages[0].Failures[0].Example = evil
	r.Stages[0].Failures[0].Class = record.Class(evil)
	r.Stages[0].Tokens.Tokenizer = evil
	r.Stages[0].Metrics[evil] = rate(evil, 1)
	r.Notes, r.Verdict.Reasons = []string{evil}, []string{evil}
	r.Verdict.Checks[0].Name = evil
	r.Stages = append(r.Stages, r.Stages[0])
	got := text(t, r, Options{All: true, Subject: evil, Dir: evil, Files: []string{evil}})
	if i := strings.IndexAny(got, "\x1b\a\r\u202e"); i >= 0 {
		t.Errorf("control character in %q", got[max(0, i-30):i+10])
	}
}

// broken refuses every write.
type broken struct{}

var errGone = errors.New("gone")

func (broken) Write([]byte) (int, error) { return 0, errGone }

func TestWriteError(t *testing.T) {
	if err := Write(broken{}, oneStage(), Options{}); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}
