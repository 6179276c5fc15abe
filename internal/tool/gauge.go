package tool

import (
	"cmp"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// gauge turns how a run goes into what the live view shows. Rates are those since
// a moment ago.
type gauge struct {
	state  func() run.Progress
	points []point
}

// point is what the rates need of an earlier moment.
type point struct {
	at            time.Duration
	ended, tokens int64
}

// rateSpan is how far back the rates look.
const rateSpan = 3 * time.Second

// snapshot implements what progress.Display wants. It is called from one goroutine.
func (g *gauge) snapshot() progress.Snapshot {
	p := g.state()
	stage, here := p.Stages[p.Stage], p.Part()
	s := progress.Snapshot{
		Stage: p.Stage + 1, Stages: len(p.Stages), Name: stage.Name, Load: result.Load(&stage),
		Phase: progress.Measuring, Elapsed: p.Elapsed, Total: time.Duration(stage.Duration), Done: p.Ended, Limit: stage.Requests,
		Sent: p.Sent, OK: here.OK.Load(), Failed: here.Failed.Load(), InFlight: int(p.InFlight),
		RateWanted: stage.Rate,
		TTFT:       latency(&here.TTFT), ITL: latency(&here.ITL),
	}
	switch {
	case p.Reporting:
		s.Phase = progress.Reporting
	case p.Draining:
		s.Phase = progress.Draining
	case p.Warming && stage.Warmup == (plan.Warmup{}):
		s.Phase, s.Total = progress.Preparing, 0
	case p.Warming:
		s.Phase, s.Total, s.Limit = progress.WarmingUp, time.Duration(stage.Warmup.Duration), stage.Warmup.Requests
	}
	for class, n := range p.Failures {
		s.Errors = append(s.Errors, progress.Error{Class: string(class), Count: n})
	}
	slices.SortFunc(s.Errors, func(a, b progress.Error) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	s.RateGot, s.OutputRate = g.rates(p.At, p.Live)
	return s
}

// rates are requests and tokens per second over the last few seconds.
func (g *gauge) rates(at time.Duration, live *metric.Live) (requests, tokens float64) {
	now := point{at: at}
	for _, s := range live.Stages() {
		for i := range s {
			now.ended += s[i].Ended()
			now.tokens += s[i].Output.Load()
		}
	}
	g.points = append(g.points, now)
	for len(g.points) > 2 && now.at-g.points[1].at >= rateSpan {
		g.points = g.points[1:]
	}
	then := g.points[0]
	span := (now.at - then.at).Seconds()
	if span <= 0 {
		return 0, 0
	}
	return float64(now.ended-then.ended) / span, float64(now.tokens-then.tokens) / span
}

func latency(h *stat.Histogram) progress.Latency {
	p50, ok := h.Quantile(0.5)
	if !ok {
		return progress.Latency{}
	}
	p99, _ := h.Quantile(0.99)
	return progress.Latency{P50: time.Duration(p50), P99: time.Duration(p99)}
}
