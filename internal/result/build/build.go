// Package build makes the result of a run from its plan, its records and what else is known of it, and judges it.
package build

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/sweep"
)

// Inputs are what a result is made of besides the requests.
type Inputs struct {
	Header      record.Header
	Stages      []record.StageSummary
	Health      []record.Health
	Interrupted bool // the user stopped it
	Incomplete  bool // the run did not end properly: records end where they were cut

	Missing []string // workers whose records are not among these

	OriginalPlan *plan.Plan     // the plan before its levels became stages; nil means the plan of the result
	Edges        []record.Edge  // of measurement windows
	Levels       []*sweep.Level // by stage, of a measurement in windows
	Probes       []record.Probe // what servers said of themselves
	Pages        *Pages         // what their metrics said; optional
	GPUs         *GPUs          // what was read of their power; optional

	Saturation *sweep.Saturation // what the search for it has found, or nil
	Capacity   *Capacity         // what the search for it has seen, or nil

	Sessions map[int]SessionTally // how recorded sessions were played, by stage

	Names message.Names // what the users of the tool call things that the result speaks of
}

// Result makes the result of a run from its plan, its facts and the fold of all its
// records.
func Result(p *plan.Plan, f Inputs, fold *metric.Aggregator) (*result.Result, error) {
	sums, err := fold.Summarize(stat.Linear)
	if err != nil {
		return nil, fmt.Errorf("work out the metrics: %w", err)
	}
	for i := range sums {
		if err := fold.Intervals(i, &sums[i]); err != nil {
			return nil, err
		}
	}
	return build(p, f, fold, sums)
}

// build makes it from what the records have come to.
func build(p *plan.Plan, f Inputs, fold *metric.Aggregator, sums []metric.StageStats) (*result.Result, error) {
	opts := metric.OptionsFor(p)
	r := &result.Result{
		Schema:      result.Schema,
		Name:        p.Name,
		Version:     f.Header.Version,
		RunID:       f.Header.Run,
		Started:     f.Header.Start,
		Interrupted: f.Interrupted,
		Incomplete:  f.Incomplete,
		Seed:        f.Header.Seed,
		Host:        f.Header.Host,
		Plan:        planfile.Echo(cmp.Or(f.OriginalPlan, p)),
	}
	r.Saturation = f.Saturation
	if c := f.Header.Calibration; c != nil {
		r.Calibration = &result.Calibration{Calibration: *c}
	}
	r.Connection = connection(&f.Header)
	j := &judge{plan: p, facts: &f, result: r}
	j.runNotes(fold)
	j.connection()
	j.complete()
	j.saturation(f.Saturation)
	j.searched(f.Levels)
	j.clock()
	var end time.Duration
	for i := range p.Stages {
		sum := element(sums, i)
		mark := record.FindStage(f.Stages, i)
		bill := f.charge(p, &sum)
		st := buildStage(p, i, mark, &sum)
		st.Cost = bill
		st.Server = buildServer(p, i, f.Probes, &sum.All)
		st.Services = f.Pages.services(p, i)
		st.Workers = workers(f.Header.Workers, &sum)
		if l := element(f.Levels, i); l != nil {
			st.Level = &result.WindowStats{Level: l}
		}
		barsOf(&f, &sum.Whole, opts.ClosedLoop(i)).add(st.Metrics, &sum.Whole)
		if st.Steady != nil {
			barsOf(&f, sum.Steady, opts.ClosedLoop(i)).add(st.Steady.Metrics, sum.Steady)
		}
		if f.Names.Stage != nil {
			st.Name = f.Names.Stage(i)
		}
		r.Stages = append(r.Stages, st)
		j.stage(i, mark, &sum)
		j.windows(i, element(f.Levels, i))
		j.server(i, st.Server, &sum.All)
		j.services(i, st.Services)
		j.cacheHit(i, &sum, st.Services)
		j.cost(i, st.Cost)
		end = max(end, sum.Whole.Totals.End)
		if mark != nil {
			end = max(end, mark.DrainEnd)
		}
	}
	if f.Capacity != nil {
		r.Capacity = f.Capacity.answer(r.Stages)
		j.capacity(r.Capacity)
	}
	j.submission(sums)
	r.Services = f.Pages.services(p, record.WholeRun)
	r.Duration = end.Seconds()
	hold(r.Calibration, r.Stages)
	r.Verdict = j.verdict()
	r.Notes = j.grouped(j.notes)
	return r, nil
}

// Stage makes stage i of a result alone, from the fold of all its records, without
// what servers say, without error bars and without a verdict.
func Stage(p *plan.Plan, marks []record.StageSummary, i int, fold *metric.Aggregator) (*result.Stage, error) {
	sums, err := fold.Summarize(stat.Linear)
	if err != nil {
		return nil, fmt.Errorf("work out the metrics: %w", err)
	}
	sum := element(sums, i)
	if err := fold.Intervals(i, &sum); err != nil {
		return nil, err
	}
	st := buildStage(p, i, record.FindStage(marks, i), &sum)
	return &st, nil
}

// element is element i of a list; the zero value where it is not that long.
func element[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}

func buildStage(p *plan.Plan, i int, mark *record.StageSummary, sum *metric.StageStats) result.Stage {
	s := result.Stage{
		Index:   i,
		Name:    result.StageName(p, i),
		Load:    result.Load(&p.Stages[i]),
		Counts:  counts(&sum.Whole.Totals),
		Tokens:  tokens(p, sum),
		Window:  spanOf(&sum.Whole.Totals),
		Metrics: stats(&sum.Whole),
		Targets: targets(p, sum),
		Models:  models(p, sum),

		Failures: sum.Failures,
	}
	s.Counts.Warmup, s.Counts.Resent = sum.Warmup, sum.Counts.Resent
	s.Concurrency, s.Rate = constant(&p.Stages[i])
	if mark != nil {
		s.Ended = mark.Reason
		s.Counts.Scheduled, s.Counts.Waited, s.Counts.Unsent = mark.Scheduled, mark.Waited, mark.Unsent
		s.Counts.RetryAfter, s.Counts.RetryAfterWait = mark.RetryAfterWaits, mark.HeededFor.Seconds()
	}
	for _, o := range sum.Objectives {
		s.Goodput = append(s.Goodput, result.SLO{Metric: o.Metric, MaxMS: result.Millis(time.Duration(o.Max)), Met: o.Met,
			Of: sum.Whole.Totals.Stayed()})
	}
	if sum.Steady != nil {
		s.Steady = &result.Steady{
			Window:  spanOf(&sum.Steady.Totals),
			Counts:  counts(&sum.Steady.Totals),
			Metrics: stats(sum.Steady),
		}
	}
	return s
}

// targets are the replicas of a stage, where there are several.
func targets(p *plan.Plan, sum *metric.StageStats) []result.Target {
	if len(p.Target.URLs) < 2 {
		return nil
	}
	var list []result.Target
	for i, url := range p.Target.URLs {
		w := element(sum.Targets, i)
		list = append(list, result.Target{URL: plan.SafeURL(url), Counts: partCounts(&w), Metrics: stats(&w)})
	}
	return list
}

func models(p *plan.Plan, sum *metric.StageStats) []result.Model {
	var list []result.Model
	for i, a := range p.Data.Adapters {
		w := element(sum.Models, i)
		list = append(list, result.Model{Name: a.Name, Counts: partCounts(&w), Metrics: stats(&w)})
	}
	return list
}

// workers are the processes that sent the requests of a stage.
func workers(list []record.WorkerInfo, sum *metric.StageStats) []result.Worker {
	var out []result.Worker
	for i, info := range list {
		w := element(sum.Workers, i)
		out = append(out, result.Worker{Name: info.Name, Counts: partCounts(&w), Metrics: stats(&w)})
	}
	return out
}

func partCounts(w *metric.Stats) result.TargetCounts {
	return result.TargetCounts{Sent: w.Totals.Requests, OK: w.Totals.OK, Failed: w.Totals.Failed(), UserCancelled: w.Totals.UserCancelled}
}

// constant is the concurrency or the rate of a stage that does not change it.
func constant(s *plan.Stage) (concurrency int, rate float64) {
	switch {
	case s.RampTo > 0 || s.Growth.On() || s.Arrival == plan.ArrivalTrace || s.Arrival == plan.ArrivalSessions:
		return 0, 0
	case s.Concurrency > 0:
		return s.Concurrency, 0
	}
	return 0, s.PerSecond()
}

func counts(t *metric.Totals) result.Counts {
	return result.Counts{Sent: t.Requests, OK: t.OK, Failed: t.Failed(), CutOff: t.CutOff, UserCancelled: t.UserCancelled}
}

func spanOf(t *metric.Totals) result.Span {
	return result.Span{Begin: t.Begin.Seconds(), End: t.End.Seconds()}
}

func tokens(p *plan.Plan, sum *metric.StageStats) result.Tokens {
	of := func(requests [4]int64) map[string]int64 {
		m := map[string]int64{}
		for source, n := range requests {
			if n > 0 {
				m[record.Source(source).String()] = n
			}
		}
		return m
	}
	t := result.Tokens{Tokenizer: p.Tokenizer.Name, Input: of(sum.Counts.Sources[0]), Output: of(sum.Counts.Sources[1])}
	made := p.Data.Source == plan.SourceSynthetic || p.Data.Source == plan.SourceRandom
	if c := &sum.Counts; made && c.Both[0] > 0 && c.Own[0] > 0 {
		n := float64(c.Both[0])
		t.Prompts = &result.PromptLength{Requested: float64(c.Own[0]) / n, Counted: float64(c.Server[0]) / n}
	}
	return t
}

// stats writes a window's metrics down, but for what is not finite, which has no place in JSON.
func stats(w *metric.Stats) map[string]result.Stat {
	out := make(map[string]result.Stat, len(w.Stats))
	for id, s := range w.Stats {
		st := result.Stat{Unit: s.Def.Unit, Count: s.N, Avg: s.Avg, Intervals: intervals(&s)}
		if q := s.Quantiles; q != nil {
			st.Distribution = &result.Distribution{
				Min: s.Min, Max: s.Max, Std: s.Std,
				P1: q[0], P5: q[1], P10: q[2], P25: q[3], P50: q[4],
				P75: q[5], P90: q[6], P95: q[7], P99: q[8], P999: q[9],
			}
			st.LowSamples = thin(s.N)
			st.Censored, st.AtLeast = s.Censored, atLeast(&s)
		}
		if finite(append([]float64{s.Avg, s.Min, s.Max, s.Std}, s.Quantiles...)) {
			out[id] = st
		}
	}
	return out
}

func finite(vals []float64) bool {
	return !slices.ContainsFunc(vals, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// thin are the percentiles for which n samples are too few.
func thin(n int64) []string {
	var names []string
	for _, p := range metric.Percentiles() {
		if n < stat.MinSamples(p.Quantile) {
			names = append(names, p.Name)
		}
	}
	return names
}

// intervals are the intervals of sampling of a metric, or nil.
func intervals(s *metric.Stat) map[string]result.ConfidenceInterval {
	if s.Intervals == nil {
		return nil
	}
	out := make(map[string]result.ConfidenceInterval, len(s.Intervals))
	for name, at := range s.Intervals {
		out[name] = result.ConfidenceInterval{Lo: at.Lo, Hi: at.Hi}
	}
	return out
}

// hold fills in the load of the stage with the most events.
func hold(c *result.Calibration, stages []result.Stage) {
	if c == nil {
		return
	}
	for i := range stages {
		if h := result.HeldBy(&stages[i]); h.Events >= c.Run.Events {
			c.Run = h
		}
	}
}
