package metric

import "inferometer/internal/stat"

// target accumulates the measured requests of one of several targets in a stage.
type target struct {
	totals Totals
	cols   []*stat.Column // by sampled metric of targets
}

// TargetMetrics are the metrics with samples that are kept for each target.
func TargetMetrics() []string { return []string{"time_to_first_token", "request_latency"} }

// ofTargets picks those of TargetMetrics out of the metrics of a Fold.
func ofTargets(defs []Def) []*Def {
	var list []*Def
	for _, id := range TargetMetrics() {
		for i := range defs {
			if defs[i].ID == id {
				list = append(list, &defs[i])
			}
		}
	}
	return list
}

// target adds a measured request to what its target has done.
func (f *Fold) target(s *stage, r *Request, good bool) {
	if r.Target < 0 || r.Target >= f.opts.Targets {
		return
	}
	for len(s.targets) <= r.Target {
		t := &target{}
		t.totals.Judged = len(f.slos) > 0
		for range f.perTarget {
			t.cols = append(t.cols, f.pool.Column())
		}
		s.targets = append(s.targets, t)
	}
	t := s.targets[r.Target]
	t.totals.add(r, good)
	t.totals.span(r.Record)
	if r.Failure != nil {
		return
	}
	for i, d := range f.perTarget {
		if v, ok := d.One(r); ok {
			t.cols[i].Append(v, stat.First)
		}
	}
}

func (t *target) close() {
	for _, c := range t.cols {
		c.Close()
	}
}

// mergeTargets moves what the targets of o hold into those of s.
func (s *stage) mergeTargets(o *stage) error {
	for i, from := range o.targets {
		if i == len(s.targets) {
			s.targets = append(s.targets, from)
			continue
		}
		to := s.targets[i]
		to.totals.merge(&from.totals)
		for k := range to.cols {
			if err := to.cols[k].Merge(from.cols[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// targetWindows are the targets of a stage without their samples. Their rates are over
// the window of the stage, so that they add up.
func (f *Fold) targetWindows(s *stage, defs []Def) []Window {
	if f.opts.Targets < 2 {
		return nil
	}
	list := make([]Window, f.opts.Targets)
	for i := range list {
		if i < len(s.targets) {
			list[i].Totals = s.targets[i].totals
		}
		list[i].Totals.Begin, list[i].Totals.End = s.whole.Begin, s.whole.End
		list[i].rates(defs)
	}
	return list
}

// targetTasks are the sampled metrics of the targets of a stage, to be summarized.
func (f *Fold) targetTasks(s *stage, st *Stage) []*task {
	var tasks []*task
	for i, t := range s.targets {
		for k, d := range f.perTarget {
			if t.cols[k].Len() > 0 {
				tasks = append(tasks, &task{window: &st.Targets[i], def: d, cols: t.cols[k : k+1]})
			}
		}
	}
	return tasks
}
