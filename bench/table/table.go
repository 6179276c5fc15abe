//go:build linux

// Package table has what bench measured: figures beside bounds, on the screen, in files, and as a page of Markdown.
package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Names of who is measured: the page has a column for each of them.
const (
	NameOurs     = "inferometer"
	NameBare     = "bare loop"
	NameCrowded  = "inferometer among busy cores"
	NamePA       = "Perf Analyzer"
	NameVLLM     = "vllm-bench"
	NamePerf     = "inference-perf"
	NameOursPerf = "inferometer inference-perf"
	// NameUserClock is what our own records have of when the program had read an event.
	NameUserClock = "user-space clock"
)

// Line is one measured case of the table.
type Line struct {
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

// Add tells a party's figure and what else there is to know of it.
func (l *Line) Add(who, figure, format string, args ...any) {
	l.AddAt("", who, figure, format, args...)
}

// AddAt tells a figure of a case that has several.
func (l *Line) AddAt(at, who, figure, format string, args ...any) {
	l.Entries = append(l.Entries, entry{at, who, figure, fmt.Sprintf(format, args...)})
}

// AddNote adds a line below the figures.
func (l *Line) AddNote(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

// Miss notes what could not be measured: the row is then not met.
func (l *Line) Miss(who string, err error) {
	l.Missing = append(l.Missing, fmt.Sprintf("%s: %v", who, err))
}

// AtLeast checks a figure against a lower bound.
func (l *Line) AtLeast(what string, figure, bound float64, unit string) {
	l.Must(what, Show(figure, unit), "≥ "+Show(bound, unit), figure >= bound)
}

// AtMost checks a figure against an upper bound.
func (l *Line) AtMost(what string, figure, bound float64, unit string) {
	l.Must(what, Show(figure, unit), "≤ "+Show(bound, unit), figure <= bound)
}

// Between checks a figure against a lower and an upper bound, themselves included.
func (l *Line) Between(what string, figure, low, high float64) {
	l.Must(what, Show(figure, ""), Show(low, "")+" to "+Show(high, ""), figure >= low && figure <= high)
}

// Must checks what is either so or not.
func (l *Line) Must(what, figure, bound string, ok bool) {
	l.Checks = append(l.Checks, check{what, figure, bound, ok})
}

// State is how the row came out.
func (l Line) State() string {
	if len(l.Missing) > 0 || len(l.Checks) == 0 {
		return "NOT MEASURED"
	}
	if slices.ContainsFunc(l.Checks, func(c check) bool { return !c.OK }) {
		return "MISSED"
	}
	return "met"
}

// Show prints a figure with the digits that a person needs.
func Show(v float64, unit string) string {
	text := ""
	switch a := max(v, -v); {
	case a >= 1000:
		text = Thousands(int64(v + 0.5))
	case a >= 100:
		text = fmt.Sprintf("%.0f", v)
	case a >= 10:
		text = fmt.Sprintf("%.1f", v)
	default:
		text = fmt.Sprintf("%.2f", v)
	}
	return text + unit
}

// Three is the p50, p99 and p99.9 of something in one cell.
func Three(quantile func(p float64) float64, unit string) string {
	return Show(quantile(0.5), "") + " / " + Show(quantile(0.99), "") + " / " + Show(quantile(0.999), unit)
}

// Thousands is a number with a comma before every third digit.
func Thousands(n int64) string {
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

// Print writes a row as text.
func Print(w io.Writer, l Line) {
	fmt.Fprintf(w, "\n%-84s %s\n", l.Name, l.State())
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

// Summarise prints how the table came out and returns how many rows failed.
func Summarise(w io.Writer, lines []Line, took time.Duration) int {
	failed := 0
	for _, l := range lines {
		if l.State() != "met" {
			failed++
		}
	}
	fmt.Fprintf(w, "\n%d rows in %v: %d met, %d not\n", len(lines), took, len(lines)-failed, failed)
	for _, l := range lines {
		if s := l.State(); s != "met" {
			fmt.Fprintf(w, "    %-12s %s\n", s, l.Name)
		}
	}
	return failed
}
