//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// line is one measured row of the table.
type line struct {
	name    string
	entries []entry
	checks  []check
	missing []string // what was not measured and should have been
	notes   []string
}

// entry is what one party did.
type entry struct{ who, text string }

// check is one bound and whether it was met.
type check struct {
	text string // the bound and the figure
	ok   bool
}

func (l *line) add(who, format string, args ...any) {
	l.entries = append(l.entries, entry{who, fmt.Sprintf(format, args...)})
}

func (l *line) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

func (l *line) miss(who string, err error) {
	l.missing = append(l.missing, fmt.Sprintf("%s: %v", who, err))
}

// atLeast, atMost and between check a figure against a bound.
func (l *line) atLeast(what string, figure, bound float64, unit string) {
	l.checks = append(l.checks, check{fmt.Sprintf("%s %s, must be ≥ %s", what, show(figure, unit), show(bound, unit)), figure >= bound})
}

func (l *line) atMost(what string, figure, bound float64, unit string) {
	l.checks = append(l.checks, check{fmt.Sprintf("%s %s, must be ≤ %s", what, show(figure, unit), show(bound, unit)), figure <= bound})
}

func (l *line) between(what string, figure, low, high float64) {
	l.checks = append(l.checks, check{fmt.Sprintf("%s %s, must be %s to %s", what, show(figure, ""), show(low, ""), show(high, "")),
		figure >= low && figure <= high})
}

// must checks what is either so or not.
func (l *line) must(what string, ok bool) {
	l.checks = append(l.checks, check{what, ok})
}

// state is how the row came out.
func (l line) state() string {
	if len(l.missing) > 0 || len(l.checks) == 0 {
		return "NOT MEASURED"
	}
	if slices.ContainsFunc(l.checks, func(c check) bool { return !c.ok }) {
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

func printLine(w io.Writer, l line) {
	fmt.Fprintf(w, "\n%-84s %s\n", l.name, l.state())
	for _, e := range l.entries {
		fmt.Fprintf(w, "    %-16s %s\n", e.who, e.text)
	}
	for _, c := range l.checks {
		mark := "met   "
		if !c.ok {
			mark = "MISSED"
		}
		fmt.Fprintf(w, "    %s           %s\n", mark, c.text)
	}
	for _, m := range l.missing {
		fmt.Fprintf(w, "    NOT MEASURED     %s\n", m)
	}
	for _, n := range l.notes {
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
			fmt.Fprintf(w, "    %-12s %s\n", s, l.name)
		}
	}
	return failed
}

// writeMarkdown writes the table as a page.
func writeMarkdown(path string, lines []line, machine string, took time.Duration) error {
	var b strings.Builder
	b.WriteString("# Performance\n\n")
	b.WriteString("Written by `make bench-full`; the package comment of `bench/` explains how each figure is measured.\n")
	b.WriteString("Client and server are pinned to one core each. Figures are medians; ratios compare figures from the same run.\n\n")
	fmt.Fprintf(&b, "Machine: %s. Date: %s. The full benchmark took %v.\n\n", machine, time.Now().UTC().Format(time.DateOnly), took)
	b.WriteString("| case | measured | bound | |\n|---|---|---|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(l.name), cells(l.entryTexts()), cells(l.boundTexts()), l.state())
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func (l line) entryTexts() []string {
	var out []string
	for _, e := range l.entries {
		out = append(out, e.who+": "+e.text)
	}
	return append(out, l.notes...)
}

func (l line) boundTexts() []string {
	var out []string
	for _, c := range l.checks {
		text := c.text
		if !c.ok {
			text = "MISSED: " + text
		}
		out = append(out, text)
	}
	for _, m := range l.missing {
		out = append(out, "NOT MEASURED: "+m)
	}
	return out
}

func cells(texts []string) string {
	for i, t := range texts {
		texts[i] = cell(t)
	}
	return strings.Join(texts, "<br>")
}

// cell keeps a text from ending its cell.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text)
}
