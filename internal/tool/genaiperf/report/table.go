package report

import (
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/report/screen"
)

// table is laid out as the library does that the original prints with: columns as wide
// as their content, and where they do not fit, the widest made narrower first.
type table struct {
	title  string
	header []string
	rows   [][]string // a cell may have several lines
	firm   bool       // the first column is never wrapped
}

const padding = 2 // one space on either side of a cell

// write prints the table for a terminal of so many columns.
func (t *table) write(b *strings.Builder, width int) {
	widths := t.widths(max(width, len(t.header)*(padding+1)+1))
	centre(b, t.title, sum(widths)+len(widths)+1)
	rule(b, widths, "┏━┳┓")
	t.row(b, widths, t.header, "┃")
	rule(b, widths, "┡━╇┩")
	for _, r := range t.rows {
		t.row(b, widths, r, "│")
	}
	rule(b, widths, "└─┴┘")
}

// centre prints a title in the middle of so many columns.
func centre(b *strings.Builder, title string, width int) {
	for _, line := range wrap(title, width) {
		left := (width - screen.Width(line)) / 2
		b.WriteString(spaces(left) + line + spaces(width-left-screen.Width(line)) + "\n")
	}
}

// rule draws a line: its left end, its stroke, a crossing and its right end.
func rule(b *strings.Builder, widths []int, strokes string) {
	s := []rune(strokes)
	for i, w := range widths {
		joint := s[2]
		if i == 0 {
			joint = s[0]
		}
		b.WriteRune(joint)
		b.WriteString(strings.Repeat(string(s[1]), w))
	}
	b.WriteRune(s[3])
	b.WriteByte('\n')
}

// row prints the cells of a row, flush right, on as many lines as the tallest needs.
func (t *table) row(b *strings.Builder, widths []int, cells []string, bar string) {
	tall := 1
	lines := make([][]string, len(widths))
	for i := range widths {
		room := widths[i] - padding
		if t.firm && i == 0 {
			lines[i] = []string{screen.Clip(cells[i], room)}
		} else {
			lines[i] = wrap(cells[i], room)
		}
		tall = max(tall, len(lines[i]))
	}
	for k := range tall {
		for i, w := range widths {
			text := ""
			if k < len(lines[i]) {
				text = lines[i][k]
			}
			b.WriteString(bar + spaces(w-1-screen.Width(text)) + text + " ")
		}
		b.WriteString(bar + "\n")
	}
}

// widths are those of the columns, padding included.
func (t *table) widths(width int) []int {
	most := width - len(t.header) - 1 // without the bars
	widths := make([]int, len(t.header))
	wraps := make([]bool, len(t.header))
	for i := range widths {
		widths[i] = t.content(i) + padding
		wraps[i] = !(t.firm && i == 0)
	}
	if sum(widths) <= most {
		return widths
	}
	widths = collapse(widths, wraps, most)
	if excess := sum(widths) - most; excess > 0 {
		even := slices.Repeat([]int{1}, len(widths))
		widths = reduce(excess, even, widths, widths)
	}
	return widths
}

// content is the width of the widest line of a column.
func (t *table) content(i int) int {
	widest := screen.Width(t.header[i])
	for _, r := range t.rows {
		for line := range strings.SplitSeq(r[i], "\n") {
			widest = max(widest, screen.Width(line))
		}
	}
	return widest
}

// collapse makes the widest columns narrower, down to the next widest, until all fit.
func collapse(widths []int, wraps []bool, most int) []int {
	for {
		excess := sum(widths) - most
		widest, second := 0, 0
		for i, w := range widths {
			switch {
			case wraps[i] && w > widest:
				widest, second = w, widest
			case wraps[i] && w < widest:
				second = max(second, w)
			}
		}
		if excess <= 0 || widest == second || widest == 0 {
			return widths
		}
		ratios := make([]int, len(widths))
		limits := make([]int, len(widths))
		for i, w := range widths {
			if wraps[i] && w == widest {
				ratios[i] = 1
			}
			limits[i] = min(excess, widest-second)
		}
		widths = reduce(excess, ratios, limits, widths)
	}
}

// reduce takes total off the values, shared out by their ratios and no more than each
// one's limit.
func reduce(total int, ratios, limits, values []int) []int {
	out := slices.Clone(values)
	left := 0
	for i, r := range ratios {
		if limits[i] > 0 {
			left += r
		}
	}
	for i, r := range ratios {
		if r == 0 || limits[i] <= 0 || left <= 0 {
			continue
		}
		share := int(math.RoundToEven(float64(r) * float64(total) / float64(left)))
		share = min(limits[i], share)
		out[i] -= share
		total -= share
		left -= r
	}
	return out
}

// spaces are n of them; none where there is no room.
func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

func sum(list []int) int {
	n := 0
	for _, v := range list {
		n += v
	}
	return n
}

// wrap breaks a text into lines of at most room columns, at spaces; longer words are cut.
func wrap(text string, room int) []string {
	var lines []string
	for part := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.SplitSeq(part, " ") {
			switch {
			case line == "":
				line = word
			case screen.Width(line)+1+screen.Width(word) <= room:
				line += " " + word
			default:
				lines = append(lines, screen.Clip(line, room))
				line = word
			}
		}
		lines = append(lines, screen.Clip(line, room))
	}
	return lines
}
