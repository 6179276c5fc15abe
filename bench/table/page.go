//go:build linux

package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// saved is one run of the table as it is kept in a file: the page is made of such files.
type saved struct {
	Title   string   `json:"title"`
	Machine string   `json:"machine"`
	Date    string   `json:"date"`
	Took    string   `json:"took,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // written by hand: what a reader should know of this run
	Lines   []Line   `json:"lines"`
}

// Save keeps a run.
func Save(path string, lines []Line, title, machine string, took time.Duration) error {
	s := saved{Title: title, Machine: machine, Date: time.Now().UTC().Format(time.DateOnly), Took: took.String(), Lines: lines}
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return fmt.Errorf("saving the run: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("saving the run: %w", err)
	}
	return nil
}

// PageMain makes the page out of the saved runs of a directory, in the order of their names.
func PageMain(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: bench page DIRECTORY-OF-RUNS PAGE.md")
	}
	text, err := makePage(args[0])
	if err != nil {
		return err
	}
	if err := os.WriteFile(args[1], []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func makePage(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return "", err
	}
	if len(paths) == 0 {
		return "", fmt.Errorf("no saved run in %s: bench -save FILE makes one", dir)
	}
	var b strings.Builder
	b.WriteString(`# Performance

Measured by ` + "`make bench-full` and `make bench-cores`" + `; the package comment of ` + "`bench/`" + ` says how. Server and client are pinned to cores of their own, and everything is sampled from outside, the same way for every client.
Figures are medians; ratios compare figures of the same run. **Reference** is a bare ` + "`net/http`" + ` loop that reads lines and takes the time or, for stamps, the user-space clock. *Lost*: the tool did not finish the run.
`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("reading a saved run: %w", err)
		}
		var s saved
		if err := json.Unmarshal(text, &s); err != nil {
			return "", fmt.Errorf("reading the saved run %s: %w", path, err)
		}
		s.write(&b)
	}
	return b.String(), nil
}

func (s saved) write(b *strings.Builder) {
	took := ""
	if s.Took != "" {
		took = "; took " + s.Took
	}
	fmt.Fprintf(b, "\n## %s\n%s; %s%s.\n\n", s.Title, s.Machine, s.Date, took)
	s.table(b)
	if len(s.Remarks) > 0 {
		b.WriteString("\n")
	}
	for _, r := range s.Remarks {
		fmt.Fprintf(b, "- %s\n", r)
	}
	if s.judged() {
		s.bounds(b)
	}
	if !slices.ContainsFunc(s.Lines, Line.detailed) {
		return
	}
	fmt.Fprintf(b, "\n### %s: details\n", s.Title)
	for _, l := range s.Lines {
		l.details(b)
	}
}

// column is a column of the table: the parties whose figures it has.
type column struct {
	title string
	of    []string
}

func columns() []column {
	all := []column{{"Inferometer", []string{NameOurs, NameOursPerf, NameCrowded}}, {"Reference", []string{NameBare, NameUserClock}}}
	for _, peer := range []string{NamePA, NameVLLM, "GenAI-Perf", "AIPerf", NamePerf, "GuideLLM"} {
		all = append(all, column{peer, []string{peer}})
	}
	return all
}

// judged reports whether bounds were checked.
func (s saved) judged() bool {
	return slices.ContainsFunc(s.Lines, func(l Line) bool { return len(l.Checks)+len(l.Missing) > 0 })
}

// table writes the figures, without columns that have none.
func (s saved) table(b *strings.Builder) {
	shown := slices.DeleteFunc(columns(), func(c column) bool {
		return !slices.ContainsFunc(s.Lines, func(l Line) bool {
			return slices.ContainsFunc(l.Entries, func(e entry) bool { return e.Figure != "" && slices.Contains(c.of, e.Who) })
		})
	})
	judged := s.judged()
	head := []string{"case"}
	for _, c := range shown {
		head = append(head, c.title)
	}
	if judged {
		head = append(head, "bounds")
	}
	writeRow(b, head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, l := range s.Lines {
		for i, at := range l.sizes() {
			cells := []string{l.caseName(i, at)}
			for _, c := range shown {
				cells = append(cells, l.figure(at, c.of))
			}
			switch {
			case judged && i == 0:
				cells = append(cells, l.outcome())
			case judged:
				cells = append(cells, "")
			}
			writeRow(b, cells)
		}
	}
}

// bounds writes what was checked, one row for each bound.
func (s saved) bounds(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s: bounds\n", s.Title)
	writeRow(b, []string{"case", "what", "measured", "bound", ""})
	b.WriteString("|---|---|---|---|---|\n")
	for _, l := range s.Lines {
		name := l.Name
		for _, c := range l.Checks {
			state := "met"
			if !c.OK {
				state = "**missed**"
			}
			writeRow(b, []string{name, c.What, c.Figure, c.Bound, state})
			name = "…"
		}
		for _, m := range l.Missing {
			writeRow(b, []string{name, m, "", "", "**not measured**"})
			name = "…"
		}
	}
}

// sizes are what the figures of a case are of, in order, one row each.
func (l Line) sizes() []string {
	var out []string
	for _, e := range l.Entries {
		if columned(e) && !slices.Contains(out, e.At) {
			out = append(out, e.At)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// columned reports whether an entry has a place in the table.
func columned(e entry) bool {
	return e.Figure != "" && slices.ContainsFunc(columns(), func(c column) bool { return slices.Contains(c.of, e.Who) })
}

// caseName is the first cell of row i of the case.
func (l Line) caseName(i int, at string) string {
	switch {
	case i > 0:
		return "… " + at
	case at != "":
		return l.Name + ": " + at
	}
	return l.Name
}

// figure is that of one column; one that is not the column's usual party says whose it is.
func (l Line) figure(at string, of []string) string {
	var out []string
	for _, e := range l.Entries {
		if e.At != at || e.Figure == "" || !slices.Contains(of, e.Who) {
			continue
		}
		text := e.Figure
		if e.Who == NameCrowded {
			text += " among busy cores"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// outcome is how a case came out, in a cell.
func (l Line) outcome() string {
	missed := 0
	for _, c := range l.Checks {
		if !c.OK {
			missed++
		}
	}
	switch {
	case l.State() == "met":
		return "met"
	case len(l.Missing) > 0 || missed == 0:
		return "**not measured**"
	}
	return fmt.Sprintf("**%d of %d missed**", missed, len(l.Checks))
}

// detailed reports whether a case has more to tell than its figures.
func (l Line) detailed() bool {
	return len(l.Notes) > 0 || slices.ContainsFunc(l.Entries, func(e entry) bool { return e.Text != "" || !columned(e) })
}

// details writes what is not in the table, as a list with one point for each party.
func (l Line) details(b *strings.Builder) {
	if !l.detailed() {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", l.Name)
	var order []string
	texts := map[string][]string{}
	for _, e := range l.Entries {
		if columned(e) {
			e.Figure = "" // the table has it
		}
		text := strings.TrimSpace(e.Figure + " " + e.Text)
		if text == "" {
			continue
		}
		if e.At != "" {
			text = e.At + ": " + text
		}
		if texts[e.Who] == nil {
			order = append(order, e.Who)
		}
		texts[e.Who] = append(texts[e.Who], text)
	}
	for _, who := range order {
		fmt.Fprintf(b, "- %s: %s\n", strings.Replace(who, NameOurs, "Inferometer", 1), plain(strings.Join(texts[who], "; ")))
	}
	for _, n := range l.Notes {
		fmt.Fprintf(b, "- %s\n", plain(n))
	}
}

// writeRow writes a row of a table; no text in it ends its cell.
func writeRow(b *strings.Builder, cells []string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(plain(c), "|", "\\|") + " ")
	}
	b.WriteString("|\n")
}

func plain(text string) string { return strings.Join(strings.Fields(text), " ") }
