package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestMeasurementReadsOnTopOfItsDefaults(t *testing.T) {
	p, err := load("p", []byte(`
stages: [{concurrency: 1}]
levels: {start: 1, end: 8, step: 1, search: binary}
measurement: {mode: count, requests: 20, percentile: 95, latency_threshold: 100ms, stability: 999%}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := plan.DefaultMeasurement()
	want.Mode, want.Requests, want.Percentile, want.Stability = plan.WindowCount, 20, 95, 9.99
	want.LatencyThreshold = second / 10
	if diff := cmp.Diff(want, p.Measurement); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plan.Levels{Start: 1, End: 8, Step: 1, Search: plan.SearchBinary}, p.Levels); diff != "" {
		t.Error(diff)
	}
	out, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := load("out", out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("printed and read again: %s\n%s", diff, out)
	}
}

func TestMeasurementByField(t *testing.T) {
	d := NewDraft()
	d.Plan.Stages[0].Duration = 0
	d.Put("measurement.interval", "--window", "2s")
	d.Put("levels.list[0]", "--levels", "2")
	p, err := d.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if p.Measurement.Mode != plan.WindowTime || p.Measurement.Interval != 2*second || p.Measurement.MaxTrials != 10 || p.Levels.List[0] != 2 {
		t.Errorf("got %+v, %+v", p.Measurement, p.Levels)
	}
}

func TestMeasurementFaults(t *testing.T) {
	for _, c := range []struct{ plan, want string }{
		{"measurement: {mode: tim}", `measurement.mode: unknown value "tim"; did you mean "time"?`},
		{"measurement: {interval: 0}", "measurement.interval: a window by time needs one"},
		{"measurement: {mode: count, requests: 0}", "measurement.requests: a window by count needs one"},
		{"measurement: {percentile: 100}", "measurement.percentile: must be from 1 to 99, is 100"},
		{"measurement: {windows: 0}", "measurement.windows: must be from 1"},
		{"measurement: {max_trials: 0}", "measurement.max_trials: must be from 1"},
		{"measurement: {stability: -1}", "measurement.stability:"},
		{"measurement: {mode: stage}\nstages: [{concurrency: 1}]", "the load has no end"},
		{"stages: [{concurrency: 1}]", "the load has no end"},
		{"stages: [{arrival: intervals, requests: 5}]", "stages[0].intervals: are missing"},
		{"stages: [{arrival: intervals, intervals: [0s], requests: 5}]", "stages[0].intervals: add up to 0"},
		{"stages: [{arrival: intervals, intervals: [1ms]}]", "stages[0].intervals: the load has no end"},
		{"stages: [{rate: 5, intervals: [1ms], requests: 5}]", "stages[0].intervals: only for arrival: intervals"},
		{"stages: [{arrival: intervals, intervals: [1ms], concurrency: 5, requests: 5}]", "stages[0].intervals: cannot be combined with concurrency"},
		{"levels: {list: [1, 2.5]}", "levels.list[1]: a concurrency is a whole number"},
		{"levels: {list: [0]}", "levels.list[0]: must be more than 0"},
		{"levels: {list: [1], start: 1, step: 1}", "levels: a list and a range cannot be combined"},
		{"levels: {start: 1, step: 1}", "levels.end: open-ended levels need a latency threshold"},
		{"levels: {start: 4, end: 2, step: 1}", "levels.end: 2 is below the start, 4"},
		{"levels: {start: 1, end: 2}", "levels.step: must be more than 0"},
		{"levels: {start: 1, end: 9, step: 1, search: binary}", "a binary search needs a latency threshold"},
		{"levels: {start: 1, step: 1, search: binary}\nmeasurement: {latency_threshold: 1s}", "levels.end: a binary search needs one"},
		{"levels: {start: 1, end: 900000, step: 1}", "levels.step: makes more than 10000 levels"},
		{"levels: {start: 1, end: 2, step: 1, search: x}", "levels.search: unknown value"},
		{"stages: [{rate: 1, duration: 1s}, {rate: 2, duration: 1s}]\nlevels: {list: [1]}", "levels: make stages of one, and there are 2"},
	} {
		_, err := load("p", []byte(c.plan))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.plan, err, c.want)
		}
	}
}

func TestIntervals(t *testing.T) {
	p, err := load("p", []byte("stages: [{arrival: intervals, intervals: [10ms, 30ms], requests: 5}]"))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stages[0]; s.PerSecond() != 50 || len(s.Intervals) != 2 {
		t.Errorf("got %+v, %v a second", s, s.PerSecond())
	}
	if (plan.Stage{Rate: 3}).PerSecond() != 3 {
		t.Error("a rate is not its own")
	}
}
