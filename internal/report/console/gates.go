package console

import (
	"strings"

	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// gates says what came of the user's conditions, and what was found.
func (p *printer) gates(gates []result.Gate) {
	if len(gates) == 0 {
		return
	}
	p.blank()
	paint := p.style.Good
	switch {
	case result.CountMissed(gates) > 0:
		paint = p.style.Bad
	case result.CountUndecided(gates) > 0:
		paint = p.style.Warn
	}
	p.line(paint(result.Headline(gates)) + ".")
	title, conditions := result.Conditions(gates)
	t := table{columns: []column{{title: title, left: true}, {title: "level", keep: 10, left: true}, {title: "measured", keep: mustKeep}, {title: "gate", keep: mustKeep, left: true}}}
	for i := range gates {
		g, where := &gates[i], ""
		if result.SeveralLevels(gates) {
			where = screen.Clean(g.Where)
		}
		t.add(screen.Clean(conditions[i]), where, g.Found(), g.Word())
	}
	p.table(&t)
	for i := range gates {
		if notes := gates[i].Notes(); len(notes) > 0 {
			p.item(gates[i].Condition() + ": " + strings.Join(notes, "; "))
		}
	}
}
