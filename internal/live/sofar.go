package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// running is the word of the verdict of a run that goes on.
const running = "running"

// soFar is the result of a run that goes on, as far as that is known: counts, rates and the
// live quantiles of each stage. Nothing of it is judged.
func soFar(p *run.Progress, version string) *result.Result {
	r := &result.Result{
		Schema: result.Schema, Version: version, Stages: []result.Stage{},
		Verdict: result.Verdict{Status: running, Reasons: []string{}, Checks: []result.Check{}},
	}
	switch {
	case p.Result != nil:
		return p.Result
	case p.Plan == nil:
		return r
	}
	r.Started, r.Duration, r.Host, r.Seed, r.Plan = p.Started, p.At.Seconds(), p.Host, p.Plan.Seed, planfile.Echo(p.Plan)
	for i := range p.Times {
		r.Stages = append(r.Stages, stageSoFar(p, i))
	}
	return r
}

// stageSoFar is what the i-th stage has measured so far.
func stageSoFar(p *run.Progress, i int) result.Stage {
	part, under := p.Live.Part(i, record.Measured), i == p.Stage
	s := result.Stage{
		Index: i, Name: p.Stages[i].Name, Load: result.Load(&p.Stages[i]), Metrics: map[string]result.Stat{},
		Tokens: result.Tokens{Tokenizer: p.Plan.Tokenizer.Name, Input: map[string]int64{}, Output: map[string]int64{}},
		Counts: result.Counts{
			OK: part.OK.Load(), Failed: part.Failed.Load(), UserCancelled: part.UserCancelled.Load(), Sent: part.Ended(),
			Warmup: p.Live.Part(i, record.Warmup).Ended(),
		},
	}
	failures := part.Failures()
	s.Counts.CutOff = failures[record.CutOff]
	if under && !p.Warming {
		s.Counts.Sent += p.InFlight
	}
	for class, n := range failures {
		s.Failures = append(s.Failures, record.FailureCount{Class: class, Count: n})
	}
	slices.SortFunc(s.Failures, func(a, b record.FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	begin, end := p.Times[i].WarmupEnd, min(p.Times[i].DrainEnd, p.At)
	if begin >= end {
		return s
	}
	s.Window = result.Span{Begin: begin.Seconds(), End: end.Seconds()}
	totals := &metric.Totals{
		Begin: begin, End: end, Requests: part.Ended(), OK: part.OK.Load(), Good: part.Good.Load(),
		CutOff: s.Counts.CutOff, UserCancelled: s.Counts.UserCancelled,
		Judged: len(p.Plan.Goodput) > 0, In: part.Input.Load(), Out: part.Output.Load(), InKnown: part.Input.Load(), OutKnown: part.Output.Load(),
		Held: time.Duration(part.Latency.Sum()),
	}
	for _, d := range metric.Defs() {
		if d.Rate == nil {
			continue
		}
		if v, ok := d.Rate(totals); ok {
			s.Metrics[d.ID] = result.Stat{Unit: d.Unit, Avg: v}
		}
	}
	for id, h := range map[string]*stat.Histogram{
		"time_to_first_token": &part.TTFT, "time_to_first_token_from_due": &part.TTFTFromDue, "inter_token_latency": &part.ITL,
		"request_latency": &part.Latency, "request_latency_from_due": &part.LatencyFromDue,
	} {
		if n := h.Count(); n > 0 {
			s.Metrics[id] = result.Stat{Unit: metric.Milliseconds, Count: n, Avg: millis(h.Sum()) / float64(n), Distribution: spread(h)}
		}
	}
	return s
}

func spread(h *stat.Histogram) *result.Distribution {
	at := func(q float64) float64 { return quantile(h, q) }
	return &result.Distribution{
		Min: at(0), Max: at(1), P1: at(0.01), P5: at(0.05), P10: at(0.1), P25: at(0.25), P50: at(0.5),
		P75: at(0.75), P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999),
	}
}
