package clidoc

import (
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/docs"
)

type page struct {
	b      strings.Builder
	width  int
	colour bool
	linked map[string]bool // where links have led
	syntax syntax
}

// Page is a topic as text in so many columns, with bold letters where a terminal has them.
func Page(name string, width int, colour bool) string {
	text, _ := docs.Page(name)
	return renderPage(text, width, colour)
}

func renderPage(text string, width int, colour bool) string {
	p := &page{width: max(width, least), colour: colour, linked: map[string]bool{}, syntax: newSyntax()}
	lines := strings.Split(p.syntax.comments.ReplaceAllString(text, ""), "\n")
	for len(lines) > 0 {
		lines = p.block(lines)
	}
	return strings.TrimLeft(p.b.String(), "\n")
}

// put writes a line; bold is drawn, or shown as it stands in Markdown's source where it cannot be.
func (p *page) put(line string) {
	on, off := "", ""
	if p.colour {
		on, off = "\x1b[1m", "\x1b[0m"
	}
	line = strings.NewReplacer(string(boldOn), on, string(boldOff), off).Replace(line)
	p.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// wrap writes text in lines, each behind an indent; the first has another.
func (p *page) wrap(text, first, indent string) {
	for _, line := range wrapMarked(p.inline(text), p.width-utf8.RuneCountInString(indent)) {
		p.put(first + line)
		first = indent
	}
}

// block writes what stands at the beginning and gives the rest.
func (p *page) block(lines []string) []string {
	line := strings.TrimRight(lines[0], " \t\r")
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "":
		return lines[1:]
	case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
		return p.code(lines)
	case p.syntax.headings.MatchString(line):
		m := p.syntax.headings.FindStringSubmatch(line)
		p.heading(len(m[1]), p.inline(m[2]))
		return lines[1:]
	case len(lines) > 1 && strings.Contains(line, "|") && strings.Contains(lines[1], "-") && p.syntax.dividers.MatchString(lines[1]):
		return p.table(lines)
	case p.syntax.items.MatchString(line):
		return p.list(lines)
	case strings.HasPrefix(trimmed, ">"):
		text, rest := joined(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), ">") })
		p.b.WriteByte('\n')
		p.wrap(strings.ReplaceAll(" "+text, " >", " "), "  | ", "  | ")
		return rest
	}
	text, rest := joined(lines, func(l string) bool { return !p.begins(l) })
	p.b.WriteByte('\n')
	p.wrap(text, "", "")
	return rest
}

// begins reports whether a line begins a block of its own.
func (p *page) begins(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") || strings.HasPrefix(t, "|") || p.syntax.headings.MatchString(line) || p.syntax.items.MatchString(line)
}

// joined are the first line and those after it that go on, as one, and the rest.
func joined(lines []string, more func(string) bool) (text string, rest []string) {
	n := 1
	for n < len(lines) && more(lines[n]) {
		n++
	}
	return strings.Join(strings.Fields(strings.Join(lines[:n], " ")), " "), lines[n:]
}

func (p *page) heading(level int, text string) {
	p.b.WriteByte('\n')
	p.put(bold(text))
	if under := map[int]string{1: "=", 2: "-"}[level]; under != "" && !p.colour {
		p.put(strings.Repeat(under, min(wide(text), p.width)))
	}
}

// code writes a fenced block as it stands.
func (p *page) code(lines []string) []string {
	fence := strings.TrimSpace(lines[0])[:3]
	lead := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	p.b.WriteByte('\n')
	for i, line := range lines[1:] {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			return lines[i+2:]
		}
		p.put("    " + strings.TrimPrefix(line, strings.Repeat(" ", min(lead, len(line)-len(strings.TrimLeft(line, " "))))))
	}
	return nil
}

// list writes the items of a list, and of those within it.
func (p *page) list(lines []string) []string {
	p.b.WriteByte('\n')
	for len(lines) > 0 && p.syntax.items.MatchString(lines[0]) {
		m := p.syntax.items.FindStringSubmatch(lines[0])
		text, rest := joined(append([]string{m[3]}, lines[1:]...), func(l string) bool { return !p.begins(l) })
		lead := strings.Repeat(" ", min(len(m[1]), 8)+2)
		p.wrap(text, lead+m[2]+" ", lead+strings.Repeat(" ", len(m[2])+1))
		lines = rest
		for len(lines) > 1 && strings.TrimSpace(lines[0]) == "" && p.syntax.items.MatchString(lines[1]) {
			lines = lines[1:]
		}
	}
	return lines
}

// wrapMarked is Wrap for text with marks. One open at a line's end goes on in the next.
func wrapMarked(text string, width int) []string {
	var lines []string
	line, n, open := "", 0, false
	flush := func() {
		if open {
			line += string(boldOff)
		}
		lines = append(lines, line)
		if line, n = "", 0; open {
			line = string(boldOn)
		}
	}
	for _, w := range strings.Fields(text) {
		size := wide(w)
		if n > 0 && n+1+size > width {
			flush()
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+w, n+size
		if on, off := strings.LastIndexByte(w, boldOn), strings.LastIndexByte(w, boldOff); on != off {
			open = on > off
		}
	}
	flush()
	return lines
}
