package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// capacity prints the highest load that meets the objectives, and the levels that show it: the
// curve from the lowest load to the highest.
func (p *printer) capacity(r *result.Result) {
	a := r.Capacity
	if a == nil {
		return
	}
	if len(a.Levels) == 0 { // the answer is the headline
		return
	}
	p.blank()
	p.line(p.style.Bold("Loads tried"))
	t := table{columns: []column{
		{title: strings.ToUpper(a.Unit[:1]) + a.Unit[1:], keep: mustKeep},
		{title: "Measured\ns", keep: 10},
		{title: "Requests", keep: 20},
		{title: "Answered\nper s", keep: 40},
	}}
	for i := range a.Goals {
		o := &a.Goals[i]
		t.columns = append(t.columns, column{title: o.Figure + "\n" + o.Unit, keep: 50})
	}
	t.columns = append(t.columns, column{title: "Meets all", left: true, keep: mustKeep})
	levels := slices.Clone(a.Levels)
	slices.SortStableFunc(levels, func(x, y result.CapacityLevel) int { return cmp.Compare(x.Load, y.Load) })
	for i := range levels {
		l := &levels[i]
		row := []string{number.Value(l.Load, ""), number.Value(l.Seconds, ""), number.Count(l.Requests), number.Value(l.Answered, "")}
		for k := range l.Seen {
			cell := ""
			if v := l.Seen[k].Value; v != nil {
				cell = number.Value(*v, "")
			}
			row = append(row, cell)
		}
		t.add(append(row, l.Says(a.Goals))...)
	}
	p.table(&t)
}
