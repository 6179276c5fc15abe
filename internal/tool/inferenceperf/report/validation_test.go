package report

import (
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

func TestExamine(t *testing.T) {
	good := func() *dialect.Summary {
		dist := func() *dialect.Dist {
			return &dialect.Dist{N: 2, Mean: 2, Min: 1, Max: 3, Ranks: []float64{90, 10}, Percentiles: []float64{2.5, 1.5}}
		}
		return &dialect.Summary{Count: 2, OK: 1, Failed: 1, Delay: dist(), Latency: dist(), Size: dist()}
	}
	for name, c := range map[string]struct {
		change func(s *dialect.Summary)
		want   []Finding
	}{
		"nothing": {change: func(*dialect.Summary) {}},
		"counts":  {func(s *dialect.Summary) { s.Count = 3 }, []Finding{{"f.counts", true, "successes and failures do not add up to the requests", "r"}}},
		"percentiles": {func(s *dialect.Summary) {
			for _, d := range []*dialect.Dist{s.Delay, s.Latency, s.Size} {
				d.Ranks = []float64{10, 90}
			}
		}, nil},
		"mean":          {func(s *dialect.Summary) { s.Size.Mean = 4 }, []Finding{{"f.distributions", true, "successes.request_size_bytes: minimum, mean, percentiles and maximum are not in order", "r"}}},
		"a percentile":  {func(s *dialect.Summary) { s.Size.Percentiles[1] = 0.5 }, []Finding{{"f.distributions", true, "successes.request_size_bytes: minimum, mean, percentiles and maximum are not in order", "r"}}},
		"rounding":      {func(s *dialect.Summary) { s.Size.Mean = 3 + 1e-9 }, nil},
		"sent early":    {func(s *dialect.Summary) { s.Delay.Min = -1 }, []Finding{{"f.distributions", false, "load_summary.schedule_delay: negative minimum -1.0", "r"}}},
		"before it was": {func(s *dialect.Summary) { s.Latency.Min = -1 }, []Finding{{"f.distributions", true, "successes.latency.request_latency: negative minimum -1.0", "r"}}},
	} {
		s := good()
		c.change(s)
		got := ExaminePartial("r", "f", s)
		if name == "percentiles" { // their order is that of the options, whatever that is
			if len(got) != 3 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAcross(t *testing.T) {
	sum := func(n int64) *dialect.Summary { return &dialect.Summary{Count: n, OK: n} }
	rate := func(v float64) *float64 { return &v }
	stages := []StageSummary{{0, sum(2), rate(1)}, {2, sum(3), rate(0.5)}}
	for name, c := range map[string]struct {
		got  []Finding
		want []string
	}{
		"clean":       {Across(sum(2), stages[:1], 1, 2), nil},
		"not sent":    {Across(sum(5), stages, 3, -1), []string{"cross_report.stage_rates", "cross_report.configured_stages"}},
		"lost":        {Across(sum(6), stages[:1], 0, -1), []string{"cross_report.stage_totals"}},
		"entries":     {Across(sum(2), nil, 0, 1), []string{"cross_report.per_request_count"}},
		"no summary":  {Across(nil, stages[:1], 1, 9), nil},
		"no requests": {Across(nil, nil, 2, -1), nil},
	} {
		var checks []string
		for _, f := range c.got {
			checks = append(checks, f.Check)
			if f.Report != "" || f.Message == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if diff := cmp.Diff(c.want, checks); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Entries of single requests are looked at one by one, and told of together.
func TestEntriesAreExamined(t *testing.T) {
	r := NewRequests(io.Discard, Fields{}, &dialect.Options{})
	for _, v := range []dialect.Values{
		{Start: 1, End: 2, Client: 10, Server: 10, ServerOut: true, TokenTimes: []time.Duration{1, 2}},
		{Start: 2, End: 1},
		{Start: 1, End: 9, Client: 10, Server: 20, ServerOut: true, TokenTimes: []time.Duration{3, 2}},
		{Start: 1, End: 9, TokenTimes: []time.Duration{2, 10}},
	} {
		r.values = v
		r.examine(new(record.Record))
		r.n++
	}
	want := []Finding{
		{"per_request.timestamps", true, "1 entries have end_time before start_time, the first of them are [1]", PerRequestFile},
		{"per_request.token_times", true, "1 entries have output token timestamps that are out of order, the first of them are [2]", PerRequestFile},
		{"per_request.token_times", true, "1 entries have output token timestamps outside start_time and end_time, the first of them are [3]", PerRequestFile},
		{"per_request.token_agreement", false, "1 entries have output token counts from client and server that differ by more than 25 %, the first of them are [2]", PerRequestFile},
	}
	if diff := cmp.Diff(want, r.Findings()); diff != "" || r.Len() != 4 {
		t.Errorf("%d entries: %s", r.Len(), diff)
	}
}
