package saved

import (
	"errors"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// Judge judges a saved run by more gates than those of its plan.
func (s *Run) Judge(more plan.Conditions) error {
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
