//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// line is one measured case of the table.
type line struct {
	Name    string   `json:"name"`
	Entries []entry  `json:"entries,omitempty"`
	Checks  []check  `json:"checks,omitempty"`
	Missing []string `json:"missing,omitempty"` // what was not measured and should have been
	Notes   []string `json:"notes,omitempty"`
}

// entry is what one party did.
type entry struct {
	At     string `json:"at,omitempty"` // the size, or the second quantity, that the figure is of
	Who    string `json:"who"`
	Figure string `json:"figure,omitempty"`
	Text   string `json:"text,omitempty"` // what else there is to know
}

// check is one bound and whether it was met.
type check struct {
	What   string `json:"what"`
	Figure string `json:"figure,omitempty"`
	Bound  string `json:"bound,omitempty"`
	OK     bool   `json:"ok"`
}

func (c check) String() string {
	text := strings.TrimSpace(c.What + " " + c.Figure)
	if c.Bound != "" {
		text += " (" + c.Bound + ")"
	}
	return text
}

// add tells a party's figure and what else there is to know of it.
func (l *line) add(who, figure, format string, args ...any) {
	l.addAt("", who, figure, format, args...)
}

// addAt tells a figure of a case that has several.
func (l *line) addAt(at, who, figure, format string, args ...any) {
	l.Entries = append(l.Entries, entry{at, who, figure, fmt.Sprintf(format, args...)})
}

func (l *line) addNote(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

func (l *line) miss(who string, err error) {
	l.Missing = append(l.Missing, fmt.Sprintf("%s: %v", who, err))
}

// atLeast, atMost and between check a figure against a bound.
func (l *line) atLeast(what string, figure, bound float64, unit string) {
	l.must(what, show(figure, unit), "≥ "+show(bound, unit), figure >= bound)
}

func (l *line) atMost(what string, figure, bound float64, unit string) {
	l.must(what, show(figure, unit), "≤ "+show(bound, unit), figure <= bound)
}

func (l *line) between(what string, figure, low, high float64) {
	l.must(what, show(figure, ""), show(low, "")+" to "+show(high, ""), figure >= low && figure <= high)
}

// must checks what is either so or not.
func (l *line) must(what, figure, bound string, ok bool) {
	l.Checks = append(l.Checks, check{what, figure, bound, ok})
}

// state is how the row came out.
func (l line) state() string {
	if len(l.Missing) > 0 || len(l.Checks) == 0 {
		return "NOT MEASURED"
	}
	if slices.ContainsFunc(l.Checks, func(c check) bool { return !c.OK }) {
		return "MISSED"
	}
	return "met"
}

// show prints a figure with the digits that a person needs.
func show(v float64, unit string) string {
	text := ""
	switch a := max(v, -v); {
	case a >= 1000:
		text = thousands(int64(v + 0.5))
	case a >= 100:
		text = fmt.Sprintf("%.0f", v)
	case a >= 10:
		text = fmt.Sprintf("%.1f", v)
	default:
		text = fmt.Sprintf("%.2f", v)
	}
	return text + unit
}

func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// line is the entry in one line, without its party.
func (e entry) line() string {
	text := strings.Join(slices.DeleteFunc([]string{e.Figure, e.Text}, func(s string) bool { return s == "" }), "; ")
	if e.At != "" {
		text = e.At + ": " + text
	}
	return text
}

func printLine(w io.Writer, l line) {
	fmt.Fprintf(w, "\n%-84s %s\n", l.Name, l.state())
	for _, e := range l.Entries {
		fmt.Fprintf(w, "    %-16s %s\n", e.Who, e.line())
	}
	for _, c := range l.Checks {
		mark := "met   "
		if !c.OK {
			mark = "MISSED"
		}
		fmt.Fprintf(w, "    %s           %v\n", mark, c)
	}
	for _, m := range l.Missing {
		fmt.Fprintf(w, "    NOT MEASURED     %s\n", m)
	}
	for _, n := range l.Notes {
		fmt.Fprintf(w, "    note             %s\n", n)
	}
}

// summarise prints how the table came out and returns how many rows failed.
func summarise(w io.Writer, lines []line, took time.Duration) int {
	failed := 0
	for _, l := range lines {
		if l.state() != "met" {
			failed++
		}
	}
	fmt.Fprintf(w, "\n%d rows in %v: %d met, %d not\n", len(lines), took, len(lines)-failed, failed)
	for _, l := range lines {
		if s := l.state(); s != "met" {
			fmt.Fprintf(w, "    %-12s %s\n", s, l.Name)
		}
	}
	return failed
}
