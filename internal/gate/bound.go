package gate

import "github.com/inferometer/inferometer/internal/lib/number"

// Decides reports whether the gate can be told by a lower bound of its figure: what is more than
// the bound of the gate stays so, and what is less may be more.
func (g *Gate) Decides(least float64) bool {
	return g.Op.Holds(least, g.Bound) == (g.Op == More || g.Op == AtLeast)
}

// Unknown says that a lower bound of a figure does not tell.
func Unknown(figure string, least float64, unit string) string {
	return figure + " is known only to be at least " + number.Value(least, unit) + ": requests did not end"
}
