package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// capacity prints what searches have found, and how far apart they are.
func (p *printer) capacity(c *compare.Comparison) {
	if c.Capacity == nil {
		return
	}
	p.line("")
	p.line(p.style.Bold("Capacity"))
	for i := range c.Capacity.Sides {
		s := &c.Capacity.Sides[i]
		p.wrapped("  ", c.Sides[s.Side].Name+": "+capacityOf(s))
	}
	p.line("")
	for i := range c.Capacity.Rows {
		r := &c.Capacity.Rows[i]
		head := screen.Clean(fmt.Sprintf("%s against %s:", c.Sides[r.Side].Name, c.Sides[0].Name)) + " "
		for n, l := range screen.Wrap(head+screen.Clean(apart(c, r)), p.width-2) {
			if rest, ok := strings.CutPrefix(l, head+r.Verdict); ok && n == 0 {
				l = head + coloured(r.Verdict, p.style) + rest
			}
			p.line("  " + l)
		}
	}
}

// markdownCapacity prints the same as a table.
func markdownCapacity(b *bytes.Buffer, c *compare.Comparison) {
	if c.Capacity == nil {
		return
	}
	fmt.Fprint(b, "\n**Capacity**\n\n| | highest load | 95 % interval | |\n|:--|--:|--:|:--|\n")
	for i := range c.Capacity.Sides {
		s := &c.Capacity.Sides[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", md.Prose(c.Sides[s.Side].Name, nameWidth), md.Prose(load(s), widest), md.Prose(between(s), widest), md.Prose(s.Outcome, widest))
	}
	fmt.Fprintln(b)
	for i := range c.Capacity.Rows {
		r := &c.Capacity.Rows[i]
		text := md.Prose(apart(c, r), widest)
		if rest, ok := strings.CutPrefix(text, r.Verdict); ok {
			text = "**" + r.Verdict + "**" + rest
		}
		fmt.Fprintf(b, "%s against %s: %s  \n", md.Prose(c.Sides[r.Side].Name, nameWidth), md.Prose(c.Sides[0].Name, nameWidth), text)
	}
}

// capacityOf is what a side has found: in the words of its search, or the mean of several.
func capacityOf(s *compare.CapacitySide) string {
	if s.Runs == 1 {
		return s.Sentence
	}
	if s.Value == nil {
		return fmt.Sprintf("%d searches, which have no answer in common", s.Runs)
	}
	text := fmt.Sprintf("%s, the mean of %d searches", load(s), s.Runs)
	if i := between(s); i != "" {
		text += ", 95 % from " + i
	}
	return text
}

// load is the response of a side with its unit.
func load(s *compare.CapacitySide) string {
	switch {
	case s.Value != nil:
		return number.Value(*s.Value, "") + " " + s.Unit
	case s.Lo != nil:
		return "at least " + number.Value(*s.Lo, "") + " " + s.Unit
	case s.Hi != nil:
		return "less than " + number.Value(*s.Hi, "") + " " + s.Unit
	}
	return "not known"
}

// between is an interval without its unit; empty: there is none.
func between(s *compare.CapacitySide) string {
	if s.Value == nil || s.Lo == nil || s.Hi == nil {
		return ""
	}
	return number.Value(*s.Lo, "") + " to " + number.Value(*s.Hi, "")
}

// apart says how far a side is from the first: the word, the difference, and what else there is.
func apart(c *compare.Comparison, r *compare.CapacityRow) string {
	text := r.Verdict
	if text == compare.NoneSeen {
		text = "no difference found"
	}
	if d := r.Delta; d != nil {
		value, unit := amount(d.Value, d.Relative, c.Capacity.Sides[0].Unit)
		if text += ", " + value + " " + unit; d.Interval != nil {
			lo, unit := amount(d.Interval.Lo, d.Interval.RelativeLo, c.Capacity.Sides[0].Unit)
			hi, _ := amount(d.Interval.Hi, d.Interval.RelativeHi, c.Capacity.Sides[0].Unit)
			text += fmt.Sprintf(" (%s between %s and %s %s)", number.Percent(c.Confidence), lo, hi, unit)
		}
	}
	if r.Why != "" {
		text += ", " + r.Why
	}
	return text
}

// amount is a difference with its sign: as a share of the first side or, where that is 0, as a load.
func amount(v float64, relative *float64, of string) (text, unit string) {
	if relative != nil {
		return percent(*relative * 100), "%"
	}
	if text = number.Value(math.Abs(v), ""); v < 0 {
		return "-" + text, of
	}
	return "+" + text, of
}
