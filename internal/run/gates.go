package run

import (
	"errors"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// GateOptions is what a command line says about when a run fails.
type GateOptions struct {
	plan.Conditions // on top of those of the plan
	// Some: the run is one of several, and gates at a level that it does not have are left to the
	// others.
	Some bool
	// Refused is called where a gate cannot be judged, before anything is sent; nil: the error says
	// enough.
	Refused func()
	// Judged is told of the result; nil: nobody waits for it.
	Judged func(res *result.Result)
}

// gated adds the gates of the command line to those of the plan, and finds what is wrong with
// them.
func (p *setup) gated() error {
	own := p.plan.Conditions
	all := own.With(p.opt.Gating.Conditions)
	p.plan.Conditions = plan.Conditions{}
	var faults plan.Faults
	for _, c := range all.All() {
		g, err := gate.Read(c)
		if err == nil && p.opt.Gating.Some && g.Level(p.plan) != nil {
			continue
		}
		p.plan.Conditions.Add(c)
		if err == nil {
			err = g.Check(p.plan)
		}
		var wrong *gate.Error
		if !errors.As(err, &wrong) {
			continue
		}
		f := plan.Fault{Path: c.Path(), Text: wrong.Text, Hint: wrong.Hint}
		if !own.IsOwn(c) {
			f.Where = c.Flag()
		}
		faults = append(faults, f)
	}
	if len(faults) == 0 {
		return nil
	}
	if p.opt.Gating.Refused != nil {
		p.opt.Gating.Refused()
	}
	return faults
}

// Judge judges a saved run by more gates than those of its plan.
func (s *Saved) Judge(more plan.Conditions) error {
	var faults plan.Faults
	for _, c := range more.All() {
		g, err := gate.Read(c)
		if err == nil {
			err = g.Check(s.Plan)
		}
		var wrong *gate.Error
		if errors.As(err, &wrong) {
			faults = append(faults, plan.Fault{Where: c.Flag(), Text: wrong.Text, Hint: wrong.Hint})
			continue
		}
		s.Plan.Conditions.Add(c)
	}
	if len(faults) > 0 {
		return faults
	}
	var err error
	s.Result.Gates, err = judged(s.Plan, s.Facts.Stages, &s.Records, s.Result)
	return err
}

// judged is what the gates of a plan say of a result.
func judged(p *plan.Plan, marks []record.StageSummary, records *record.File, res *result.Result) ([]result.Gate, error) {
	if err := intervals(p, marks, records, res); err != nil {
		return nil, err
	}
	var list []result.Gate
	for _, c := range p.Conditions.All() {
		g, err := gate.Read(c)
		if err != nil { // of a plan file that was edited after the run
			list = append(list, result.Gate{Gate: c.Text, Unless: c.Unless, Stage: -1, Failed: true, Absent: true, Why: err.Error()})
			continue
		}
		list = append(list, gate.JudgeAll([]*gate.Gate{g}, res)...)
	}
	return list, nil
}
