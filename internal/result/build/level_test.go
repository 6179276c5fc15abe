package build

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep"
)

// A search by a latency threshold says in a sentence what it has found.
func TestSearchedLevels(t *testing.T) {
	const ms = time.Millisecond
	m := plan.DefaultMeasurement()
	m.Windows, m.LatencyThreshold = 1, plan.Duration(20*ms)
	level := func(value float64, took time.Duration) *sweep.Level {
		edges := []record.Edge{{Level: value}, {Level: value, At: time.Second, Trial: 1}}
		return sweep.FromEdges(m, edges, []sweep.Sample{{Sent: 1, End: took, Responses: 1, Closed: took}}, record.StopStable)
	}
	for want, levels := range map[string][]*sweep.Level{
		"The highest level below the latency threshold of 20 ms is concurrency 4: latency is 10 ms, with 1 requests/s; at 6, latency is 30 ms.": {level(1, 5*ms), level(8, 40*ms), level(4, 10*ms), level(6, 30*ms)},
		"All levels are below the latency threshold of 20 ms, up to concurrency 4: latency is 10 ms there, with 1 requests/s.":                  {level(1, 5*ms), level(4, 10*ms)},
		"No level is stable and below the latency threshold of 20 ms: at concurrency 4, latency is 40 ms.":                                      {level(8, 50*ms), level(4, 40*ms), nil},
		"": nil,
	} {
		p := plan.Default()
		p.Measurement = m
		asked := p
		asked.Levels.List = []float64{1}
		j := &judge{plan: &p, facts: &Inputs{OriginalPlan: &asked}, result: &result.Result{}}
		j.searched(levels)
		if got := strings.Join(j.grouped(j.notes), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Streams that all end without a response are no failures, and yet there is nothing to report.
func TestWindowsWithoutResponses(t *testing.T) {
	const silent = "No request had a response: 2 streams ended without one, so there is no latency."
	for name, c := range map[string]struct {
		ended     record.StopReason
		responses int
		want      string
	}{
		"a number of requests":                     {record.StopWhole, 0, silent},
		"windows":                                  {record.StopEmpty, 0, silent},
		"a number of requests that had them":       {record.StopWhole, 1, ""},
		"windows that agree, of requests with one": {record.StopStable, 1, ""},
	} {
		p := plan.Default()
		p.Measurement = plan.DefaultMeasurement()
		p.Measurement.Windows = 1
		samples := []sweep.Sample{{Sent: 1, End: 2, Responses: c.responses}, {Sent: 2, End: 3, Responses: c.responses}}
		j := &judge{plan: &p, facts: &Inputs{}, result: &result.Result{}}
		j.windows(0, sweep.FromEdges(p.Measurement, []record.Edge{{}, {At: time.Second, Trial: 1}}, samples, c.ended))
		got := ""
		for _, check := range j.checks {
			got += check.Reason
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
