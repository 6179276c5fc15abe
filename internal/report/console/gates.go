package console

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// gates says which of the user's conditions are missed, and what was found.
func (p *printer) gates(gates []result.Gate) {
	if len(gates) == 0 {
		return
	}
	p.blank()
	if n := result.CountMissed(gates); n > 0 {
		p.line(p.style.Bad("MISSED") + fmt.Sprintf(": %d of %s.", n, number.Things(int64(len(gates)), "gate")))
	} else {
		p.line(p.style.Good("OK") + ": " + number.Things(int64(len(gates)), "gate") + ", none missed.")
	}
	t := table{columns: []column{{title: "Fail if", left: true}, {title: "level", keep: 10, left: true}, {title: "measured", keep: mustKeep}, {title: "gate", keep: mustKeep, left: true}}}
	for i := range gates {
		g, where := &gates[i], ""
		if result.SeveralLevels(gates) {
			where = screen.Clean(g.Where)
		}
		t.add(screen.Clean(g.Gate), where, g.Found(), g.Word())
	}
	p.table(&t)
	for i := range gates {
		if g := &gates[i]; g.Why != "" {
			p.item(g.Gate + ": " + g.Why)
		}
	}
}
