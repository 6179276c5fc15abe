package record

import (
	"cmp"
	"fmt"
)

// Bounds are the numbers that the lines of a run's file may hold, by its plan and header. A
// reader sizes lists by them, so that a line beyond them is an error like one that is no JSON.
type Bounds struct {
	First   int // the lowest stage: 0, or below it where steps of a search have numbers of their own
	Stages  int // stages are below this
	Targets int // indexes of targets are below this; 0: not known
	Workers int // numbers of workers, which count from 1, are up to this; 0: not known
}

func (b *Bounds) line(l *Line) error {
	switch {
	case b == nil:
		return nil
	case l.Stage != nil:
		return cmp.Or(b.stage(l.Stage.Stage), b.worker(l.Stage.Worker))
	case l.Edge != nil:
		return cmp.Or(b.stage(l.Edge.Stage), b.worker(l.Edge.Worker))
	case l.Health != nil:
		return b.worker(l.Health.Worker)
	case l.Session != nil:
		return b.stage(l.Session.Stage)
	case l.Figures != nil && l.Figures.Stage != WholeRun:
		return b.stage(l.Figures.Stage)
	}
	return nil
}

func (b *Bounds) request(rec *Record) error {
	switch {
	case b == nil:
		return nil
	case b.Targets > 0 && (rec.Target < 0 || rec.Target >= b.Targets):
		return beyond("target", rec.Target, fmt.Sprintf("the plan has %d, counted from 0", b.Targets))
	}
	return cmp.Or(b.stage(rec.Stage), b.worker(rec.Worker))
}

func (b *Bounds) worker(n int) error {
	switch {
	case n < 0:
		return beyond("worker", n, "workers are counted from 1")
	case b.Workers > 0 && n > b.Workers:
		return beyond("worker", n, fmt.Sprintf("the run has %d, counted from 1", b.Workers))
	}
	return nil
}

func (b *Bounds) stage(n int) error {
	switch {
	case n >= b.First && n < b.Stages:
		return nil
	case n < 0 && b.First == 0:
		return beyond("stage", n, "stages are counted from 0")
	case n < 0:
		return beyond("stage", n, fmt.Sprintf("the run's search has %d steps, counted down from -1", -b.First))
	}
	return beyond("stage", n, fmt.Sprintf("the run has %d, counted from 0", b.Stages))
}

func beyond(field string, n int, allowed string) error {
	return fmt.Errorf("%s %d does not exist: %s: the file is damaged, or stands beside the plan.yaml of another run", field, n, allowed)
}
