package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// Gating is what a command line says about when a run fails.
type Gating struct {
	FailIf []string // gates on top of those of the plan
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
func (p *preparation) gated() error {
	own := p.plan.FailIf
	all := slices.Clone(own)
	for _, text := range p.opt.Gating.FailIf {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	p.plan.FailIf = nil
	var faults plan.Faults
	for i, text := range all {
		g, err := gate.Parse(text)
		if err == nil && p.opt.Gating.Some && g.Level(p.plan) != nil {
			continue
		}
		p.plan.FailIf = append(p.plan.FailIf, text)
		if err == nil {
			err = g.Check(p.plan)
		}
		var wrong *gate.Error
		if !errors.As(err, &wrong) {
			continue
		}
		f := plan.Fault{Path: fmt.Sprintf("fail_if[%d]", i), Text: wrong.Text, Hint: wrong.Hint}
		if i >= len(own) {
			f.Where = "--fail-if"
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

// FailIf judges a saved run by more gates than those of its plan.
func (s *Saved) FailIf(texts []string) error {
	var faults plan.Faults
	for _, text := range texts {
		g, err := gate.Parse(text)
		if err == nil {
			err = g.Check(s.Plan)
		}
		var wrong *gate.Error
		if errors.As(err, &wrong) {
			faults = append(faults, plan.Fault{Where: "--fail-if", Text: wrong.Text, Hint: wrong.Hint})
			continue
		}
		s.Plan.FailIf = append(s.Plan.FailIf, text)
	}
	if len(faults) > 0 {
		return faults
	}
	var err error
	s.Result.Gates, err = judged(s.Plan, s.Facts.Stages, &s.Records, s.Result)
	return err
}

// judged is what the gates of a plan say of a result.
func judged(p *plan.Plan, marks []record.StageMark, records *record.File, res *result.Result) ([]result.Gate, error) {
	if err := intervals(p, marks, records, res); err != nil {
		return nil, err
	}
	var list []result.Gate
	for _, text := range p.FailIf {
		g, err := gate.Parse(text)
		if err != nil { // of a plan file that was edited after the run
			list = append(list, result.Gate{Gate: text, Stage: -1, Missed: true, Absent: true, Why: err.Error()})
			continue
		}
		list = append(list, gate.FailIf([]*gate.Gate{g}, res)...)
	}
	return list, nil
}
