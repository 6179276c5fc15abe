package console

import (
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// withinTitle heads a column of how well the figures before it are known by so few requests,
// whatever the client measures them with.
const withinTitle = "±"

const (
	// withinUnknown stands for an interval that is not known.
	withinUnknown = "±?"
	withinText    = withinTitle + " half the 95 % confidence interval (sampling); " + withinUnknown + " not known: too few requests"
	// keepWithinAvg is the keep of the column beside averages.
	keepWithinAvg = 90
	mean          = "avg"
)

// within says how well a statistic is known, as a share of it; nothing where it has no interval.
func within(m *result.Stat, name string) string {
	switch share, known, ok := m.Within(name); {
	case !ok:
		return ""
	case !known:
		return withinUnknown
	default:
		return number.PlusMinus(share)
	}
}

// precision says in words how well the figure is known that most people read first.
func (p *printer) precision(s *result.Stage) {
	if text := s.Precision(); text != "" {
		p.paragraph("Precision", text)
	}
}
