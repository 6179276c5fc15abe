package report

import (
	"strings"

	"github.com/inferometer/inferometer/internal/report/screen"
)

// gap is between two columns.
const gap = "  "

// grid is a table on a screen. Where it is too wide, what matters least is left out.
type grid struct {
	rows [][]string // the titles first
}

// The columns of a grid.
const (
	colName = iota
	colStat
	colA
	colB
	colDifference
	colInterval
	colP
	colVerdict
	colLonger
)

// expendable are the columns that are left out before names are cut, what goes first in
// front.
func expendable() []int { return []int{colLonger, colP} }

func newGrid(title line) *grid {
	g := &grid{}
	title.a, title.b = screen.Clip(screen.Clean(title.a), 16), screen.Clip(screen.Clean(title.b), 16)
	g.add(title)
	return g
}

func (g *grid) add(l line) {
	g.rows = append(g.rows, []string{screen.Clean(l.name), l.stat, l.a, l.b, l.difference, l.interval, l.p, l.verdict, l.longer})
}

// render gives the lines, the first of which are the titles.
func (g *grid) render(width int, style screen.Style) []string {
	widths := make([]int, len(g.rows[0]))
	for i, row := range g.rows {
		for n, cell := range row {
			if i > 0 || n != colLonger { // a title alone is no column
				widths[n] = max(widths[n], screen.Width(cell))
			}
		}
	}
	if widths[colLonger] > 0 {
		widths[colLonger] = max(widths[colLonger], screen.Width(g.rows[0][colLonger]))
	}
	total := func() (sum int) {
		for _, w := range widths {
			if w > 0 {
				sum += w + len(gap)
			}
		}
		return sum - len(gap)
	}
	for _, n := range expendable() {
		if total() > width {
			widths[n] = 0
		}
	}
	narrow := func(least int) {
		if over := total() - width; over > 0 {
			widths[colName] = max(min(least, widths[colName]), widths[colName]-over)
		}
	}
	if narrow(16); total() > width {
		widths[colInterval] = 0
	}
	if narrow(8); total() > width {
		g.cutTitles(widths)
	}
	var lines []string
	for i, row := range g.rows {
		var b strings.Builder
		for n, cell := range row {
			if widths[n] == 0 {
				continue
			}
			if n > 0 {
				b.WriteString(gap)
			}
			switch n {
			case colName, colStat:
				b.WriteString(screen.Left(screen.Clip(cell, widths[n]), widths[n]))
			case colVerdict:
				b.WriteString(coloured(screen.Left(cell, widths[n]), style))
			default:
				b.WriteString(screen.Right(cell, widths[n]))
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if i == 0 {
			text = style.Dim(text)
		}
		lines = append(lines, text)
	}
	return lines
}

// cutTitles makes the columns of the sides as narrow as their figures.
func (g *grid) cutTitles(widths []int) {
	for _, n := range []int{colA, colB} {
		widths[n] = 0
		for _, row := range g.rows[1:] {
			widths[n] = max(widths[n], screen.Width(row[n]))
		}
		g.rows[0][n] = screen.Clip(g.rows[0][n], widths[n])
	}
}

func coloured(cell string, style screen.Style) string {
	word, rest := strings.TrimRight(cell, " "), ""
	rest = cell[len(word):]
	switch {
	case strings.HasSuffix(word, "?") || strings.HasPrefix(word, "~"):
		return style.Dim(word) + rest
	case word == "better":
		return style.Good(word) + rest
	case word == "worse":
		return style.Bad(word) + rest
	case word == "differs":
		return style.Warn(word) + rest
	}
	return cell
}
