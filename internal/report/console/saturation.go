package console

import (
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// saturation prints the steps of the search for the rates of a sweep.
func (p *printer) saturation(r *result.Result) {
	s := r.Saturation
	if s == nil || len(s.Steps) == 0 {
		return
	}
	t := table{columns: []column{
		{title: "Requests\nper s", keep: mustKeep},
		{title: "Kept\nup with", left: true, keep: mustKeep},
		{title: "Requests", keep: 10},
		{title: "Failed", keep: 5},
		{title: "Unsent", keep: 5},
		{title: "Backlog\nbefore", keep: 50},
		{title: "Backlog\nafter", keep: 50},
		{title: "Answers\nper s", keep: 20},
		{title: "Sent late\np99 ms", keep: 15},
	}}
	for i := range s.Steps {
		step := &s.Steps[i]
		kept := "no"
		if step.Kept {
			kept = "yes"
		}
		t.add(number.Value(step.Rate, ""), kept, number.Count(step.Requests), number.Count(step.Failed), number.Count(step.Unsent),
			number.Value(step.Before, ""), number.Value(step.After, ""), number.Value(step.Answered, ""), number.Value(step.Lag, ""))
	}
	p.blank()
	p.line(p.style.Bold("Search for saturation"))
	p.table(&t)
}
