package md

import (
	"cmp"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// capacity prints the highest load that meets the objectives, and the levels that show it.
func (p *printer) capacity(r *result.Result) {
	a := r.Capacity
	if a == nil {
		return
	}
	p.line("\n**Capacity**\n") // the answer in words is the headline
	p.table([]column{
		{title: "Capacity, " + a.Unit, cells: []string{capacityFigure(r, "value")}},
		{title: "95 % from", cells: []string{capacityFigure(r, "lo")}},
		{title: "to", cells: []string{capacityFigure(r, "hi")}},
		{title: "Outcome", left: true, cells: []string{a.Outcome}},
	}, mostChecks)
	if len(a.Levels) == 0 {
		return
	}
	columns := []column{{title: a.Unit}, {title: "s"}, {title: "Requests"}}
	for i := range a.Goals {
		columns = append(columns, column{title: a.Goals[i].Figure})
	}
	columns = append(columns, column{title: "Meets all", left: true})
	levels := slices.Clone(a.Levels)
	slices.SortStableFunc(levels, func(x, y result.CapacityLevel) int { return cmp.Compare(x.Load, y.Load) })
	for i := range levels {
		l := &levels[i]
		row := []string{number.Value(l.Load, ""), number.Value(l.Seconds, ""), number.Count(l.Requests)}
		for k := range l.Seen {
			cell := ""
			if v := l.Seen[k].Value; v != nil {
				cell = number.Value(*v, a.Goals[k].Unit)
			}
			row = append(row, cell)
		}
		for k, cell := range append(row, l.Says(a.Goals)) {
			columns[k].cells = append(columns[k].cells, cell)
		}
	}
	p.line("")
	p.table(columns, mostChecks)
}

// capacityFigure is a number of the response; empty: it has none.
func capacityFigure(r *result.Result, stat string) string {
	for _, f := range r.CapacityFigures() {
		if f.Stat == stat {
			return number.Value(f.Value, "")
		}
	}
	return ""
}
