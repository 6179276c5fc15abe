package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The panel of a chart in text.
const (
	leastWidth  = 40
	textSteps   = 3 // between numbers on the y axis
	stepHeight  = 4
	textHeight  = textSteps*stepHeight + 1
	scaleColumn = 9 // for the numbers of the y axis
	leastGap    = 2 // between numbers on the x axis
	leastTop    = 1e-100
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
	title := slices.DeleteFunc([]string{p.Title, p.Y}, func(s string) bool { return s == "" })
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
		if row%stepHeight == 0 {
			scale = label(g.top / textSteps * float64(textSteps-row/stepHeight))
		}
		fmt.Fprintf(b, "%*s |%s\n", scaleColumn, scale, strings.TrimRight(string(g.cells[row]), " "))
	}
	fmt.Fprintf(b, "%*s +%s\n", scaleColumn, "", strings.Repeat("-", g.width))
	fmt.Fprintf(b, "%*s  %s\n", scaleColumn, "", g.numbers())
	if p.X != "" {
		fmt.Fprintf(b, "%*s  %s%s\n", scaleColumn, "", strings.Repeat(" ", max(g.width-len(p.X), 0)/2), p.X)
	}
	for i, l := range p.Lines {
		if l.Name != "" {
			fmt.Fprintf(b, "%*s  %c %s\n", scaleColumn, "", marks[i%len(marks)], l.Name)
		}
	}
}

// ceiling is the top of an axis that reaches a value, such that its steps are round.
func ceiling(v float64) float64 {
	step := v / textSteps
	unit := math.Pow(10, math.Floor(math.Log10(step)))
	for _, round := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if step <= round*unit {
			return textSteps * round * unit
		}
	}
	return textSteps * 10 * unit
}

// grid is a field of characters with axes; the y axis begins at 0.
type grid struct {
	cells          [textHeight][]byte
	width          int
	low, high, top float64
	xs             []float64 // of points, ascending, each once
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
				g.xs = append(g.xs, xy.X)
			}
		}
	}
	if g.top < leastTop {
		g.top = 1
	}
	g.top = ceiling(g.top)
	slices.Sort(g.xs)
	g.xs = slices.Compact(g.xs)
	return g
}

// numbers is the line below the x axis: the first and the last place that has points, and of
// those between them what has room.
func (g *grid) numbers() string {
	line := []byte(strings.Repeat(" ", g.width))
	place := func(x float64) (text string, from int) {
		text = label(x)
		column, _ := g.cell(x, 0)
		return text, max(min(column-len(text)/2, g.width-len(text)), 0)
	}
	last, lastFrom := place(g.high)
	free := 0 // the first column that may be written to
	for _, x := range g.xs {
		text, from := place(x)
		if x < g.high && from >= free && from+len(text)+leastGap <= lastFrom {
			copy(line[from:], text)
			free = from + len(text) + leastGap
		}
	}
	copy(line[lastFrom:], last)
	return strings.TrimRight(string(line), " ")
}

// line draws a line's points and dots between them.
func (g *grid) line(l Line, mark byte) {
	for _, part := range l.parts() {
		for i, xy := range part {
			x, y := g.cell(xy.X, xy.Y)
			if i > 0 {
				g.dots(part[i-1].X, part[i-1].Y, xy.X, xy.Y)
			}
			g.cells[y][x] = mark
		}
		for _, xy := range part { // a later dot may have covered an earlier point
			x, y := g.cell(xy.X, xy.Y)
			g.cells[y][x] = mark
		}
	}
}

func (g *grid) dots(x0, y0, x1, y1 float64) {
	from, fromRow := g.cell(x0, y0)
	to, toRow := g.cell(x1, y1)
	for x := from + 1; x < to; x++ {
		share := float64(x-from) / float64(to-from)
		row := int(math.Round(float64(fromRow) + share*float64(toRow-fromRow)))
		if g.cells[row][x] == ' ' {
			g.cells[row][x] = '.'
		}
	}
}

func (g *grid) cell(x, y float64) (column, row int) {
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
