package repeat

import (
	"github.com/inferometer/inferometer/internal/result"
)

// Mean is a result whose figures are the means over runs, with the intervals over them, so that
// what can be asked of one result can be asked of all runs together. It has the levels that
// all runs have.
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
