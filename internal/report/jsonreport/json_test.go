package jsonreport_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sample() *result.Result {
	latency := result.Stat{Unit: "ms", Count: 12, Avg: 51.25, LowSamples: []string{"p99", "p99.9"}, Distribution: &result.Distribution{
		Min: 1, Max: 100, Std: 3, P1: 1, P5: 5, P10: 10, P25: 25, P50: 50, P75: 75, P90: 90, P95: 95, P99: 99, P999: 99.9,
	}}
	return &result.Result{
		Schema: result.Schema, Version: "0.1.0", Started: time.Date(2026, 11, 15, 13, 10, 0, 0, time.UTC), Duration: 30.5, Seed: 7,
		Plan:    map[string]any{"version": 1, "target": map[string]any{"urls": []any{"http://host:8000"}}, "stages": []any{map[string]any{"rate": 12.5}}},
		Verdict: result.Verdict{Status: result.Invalid, Reasons: []string{"lag <p99> & more"}, Checks: []result.Check{{Stage: -1, Name: "lag", Value: 2, Budget: 1, Unit: "ms"}}},
		Stages: []result.Stage{{
			Load: "4 in flight", Counts: result.Counts{Sent: 13, OK: 12, Failed: 1},
			Failures: []record.FailureCount{{Class: "http_status", Status: 503, Count: 1, Example: "busy"}},
			Tokens:   result.Tokens{Tokenizer: "words", Input: map[string]int64{"tokenizer": 12}, Output: map[string]int64{"server": 11, "events": 1}},
			Goodput:  []result.SLO{{Metric: "request_latency", MaxMS: 100, Met: 12, Of: 13}},
			Window:   result.Span{Begin: 1, End: 30},
			Metrics:  map[string]result.Stat{"request_latency": latency, "request_throughput": {Unit: "requests/sec", Avg: 0.4}},
			Targets: []result.Target{
				{URL: "http://a:8000", Counts: result.TargetCounts{Sent: 7, OK: 6, Failed: 1}, Metrics: map[string]result.Stat{"request_latency": latency}},
				{URL: "http://b:8000", Counts: result.TargetCounts{Sent: 6, OK: 6}, Metrics: map[string]result.Stat{"request_throughput": {Unit: "requests/sec", Avg: 0.2}}},
			},
			Steady: &result.Steady{Window: result.Span{Begin: 2, End: 29}, Metrics: map[string]result.Stat{"request_latency": latency}},
		}},
	}
}

func TestGolden(t *testing.T) {
	var buf bytes.Buffer
	if err := jsonreport.Write(&buf, sample()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "result.json")
	if *update {
		if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), buf.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadsBackEqual(t *testing.T) {
	want := sample()
	want.Plan = nil
	var buf bytes.Buffer
	if err := jsonreport.Write(&buf, want); err != nil {
		t.Fatal(err)
	}
	var got result.Result
	if err := json.Unmarshal(buf.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSameBytesEachTime(t *testing.T) {
	var first bytes.Buffer
	if err := jsonreport.Write(&first, sample()); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		var next bytes.Buffer
		if err := jsonreport.Write(&next, sample()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), next.Bytes()) {
			t.Fatal("equal results gave different bytes")
		}
	}
}

func TestNoNullForWhatIsEmpty(t *testing.T) {
	r := &result.Result{Plan: map[string]any{}, Stages: []result.Stage{{Steady: &result.Steady{}, Verdict: &result.StageVerdict{}}}}
	var buf bytes.Buffer
	if err := jsonreport.Write(&buf, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(buf.String(), "null") {
		t.Errorf("null in:\n%s", &buf)
	}
	if r.Verdict.Reasons != nil || r.Stages[0].Metrics != nil || r.Stages[0].Steady.Metrics != nil || r.Stages[0].Verdict.Reasons != nil {
		t.Error("the result was changed")
	}
	buf.Reset()
	if err := jsonreport.Write(&buf, &result.Result{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(buf.String(), `"stages": []`) {
		t.Errorf("no empty list of stages in:\n%s", &buf)
	}
}

// stat changes one metric of the first stage.
func stat(change func(*result.Stat)) func(*result.Result) {
	return func(r *result.Result) {
		m := r.Stages[0].Metrics["request_latency"]
		change(&m)
		r.Stages[0].Metrics["request_latency"] = m
	}
}

func TestNotFiniteIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	const latency = "stages[0].metrics.request_latency"
	for field, spoil := range map[string]func(*result.Result){
		"duration_s":                     func(r *result.Result) { r.Duration = nan },
		"plan.stages[0].rate":            func(r *result.Result) { r.Plan.(map[string]any)["stages"].([]any)[0].(map[string]any)["rate"] = inf },
		"verdict.checks[0].value":        func(r *result.Result) { r.Verdict.Checks[0].Value = inf },
		"verdict.checks[0].budget":       func(r *result.Result) { r.Verdict.Checks[0].Budget = nan },
		"stages[0].goodput[0].max_ms":    func(r *result.Result) { r.Stages[0].Goodput[0].MaxMS = nan },
		"stages[0].window.begin_s":       func(r *result.Result) { r.Stages[0].Window.Begin = nan },
		"stages[0].steady.window.end_s":  func(r *result.Result) { r.Stages[0].Steady.Window.End = nan },
		"stages[0].steady.metrics.x.avg": func(r *result.Result) { r.Stages[0].Steady.Metrics["x"] = result.Stat{Avg: inf} },
		latency + ".avg":                 stat(func(s *result.Stat) { s.Avg = nan }),
		latency + ".min":                 stat(func(s *result.Stat) { s.Min = nan }),
		latency + ".max":                 stat(func(s *result.Stat) { s.Max = nan }),
		latency + ".std":                 stat(func(s *result.Stat) { s.Std = nan }),
		latency + ".p1 ":                 stat(func(s *result.Stat) { s.P1 = nan }),
		latency + ".p5 ":                 stat(func(s *result.Stat) { s.P5 = nan }),
		latency + ".p10":                 stat(func(s *result.Stat) { s.P10 = nan }),
		latency + ".p25":                 stat(func(s *result.Stat) { s.P25 = nan }),
		latency + ".p50":                 stat(func(s *result.Stat) { s.P50 = nan }),
		latency + ".p75":                 stat(func(s *result.Stat) { s.P75 = nan }),
		latency + ".p90":                 stat(func(s *result.Stat) { s.P90 = nan }),
		latency + ".p95":                 stat(func(s *result.Stat) { s.P95 = nan }),
		latency + ".p99 ":                stat(func(s *result.Stat) { s.P99 = nan }),
		latency + ".p99.9 ":              stat(func(s *result.Stat) { s.P999 = nan }),
	} {
		r := sample()
		spoil(r)
		var buf bytes.Buffer
		err := jsonreport.Write(&buf, r)
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not say %q", err, field)
		}
		if buf.Len() != 0 {
			t.Errorf("%s: something was written: %q", field, buf.String())
		}
	}
}

func TestPlanThatIsNoJSON(t *testing.T) {
	r := sample()
	r.Plan = func() {}
	if err := jsonreport.Write(&bytes.Buffer{}, r); err == nil || !strings.Contains(err.Error(), "encode JSON report") {
		t.Errorf("got %v", err)
	}
}

// broken refuses every write.
type broken struct{}

var errGone = errors.New("gone")

func (broken) Write([]byte) (int, error) { return 0, errGone }

func TestWriteError(t *testing.T) {
	if err := jsonreport.Write(broken{}, sample()); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}
