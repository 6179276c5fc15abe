package tool

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/live"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// gauge turns how a run goes into what the live view shows. Rates are those since
// a moment ago.
type gauge struct {
	run     string // which of several it is
	state   func() run.Progress
	points  []point
	history *live.History

	newest                   newest // that the sparklines have
	rates, firsts, inFlights []float64

	failing         int                          // the stage whose failures are counted
	earlier, latest map[record.FailureKind]int64 // failures before it, and so far
}

type newest struct{ stage, bins int }

func newGauge(state func() run.Progress) *gauge {
	return &gauge{state: state, history: live.NewHistory(mostBins)}
}

// mostBins is how many times of a run the view remembers: twice as many as a sparkline has
// columns.
const mostBins = 120

// point is what the rates need of an earlier time.
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
		Run: g.run, Stage: p.Stage + 1, Stages: len(p.Stages) + len(p.Coming), Name: stage.Name, Load: result.Load(&stage),
		Phase: progress.Measuring, Elapsed: p.Elapsed, Total: time.Duration(stage.Duration), Done: p.Ended, Limit: stage.Requests,
		Sent: p.Sent, OK: here.OK.Load(), Failed: here.Failed.Load(), InFlight: int(p.InFlight),
		RateWanted: stage.Rate,
		TTFT:       latency(&here.TTFT), ITL: latency(&here.ITL),
		Judged: len(p.Plan.Goodput) > 0, Good: here.Good.Load(), Later: later(p.Later()), Earlier: earlier(&p),
	}
	g.remember(&p, &s)
	if stage.MinRequests > 0 {
		s.Least, s.Total = stage.MinRequests, expected(&stage, p.Ended, p.Elapsed)
	}
	switch {
	case p.Reporting:
		s.Phase = progress.Reporting
		s.Read, s.Size = p.Reading.Bytes()
	case p.Draining:
		s.Phase, s.Least = progress.Draining, 0
	case p.Warming && stage.Warmup == (plan.Warmup{}):
		s.Phase, s.Least, s.Total = progress.Preparing, 0, 0
	case p.Warming:
		s.Phase, s.Least, s.Total, s.Limit = progress.WarmingUp, 0, time.Duration(stage.Warmup.Duration), stage.Warmup.Requests
	}
	if p.Stage != g.failing { // what failed before is in the lines of the stages before
		g.failing, g.earlier = p.Stage, before(p.Failures, g.latest, here.Failures())
	}
	g.latest = p.Failures
	for kind, n := range p.Failures {
		if n -= g.earlier[kind]; n <= 0 {
			continue
		}
		s.Errors = append(s.Errors, progress.ErrorCount{Kind: kind.String(), Count: n})
	}
	slices.SortFunc(s.Errors, func(a, b progress.ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	s.RateGot, s.OutputRate = g.lately(p.At, p.Live)
	return s
}

// before are the failures before a stage: all, but for those of its own, which came since the last look.
func before(all, seen map[record.FailureKind]int64, own map[record.Class]int64) map[record.FailureKind]int64 {
	earlier := maps.Clone(all)
	for kind, n := range all {
		if k := min(n-seen[kind], own[kind.Class]); k > 0 {
			earlier[kind] -= k
			own[kind.Class] -= k
		}
	}
	return earlier
}

// expected is how long a stage will take that has to send a number of requests, going by those that have
// ended; 0: none has by the time that it takes at least.
func expected(s *plan.Stage, ended int64, elapsed time.Duration) time.Duration {
	total := time.Duration(s.Duration)
	if ended >= s.MinRequests {
		return max(total, elapsed)
	}
	if ended == 0 {
		if elapsed > total {
			return 0
		}
		return total
	}
	// The last ones are sent when as many fewer have ended as are in flight.
	last := max(s.MinRequests-int64(s.Concurrency), ended)
	return max(total, time.Duration(float64(elapsed)*float64(last)/float64(ended)).Round(time.Second))
}

// remember adds how the stage went so far, worked out anew with each bin.
func (g *gauge) remember(p *run.Progress, s *progress.Snapshot) {
	g.history.Add(p)
	bins := g.history.Bins()
	if now := (newest{p.Stage, len(bins)}); now != g.newest {
		g.newest, g.rates, g.firsts, g.inFlights = now, nil, nil, nil
		for i := range bins {
			if bins[i].Stage == p.Stage {
				g.draw(&bins[i])
			}
		}
	}
	s.Rates, s.FirstTokens, s.InFlights = g.rates, g.firsts, g.inFlights
}

func (g *gauge) draw(b *live.Bin) {
	first := math.NaN()
	if v, ok := b.TTFT.Quantile(0.5); ok {
		first = float64(v) / float64(time.Millisecond)
	}
	g.rates = append(g.rates, b.Rate(b.Ended))
	g.firsts = append(g.firsts, first)
	g.inFlights = append(g.inFlights, float64(b.InFlight))
}

// later is how long stages will take; below 0: that is not known.
func later(stages []plan.Stage) (sum time.Duration) {
	for _, s := range stages {
		if s.Duration == 0 || s.Requests > 0 || s.Warmup.Requests > 0 {
			return -1
		}
		sum += time.Duration(s.Gap + s.Warmup.Duration + s.Duration)
	}
	return sum
}

// earlier are the last stages before the current one.
func earlier(p *run.Progress) (list []progress.Past) {
	for i := max(p.Stage-pastStages, 0); i < p.Stage && i < len(p.Times); i++ {
		part, span := p.Live.Part(i, record.Measured), p.Times[i]
		past := progress.Past{
			Stage: i + 1, Name: p.Stages[i].Name, Load: result.Load(&p.Stages[i]), Failed: part.Failed.Load(), TTFT: latency(&part.TTFT),
		}
		if span.DrainEnd > span.WarmupEnd && span.DrainEnd != record.NotYet {
			past.Rate = float64(part.OK.Load()) / (span.DrainEnd - span.WarmupEnd).Seconds()
		}
		list = append(list, past)
	}
	return list
}

// pastStages is how many stages the view may show besides the current one.
const pastStages = 3

// lately is requests and tokens per second over the last few seconds.
func (g *gauge) lately(at time.Duration, live *metric.LiveStats) (requests, tokens float64) {
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
