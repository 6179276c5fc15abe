// Package repeat makes one document of several runs of one plan: what each figure was in each
// run, how far the runs are apart, and whether that is more than the requests of one run
// explain.
package repeat

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Schema names the version of the document.
const Schema = "inferometer.repeats/1"

// average is the statistic that every metric has.
const average = "avg"

// Document is what several runs of one plan have in common.
type Document struct {
	Schema     string  `json:"schema"`
	Version    string  `json:"version"` // of the program
	Name       string  `json:"name,omitempty"`
	Confidence float64 `json:"confidence"` // of the intervals
	Requested  int     `json:"requested"`  // runs at most
	// Ended says why there are fewer runs than were asked for; empty: there are as many.
	Ended  string         `json:"ended,omitempty"`
	Valid  bool           `json:"valid"` // every run is
	Runs   []RunDoc       `json:"runs"`  // those that are whole
	Stages []StageRepeats `json:"stages"`
	// Notes are worth knowing.
	Notes []string `json:"notes"`
	Until *Until   `json:"until,omitempty"`
}

// Why there are fewer runs than were asked for.
const (
	EndedUntil       = "until"       // what they were to go on for holds
	EndedTime        = "time"        // the time for them was over
	EndedInterrupted = "interrupted" // the user stopped them
	EndedFailed      = "failed"      // a run failed
)

// Until is what the runs were to go on for.
type Until struct {
	Expression string `json:"expression"`
	Met        bool   `json:"met"`
	// Levels are the levels that it is about, after the last run.
	Levels []Value `json:"levels"`
}

// Value is what an expression came to at one level.
type Value struct {
	Stage int      `json:"stage"` // -1: there is no such level
	Where string   `json:"where"`
	Value *float64 `json:"value,omitempty"` // left out: not known
	Bound float64  `json:"bound"`
	Met   bool     `json:"met"`
	Why   string   `json:"reason,omitempty"`
}

// RunDoc is one of the runs.
type RunDoc struct {
	Run      int       `json:"run"` // from 1
	Dir      string    `json:"dir,omitempty"`
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Duration float64   `json:"duration_s"`
	OK       int64     `json:"ok"`
	Failed   int64     `json:"failed"`
	Verdict  string    `json:"verdict"`
	Reasons  []string  `json:"reasons,omitempty"` // why it is not valid
}

// StageRepeats is a level that all runs have.
type StageRepeats struct {
	Index   int               `json:"index"`
	Name    string            `json:"name"`
	Load    string            `json:"load"`
	Metrics map[string]Metric `json:"metrics"`
}

// Metric is a metric by statistic: avg, p50, p99 and so on.
type Metric struct {
	Unit  string                  `json:"unit"`
	Stats map[string]RepeatedStat `json:"stats"`
}

// RepeatedStat is a figure over the runs that have it.
type RepeatedStat struct {
	Runs []*float64 `json:"runs"` // of each run; null: it has none
	Mean float64    `json:"mean"`
	Min  float64    `json:"min"`
	Max  float64    `json:"max"`
	Std  float64    `json:"std"`          // between runs
	CV   *float64   `json:"cv,omitempty"` // Std as a share of the mean; left out where that is 0
	// Interval is where the mean lies, by the differences between runs; left out: one run does not
	// tell.
	Interval *result.ConfidenceInterval `json:"interval,omitempty"`
	// Within is the half width of one run's interval, the median over runs; left out: not known.
	Within *float64 `json:"within,omitempty"`
	Thin   bool     `json:"thin,omitempty"` // a run has too few samples for this percentile
	// AtLeast: in a run it is a lower bound: requests did not end. So is the mean, without
	// intervals.
	AtLeast bool `json:"at_least,omitempty"`
}

// Run is a run and what is known of it.
type Run struct {
	Dir    string // where it is kept; empty: nowhere
	Result *result.Result
	// Within are the intervals of its figures, by the index of the stage; nil means not known.
	Within map[int]map[Key]estimate.Interval
}

// Key names a figure.
type Key struct{ Metric, Stat string }

// Statistics are those that a metric with samples has in the document.
func Statistics() []string {
	list := []string{average}
	for _, p := range metric.Percentiles() {
		list = append(list, p.Name)
	}
	return list
}

// Make makes the document of runs in their order.
func Make(runs []Run, asked int, version string) *Document {
	d := &Document{Schema: Schema, Version: version, Confidence: estimate.Confidence, Requested: asked, Valid: len(runs) > 0,
		Runs: []RunDoc{}, Stages: []StageRepeats{}, Notes: []string{}}
	for i := range runs {
		r := runs[i].Result
		doc := RunDoc{Run: i + 1, Dir: runs[i].Dir, Seed: r.Seed, Started: r.Started, Duration: r.Duration, Verdict: r.Verdict.Status,
			Reasons: append(slices.Clone(r.Verdict.Reasons), r.Verdict.Undecided...)}
		for k := range r.Stages {
			doc.OK, doc.Failed = doc.OK+r.Stages[k].Counts.OK, doc.Failed+r.Stages[k].Counts.Failed
		}
		d.Valid = d.Valid && r.Verdict.Valid
		d.Name = r.Name
		d.Runs = append(d.Runs, doc)
	}
	if len(runs) == 0 {
		return d
	}
	for i := range runs[0].Result.Stages {
		if s := stageOf(runs, i); s != nil {
			d.Stages = append(d.Stages, *s)
		}
	}
	if n := unlike(runs, len(d.Stages)); n != "" {
		d.Notes = append(d.Notes, n)
	}
	if n := d.drift(); n != "" {
		d.Notes = append(d.Notes, n)
	}
	return d
}

// stageOf is a stage over all runs; nil means they do not all have it, or not at the same load.
func stageOf(runs []Run, i int) *StageRepeats {
	first := &runs[0].Result.Stages[i]
	for k := range runs {
		if all := runs[k].Result.Stages; len(all) <= i || all[i].Load != first.Load {
			return nil
		}
	}
	s := &StageRepeats{Index: first.Index, Name: first.Name, Load: first.Load, Metrics: map[string]Metric{}}
	for k := range runs {
		for id, m := range runs[k].Result.Stages[i].Metrics {
			if _, done := s.Metrics[id]; !done {
				s.Metrics[id] = metricOf(runs, i, id, m.Unit)
			}
		}
	}
	return s
}

// unlike says that runs have levels that others lack.
func unlike(runs []Run, shared int) string {
	for i := range runs {
		if len(runs[i].Result.Stages) != shared {
			return "Not all runs had the same levels: those that differ are left out here, and are in the runs' own reports."
		}
	}
	return ""
}

func metricOf(runs []Run, stage int, id, unit string) Metric {
	m := Metric{Unit: unit, Stats: map[string]RepeatedStat{}}
	for _, stat := range Statistics() {
		if f, ok := figureOf(runs, stage, Key{id, stat}); ok {
			m.Stats[stat] = f
		}
	}
	return m
}

// figureOf is a figure over the runs; ok is false where none has it.
func figureOf(runs []Run, stage int, key Key) (f RepeatedStat, ok bool) {
	var values, within []float64
	for i := range runs {
		m, has := runs[i].Result.Stages[stage].Metrics[key.Metric]
		v, has := valueOf(m, key.Stat, has)
		if !has {
			f.Runs = append(f.Runs, nil)
			continue
		}
		f.Runs = append(f.Runs, &v)
		values = append(values, v)
		f.Thin = f.Thin || slices.Contains(m.LowSamples, key.Stat)
		f.AtLeast = f.AtLeast || m.Open(key.Stat)
		if at := runs[i].Within[stage][key]; at.Known {
			within = append(within, (at.Hi-at.Lo)/2)
		}
	}
	if len(values) == 0 {
		return f, false
	}
	at := estimate.OfRuns(values, estimate.Confidence)
	f.Mean, f.Min, f.Max, f.Std = at.Value, slices.Min(values), slices.Max(values), deviation(values, at.Value)
	if at.Known && !f.AtLeast {
		f.Interval = &result.ConfidenceInterval{Lo: at.Lo, Hi: at.Hi}
	}
	if f.Mean != 0 {
		cv := f.Std / math.Abs(f.Mean)
		f.CV = &cv
	}
	if len(within) > 0 && !f.AtLeast {
		slices.Sort(within)
		middle := within[len(within)/2]
		f.Within = &middle
	}
	return f, true
}

func valueOf(m result.Stat, stat string, has bool) (float64, bool) {
	switch {
	case !has:
		return 0, false
	case stat == average:
		return m.Avg, true
	case m.Distribution == nil:
		return 0, false
	}
	return m.Distribution.Quantile(stat), true
}

func deviation(values []float64, mean float64) float64 {
	if len(values) < 2 {
		return 0
	}
	var sum float64
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// judged are the figures by which runs differ: averages, whose errors within a run are known best.
func judged() []struct{ metric, name string } {
	return []struct{ metric, name string }{
		{"time_to_first_token", "time to first token"}, {"inter_token_latency", "inter-token latency"}, {"request_latency", "request latency"},
	}
}

// How much further runs must be apart than their requests explain before it is said: by chance
// alone, fewer than one figure in a thousand is.
const (
	driftTail  = 3.09  // the normal deviate of one in a thousand
	driftLeast = 1.5   // times as far
	driftShare = 0.005 // of the figure: less is of no importance
)

// normal is the normal deviate of the intervals within runs.
const normal = 1.96

// drift says, by the figure furthest beyond, that runs differ more than the requests of one run do.
func (d *Document) drift() string {
	worst, text := 0.0, ""
	for i := range d.Stages {
		s := &d.Stages[i]
		for _, j := range judged() {
			f, ok := s.Metrics[j.metric].Stats[average]
			if !ok || f.Within == nil || f.CV == nil || *f.Within <= 0 || *f.CV < driftShare {
				continue
			}
			df := float64(len(f.Runs) - 1)
			expected := *f.Within / normal
			// The bound of chi squared over its degrees of freedom, by Wilson and Hilferty.
			bound := math.Pow(1-2/(9*df)+driftTail*math.Sqrt(2/(9*df)), 3)
			if ratio := f.Std / expected; df >= 2 && ratio > max(driftLeast, math.Sqrt(bound)) && ratio > worst {
				worst = ratio
				text = fmt.Sprintf("Runs differ more than requests do: %s (%s) varies by %s between runs, where its requests explain %s. "+
					"The host or the server drifts, and the interval of a single run is too narrow: rely on the one over runs.",
					j.name, s.Load, number.Share(*f.CV), number.Share(expected/math.Abs(f.Mean)))
			}
		}
	}
	return text
}

// Mean is a result whose figures are the means over runs, with the intervals over them, to be asked
// as one result is. It has the levels of all runs.
func (d *Document) Mean(runs []Run) *result.Result {
	r := &result.Result{Schema: result.Schema, Version: d.Version, Name: d.Name,
		Verdict: result.Verdict{Status: result.Invalid, Valid: d.Valid}}
	if d.Valid {
		r.Verdict.Status = result.Valid
	}
	for i := range d.Stages {
		shared := &d.Stages[i]
		s := result.Stage{Index: shared.Index, Name: shared.Name, Load: shared.Load, Metrics: map[string]result.Stat{}}
		for k := range runs {
			for n := range runs[k].Result.Stages {
				if of := &runs[k].Result.Stages[n]; of.Index == s.Index {
					s.Concurrency, s.Rate = of.Concurrency, of.Rate
					s.Counts.Sent += of.Counts.Sent
					s.Counts.OK += of.Counts.OK
					s.Counts.Failed += of.Counts.Failed
				}
			}
		}
		for id, m := range shared.Metrics {
			s.Metrics[id] = mean(m)
		}
		r.Stages = append(r.Stages, s)
	}
	return r
}

func mean(m Metric) result.Stat {
	s := result.Stat{Unit: m.Unit, Intervals: map[string]result.ConfidenceInterval{}}
	for name, f := range m.Stats {
		if name == average {
			s.Avg = f.Mean
		} else {
			if s.Distribution == nil {
				s.Distribution = &result.Distribution{}
			}
			s.Distribution.Set(name, f.Mean)
		}
		if f.Interval != nil {
			s.Intervals[name] = *f.Interval
		}
		if f.Thin {
			s.LowSamples = append(s.LowSamples, name)
		}
		if f.AtLeast {
			s.AtLeast = append(s.AtLeast, name)
		}
	}
	return s
}
