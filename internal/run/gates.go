package run

import (
	"errors"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// GateOptions is what a command line says about when a run fails.
type GateOptions struct {
	plan.Conditions // on top of those of the plan
	// Some: the run is one of several, and gates at a level that it does not have are left to the
	// others.
	Some bool
	// Refused is called where a gate cannot be judged, before anything is sent; nil means the error says
	// enough.
	Refused func()
	// Judged is told of the result; optional.
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
