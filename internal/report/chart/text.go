package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// The panel of a chart in text.
const (
	leastWidth  = 40
	textHeight  = 12
	scaleColumn = 9 // for the numbers of the y axis
)

// marks are how the lines of a text chart are told apart.
const marks = "*o+x#@%"

// Text writes the panels one below the other, in so many columns.
func (f Figure) Text(w io.Writer, width int) error {
	var b strings.Builder
	b.WriteString(f.Title + "\n")
	for _, p := range f.Panels {
		b.WriteByte('\n')
		p.text(&b, max(width, leastWidth))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the chart %q: %w", f.Title, err)
	}
	return nil
}

func (p Panel) text(b *strings.Builder, width int) {
	var title []string
	for _, s := range []string{p.Title, p.Y} {
		if s != "" {
			title = append(title, s)
		}
	}
	fmt.Fprintf(b, "%s\n", strings.Join(title, ", "))
	if p.blank() {
		b.WriteString("  (no points)\n")
		return
	}
	g := newGrid(p, width-scaleColumn-2)
	for i, l := range p.Lines {
		g.line(l, marks[i%len(marks)])
	}
	for row := range textHeight {
		scale := ""
		if row%4 == 0 || row == textHeight-1 {
			scale = label(rounded(g.top * float64(textHeight-1-row) / (textHeight - 1)))
		}
		fmt.Fprintf(b, "%*s |%s\n", scaleColumn, scale, strings.TrimRight(string(g.cells[row]), " "))
	}
	fmt.Fprintf(b, "%*s +%s\n", scaleColumn, "", strings.Repeat("-", g.width))
	left, right := label(g.low), label(g.high)
	middle := p.X
	room := max(g.width-len(left)-len(right), len(middle)+2)
	pad := (room - len(middle)) / 2
	fmt.Fprintf(b, "%*s  %s%s%s%s%s\n", scaleColumn, "", left, strings.Repeat(" ", pad), middle, strings.Repeat(" ", room-pad-len(middle)), right)
	for i, l := range p.Lines {
		if l.Name != "" {
			fmt.Fprintf(b, "%*s  %c %s\n", scaleColumn, "", marks[i%len(marks)], l.Name)
		}
	}
}

// rounded keeps three digits, which is what a scale of twelve rows can tell apart.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}

// grid is a field of characters with axes; the y axis begins at 0.
type grid struct {
	cells          [textHeight][]byte
	width          int
	low, high, top float64
	log            bool
}

func newGrid(p Panel, width int) *grid {
	g := &grid{width: width, low: math.Inf(1), high: math.Inf(-1), log: p.LogX}
	for i := range g.cells {
		g.cells[i] = []byte(strings.Repeat(" ", width))
	}
	for _, l := range p.Lines {
		for _, part := range l.parts() {
			for _, xy := range part {
				g.low, g.high, g.top = math.Min(g.low, xy.X), math.Max(g.high, xy.X), math.Max(g.top, xy.Y)
			}
		}
	}
	if g.top <= 0 {
		g.top = 1
	}
	return g
}

// line draws a line's points and dots between them.
func (g *grid) line(l Line, mark byte) {
	for _, part := range l.parts() {
		for i, xy := range part {
			x, y := g.at(xy.X, xy.Y)
			if i > 0 {
				g.dots(part[i-1].X, part[i-1].Y, xy.X, xy.Y)
			}
			g.cells[y][x] = mark
		}
		for _, xy := range part { // a later dot may have covered an earlier point
			x, y := g.at(xy.X, xy.Y)
			g.cells[y][x] = mark
		}
	}
}

func (g *grid) dots(x0, y0, x1, y1 float64) {
	from, fromRow := g.at(x0, y0)
	to, toRow := g.at(x1, y1)
	for x := from + 1; x < to; x++ {
		share := float64(x-from) / float64(to-from)
		row := int(math.Round(float64(fromRow) + share*float64(toRow-fromRow)))
		if g.cells[row][x] == ' ' {
			g.cells[row][x] = '.'
		}
	}
}

// at is the cell of a point.
func (g *grid) at(x, y float64) (column, row int) {
	share := 0.5
	if g.high > g.low {
		share = (x - g.low) / (g.high - g.low)
		if g.log && g.low > 0 {
			share = math.Log(x/g.low) / math.Log(g.high/g.low)
		}
	}
	column = int(math.Round(share * float64(g.width-1)))
	row = textHeight - 1 - int(math.Round(math.Max(y, 0)/g.top*(textHeight-1)))
	return column, row
}
