package clidoc

import (
	"slices"
	"strings"
)

const between = "  "

// table writes a table: in columns whose cells are broken into lines, or, where the page is too
// narrow for that, each row as a list.
func (p *page) table(lines []string) []string {
	head := p.cells(lines[0])
	var rows [][]string
	rest := lines[2:]
	for len(rest) > 0 && strings.Contains(rest[0], "|") && strings.TrimSpace(rest[0]) != "" {
		row := p.cells(rest[0])
		for len(row) < len(head) {
			row = append(row, "")
		}
		rows, rest = append(rows, row[:len(head)]), rest[1:]
	}
	p.b.WriteByte('\n')
	widths, fits := columns(append([][]string{head}, rows...), p.width)
	if !fits {
		p.records(head, rows)
		return rest
	}
	if slices.ContainsFunc(head, func(s string) bool { return s != "" }) {
		for i, h := range head {
			head[i] = bold(h)
		}
		p.row(head, widths)
		dashes := make([]string, len(widths))
		for i, w := range widths {
			dashes[i] = strings.Repeat("-", w)
		}
		p.put(strings.Join(dashes, between))
	}
	for _, r := range rows {
		p.row(r, widths)
	}
	return rest
}

// cells are those of a row, in text; a break within one is a newline.
func (p *page) cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var list []string
	for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, "\x00"), "|") {
		parts := strings.Split(strings.ReplaceAll(cell, "\x00", `\|`), "<br>")
		for i, part := range parts {
			parts[i] = strings.TrimSpace(p.inline(part))
		}
		list = append(list, strings.Join(parts, "\n"))
	}
	return list
}

// leastColumn is what a column has at least, where its cells are not narrower.
const leastColumn = 14

// columns are the widths of columns; false: they cannot stand side by side.
func columns(rows [][]string, width int) (widths []int, fits bool) {
	n := len(rows[0])
	natural, narrow := make([]int, n), make([]int, n)
	for _, row := range rows {
		for i, cell := range row {
			for line := range strings.SplitSeq(cell, "\n") {
				natural[i] = max(natural[i], wide(line))
				for _, word := range strings.Fields(line) {
					narrow[i] = max(narrow[i], wide(word))
				}
			}
		}
	}
	room := width - len(between)*(n-1)
	for i := range narrow {
		narrow[i] = min(natural[i], max(narrow[i], leastColumn))
	}
	if sum(narrow) > room {
		return nil, false
	}
	widths = natural
	for sum(widths) > room { // the widest gives way
		most := -1
		for i, w := range widths {
			if w > narrow[i] && (most < 0 || w > widths[most]) {
				most = i
			}
		}
		widths[most]--
	}
	return widths, true
}

func sum(list []int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

// row writes one row, in as many lines as its longest cell has.
func (p *page) row(cells []string, widths []int) {
	texts, lines := make([][]string, len(cells)), 0
	for i, cell := range cells {
		for part := range strings.SplitSeq(cell, "\n") {
			texts[i] = append(texts[i], wrapMarked(part, widths[i])...)
		}
		lines = max(lines, len(texts[i]))
	}
	for l := range lines {
		var b strings.Builder
		for i := range cells {
			text := ""
			if l < len(texts[i]) {
				text = texts[i][l]
			}
			b.WriteString(text)
			if i+1 < len(cells) {
				b.WriteString(strings.Repeat(" ", max(widths[i]-wide(text), 0)) + between)
			}
		}
		p.put(b.String())
	}
}

// records writes each row as a list: its first cell, and under it the others by column.
func (p *page) records(head []string, rows [][]string) {
	for _, r := range rows {
		for _, line := range wrapMarked(strings.ReplaceAll(r[0], "\n", " "), p.width) {
			p.put(bold(line))
		}
		for i, cell := range r[1:] {
			name := head[i+1]
			if cell == "" {
				continue
			}
			if name != "" {
				name += ": "
			}
			for _, line := range wrapMarked(name+strings.ReplaceAll(cell, "\n", "; "), p.width-4) {
				p.put("    " + line)
			}
		}
	}
}
