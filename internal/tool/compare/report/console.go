package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// Options say where a comparison is printed.
type Options struct {
	Width int
	Color bool
	ASCII bool // it may show no other characters
}

type printer struct {
	bytes.Buffer
	width int
	style screen.Style
	ascii bool
}

// Console prints a comparison on a screen.
func Console(w io.Writer, c *compare.Comparison, o Options) error {
	p := &printer{width: max(o.Width, 40), style: screen.Style(o.Color), ascii: o.ASCII}
	p.caution(c.Doubts[:first(c)])
	p.sides(c)
	p.warnings(c)
	p.capacity(c)
	noted := map[string]bool{}
	for i := range c.Loads {
		for k := range c.Loads[i].Tables {
			p.table(c, &c.Loads[i], &c.Loads[i].Tables[k])
			if text := method(&c.Loads[i].Tables[k]); !noted[text] {
				noted[text] = true
				p.wrapped("  ", text)
			}
		}
	}
	if len(c.Loads) == 0 && c.Capacity == nil {
		p.line("")
		p.wrapped("", "The sides have no load in common: there is nothing to compare.")
	}
	for _, u := range c.Unmatched {
		p.wrapped("", fmt.Sprintf("Not compared: %s of %s, which the other side does not have.", screen.Clean(u.Load), screen.Clean(c.Sides[u.Side].Name)))
	}
	text := p.String()
	if o.ASCII {
		text = signs().Replace(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// signs stand for characters beyond ASCII, where a screen may not show those.
func signs() *strings.Replacer {
	return strings.NewReplacer("±", "+/-", "µ", "u", "…", ".", "–", "-")
}

func (p *printer) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

func (p *printer) wrapped(indent, text string) {
	if text == "" {
		return
	}
	for _, l := range screen.Wrap(screen.Clean(text), p.width-len(indent)) {
		p.line(indent + l)
	}
}

func (p *printer) sides(c *compare.Comparison) {
	left := 0
	for _, s := range c.Sides {
		left = max(left, screen.Width(screen.Clip(screen.Clean(s.Name), nameWidth)))
	}
	for _, s := range c.Sides {
		name := screen.Left(screen.Clip(screen.Clean(s.Name), nameWidth), left)
		for i, r := range s.Runs {
			if i == mostRuns {
				p.line(strings.Repeat(" ", left+2) + "and " + more(len(s.Runs)-i))
				break
			}
			verdict := strings.ToUpper(r.Verdict)
			if r.Verdict == compare.NotKnown {
				verdict = "measured by " + r.By
			}
			text := screen.Join(", ", r.Path, r.Subject, verdict)
			if i > 0 {
				name = strings.Repeat(" ", left)
			}
			for n, l := range screen.Wrap(screen.Clean(text), p.width-left-2) {
				if n > 0 {
					name = strings.Repeat(" ", left)
				}
				p.line(p.style.Bold(name) + "  " + l)
			}
		}
	}
	for _, n := range notes(c) {
		p.wrapped("", n)
	}
}

const (
	nameWidth = 24 // columns of a side's name
	mostRuns  = 5  // of a side that are listed
)

func (p *printer) warnings(c *compare.Comparison) {
	var list []string
	for _, d := range c.Plans {
		text := "plans differ in " + clash(c, d)
		if d.Matters {
			text += " (compared because of --anyway)"
		}
		list = append(list, text)
	}
	p.caution(slices.Concat(c.Doubts[first(c):], list))
}

func (p *printer) caution(list []string) {
	for _, text := range list {
		for i, l := range screen.Wrap(screen.Clean(text), p.width-2) {
			head := "! "
			if i > 0 {
				head = "  "
			}
			p.line(p.style.Warn(head + l))
		}
	}
}

func (p *printer) table(c *compare.Comparison, l *compare.Load, t *compare.Table) {
	p.line("")
	p.line(p.style.Bold(screen.Clip(screen.Clean(l.Name), p.width)))
	p.wrapped("  ", about(c, l, t))
	p.caution(t.Doubts)
	p.line("")
	grid := newGrid(columns(c, t))
	last := ""
	for i := range t.Rows {
		row := lineOf(&t.Rows[i])
		if t.Rows[i].Metric == last {
			row.name = ""
		}
		last = t.Rows[i].Metric
		if p.ascii {
			row.name, row.a, row.b = signs().Replace(row.name), signs().Replace(row.a), signs().Replace(row.b)
		}
		grid.add(row)
	}
	for _, text := range grid.render(p.width-2, p.style) {
		p.line("  " + text)
	}
	if len(t.Rows) == 0 {
		p.wrapped("  ", "The sides have no figure in common.")
	}
	for _, l := range screen.Wrap(legend(t), p.width-2) {
		p.line("  " + p.style.Dim(l))
	}
	p.line("")
	p.wrapped("  ", t.Headline)
	p.wrapped("  ", t.Longer)
}
