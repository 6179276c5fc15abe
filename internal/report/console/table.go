package console

import (
	"strings"

	"github.com/inferometer/inferometer/internal/report/screen"
)

// gap is the space between two columns.
const gap = 2

// column is a column of a table. Where the table is too wide the columns with
// the lowest keep go first.
type column struct {
	title string // one or two lines
	keep  int
	left  bool // text, not a number
}

// table is text in columns as wide as their content.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// render gives the lines of the table, with the columns that fit into width.
func (t *table) render(width int, style screen.Style) []string {
	widths := t.widths()
	shown := t.fit(widths, width)
	var lines []string
	for _, head := range t.heads(shown) {
		lines = append(lines, style.Dim(t.line(head, widths, shown)))
	}
	for _, row := range t.rows {
		lines = append(lines, t.line(row, widths, shown))
	}
	return lines
}

func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		for part := range strings.SplitSeq(c.title, "\n") {
			widths[i] = max(widths[i], screen.Width(part))
		}
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], screen.Width(cell))
		}
	}
	return widths
}

// fit says which columns are shown: no column without a single cell that says something, and the
// most important of the others. The first column always stays, and is made
// narrower when it must be.
func (t *table) fit(widths []int, width int) []bool {
	shown := make([]bool, len(t.columns))
	total := -gap
	for i := range t.columns {
		for _, row := range t.rows {
			if row[i] != "" && row[i] != withinUnknown {
				shown[i] = true
			}
		}
		if shown[i] {
			total += widths[i] + gap
		}
	}
	for total > width {
		least := -1
		for i, c := range t.columns {
			if i > 0 && shown[i] && (least < 0 || c.keep < t.columns[least].keep) {
				least = i
			}
		}
		if least < 0 || t.columns[least].keep >= mustKeep {
			break
		}
		shown[least] = false
		total -= widths[least] + gap
	}
	if total > width {
		widths[0] = max(widths[0]-(total-width), narrowest)
	}
	return shown
}

const (
	mustKeep  = 100 // keep of a column that is never left out
	narrowest = 8   // columns that the first column is left with
)

// heads gives the header lines of the shown columns: titles of one line stand
// on the lower one.
func (t *table) heads(shown []bool) [][]string {
	upper := make([]string, len(t.columns))
	lower := make([]string, len(t.columns))
	two := false
	for i, c := range t.columns {
		above, below, ok := strings.Cut(c.title, "\n")
		if !ok {
			above, below = "", c.title
		}
		upper[i], lower[i] = above, below
		two = two || shown[i] && above != ""
	}
	if two {
		return [][]string{upper, lower}
	}
	return [][]string{lower}
}

func (t *table) line(cells []string, widths []int, shown []bool) string {
	var b strings.Builder
	for i, c := range t.columns {
		if !shown[i] {
			continue
		}
		if i > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		if c.left {
			b.WriteString(screen.Left(screen.Clip(cells[i], widths[i]), widths[i]))
		} else {
			b.WriteString(screen.Right(cells[i], widths[i]))
		}
	}
	return strings.TrimRight(b.String(), " ")
}
