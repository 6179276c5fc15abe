package build

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
)

const (
	// leastSteady is how many requests it takes to call a stage steady.
	leastSteady = 20
	// leastWaves is how often as many requests as are in flight must have been sent.
	leastWaves = 2
	// mostUnresolved is the relative change at half time that must not go unseen: to threefold.
	mostUnresolved = 2.0
)

// steady judges whether a stage was steady: whether the requests that came first were
// served as those that came later. A load that is meant to change is not judged.
func (j *judge) steady(i int, mark *record.StageSummary, sum *metric.StageStats) {
	stage := &j.plan.Stages[i]
	if sum.Series == nil || stage.RampTo > 0 || stage.Growth.On() {
		return
	}
	if n := sum.Warmup; stage.Warmup.Auto && mark != nil && n > 0 {
		j.addNote(i, "The first %s (%s) turned out to be warm-up and are not in the figures.", number.Span(mark.WarmupEnd-mark.Begin), number.Plural(n, "request"))
	}
	trends, change := sum.Series.Trends(), ""
	if slices.ContainsFunc(trends, func(t metric.Trend) bool { return t.Found(j.plan.Budgets.Drift) }) {
		change = j.settling(i, sum.Series)
	}
	for k := range trends {
		j.trend(i, &trends[k], sum.Series, change)
	}
}

// trend judges one trend. change says what to do about it.
func (j *judge) trend(i int, t *metric.Trend, s *metric.Series, change string) {
	c, what := trendCheck(t.Of)
	c.Stage, c.Unit = i, metric.Share
	c.Value, c.Budget = t.Effect, max(j.plan.Budgets.Drift, t.Noise)
	few, do := fewFor(t, s)
	parts := "requests"
	if t.Of == metric.FlowTrend {
		parts = "time"
	}
	switch {
	case t.Found(j.plan.Budgets.Drift):
		c.Fix = change
		j.check(c, fmt.Sprintf("%s after %s of the %s: the server was not steady (drift %s, budget %s).",
			moved(what, t.Change), number.Percent(t.Share), parts, number.Percent(t.Effect), number.Percent(c.Budget)))
	case few != "" && j.plan.Measurement.On(): // its windows are held against one another
	case few != "":
		c.Fix = do
		j.undecided(c, few)
	default:
		c.OK = true
		j.check(c, "")
	}
}

// trendCheck is the check of a trend, and what it is about in words.
func trendCheck(of string) (result.Check, string) {
	switch of {
	case metric.TTFTTrend:
		return result.Check{Name: "ttft_drift"}, "Time to first token"
	case metric.TPOTTrend:
		return result.Check{Name: "tpot_drift"}, "Time per output token"
	case metric.FlowTrend:
		return result.Check{Name: "throughput_drift"}, "The flow of responses"
	default:
		return result.Check{Name: "latency_drift"}, "Request latency"
	}
}

func moved(what string, change float64) string {
	switch {
	case change <= -0.995:
		return what + " stopped"
	case change < 0:
		return fmt.Sprintf("%s fell by %s", what, number.Percent(-change))
	case change > 1:
		return fmt.Sprintf("%s rose %.2g-fold", what, min(1+change, 99))
	default:
		return fmt.Sprintf("%s rose by %s", what, number.Percent(change))
	}
}

func tooFew(n int64) string {
	if n == 1 {
		return " is too little to tell whether the server was steady."
	}
	return " are too few to tell whether the server was steady."
}

// fewFor says why a trend cannot be told from chance, and what would do; nothing where it
// can.
func fewFor(t *metric.Trend, s *metric.Series) (why, do string) {
	n, flight := s.Requests(), s.InFlight()
	waves := int64(math.Ceil(max(leastSteady, (leastWaves+1)*flight)))
	send := func(n int64) string { return fmt.Sprintf("Send at least %d.", n) }
	switch {
	case n < leastSteady:
		return number.Plural(n, "measured request") + tooFew(n), send(waves)
	case t.Blocks < 2 && float64(n) < leastWaves*flight:
		return fmt.Sprintf("%s with %.3g in flight at a time%s", number.Plural(n, "measured request"), flight, tooFew(n)), send(waves)
	case t.Blocks < 2:
		_, what := trendCheck(t.Of)
		return fmt.Sprintf("%s is known for too few requests (%d) to tell whether it was steady.", what, t.Values), send(waves)
	case t.Resolved > mostUnresolved:
		_, what := trendCheck(t.Of)
		more := min(t.Resolved/mostUnresolved, 10)
		return fmt.Sprintf("%s varies so much that with %s even a %.2g-fold change would look like chance.", what, number.Plural(n, "request"), 1+t.Resolved),
			send(max(waves, int64(math.Ceil(float64(n)*more*more/10))*10))
	}
	return "", ""
}

// settling says what to do about a stage that is not steady.
func (j *judge) settling(i int, s *metric.Series) string {
	warmup, n, ok := s.WarmupNeeded(j.plan.Budgets.Drift)
	loops := metric.OptionsFor(j.plan)
	switch {
	case ok:
		length := number.Plural(n, "request")
		if warmup >= time.Second {
			length = fmt.Sprintf("%v (%s)", (warmup + 100*time.Millisecond - 1).Truncate(100*time.Millisecond), length) // no shorter
		}
		return j.words(message.New("A warm-up of %s would have been enough: %v.", length,
			message.New("%v removes it", message.AutoWarmup).Or("use %v %d", message.Warmup, n).Or("send that much load first")))
	case !loops.ClosedLoop(i):
		return "The server may not keep up with the load: lower it, or make the stage longer."
	default:
		return "Find out what changed in the server, or make the stage longer."
	}
}

// DetectWarmup gives the marks of a run with the warm-ups that its plan leaves to be found: the
// end of each is where the stage settled. changed: there is one.
func DetectWarmup(p *plan.Plan, marks []record.StageSummary,
	fold *metric.Aggregator) (settled []record.StageSummary, changed bool, err error) {
	sums, err := fold.Summarize(stat.Linear)
	if err != nil {
		return nil, false, fmt.Errorf("work out where the stages settled: %w", err)
	}
	settled = slices.Clone(marks)
	for i := range p.Stages {
		if !p.Stages[i].Warmup.Auto || i >= len(sums) || sums[i].Series == nil {
			continue
		}
		if m := record.FindStage(settled, i); m != nil {
			if at, ok := sums[i].Series.SettledAt(p.Budgets.Drift); ok {
				m.WarmupEnd, changed = at, true
			}
		}
	}
	return settled, changed, nil
}
