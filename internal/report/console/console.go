// Package console prints a result as text for a person: for each stage what was
// asked, a table of what was measured in units that are read at a glance, how
// the requests fared, and at the end whether to believe it all.
//
// It calculates nothing. Every figure is in the result; here it only gets a
// unit, a number of digits and a place. A metric that the result does not have
// is left out: no value is something else than zero.
package console

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// The widths that a report can have.
const (
	DefaultWidth = 100
	minWidth     = 60
)

// Options say how a result is printed.
type Options struct {
	Width   int      // columns; 0: DefaultWidth
	Color   bool     // use ANSI colours
	All     bool     // every metric and check, and the steady window's table
	Subject string   // what was measured, for the first line: the URL and the model
	Dir     string   // where the files of the run are; empty: none were written
	Files   []string // their names in Dir
	Page    string   // the file of the report page; empty: there is none
	Named   bool     // stages go by their names alone, and not by number
	Brief   bool     // what is decided by, and the figures: nothing else of each stage
}

// Write prints r to w.
func Write(w io.Writer, r *result.Result, o Options) error {
	p := printer{width: max(cmp.Or(o.Width, DefaultWidth), minWidth), style: screen.Style(o.Color), all: o.All, named: o.Named}
	p.head(r, o.Subject)
	p.headline(r)
	p.saturation(r)
	p.capacity(r)
	levels := r.Capacity != nil && !o.All // whose figures are there
	several := len(r.Stages) > 1
	if several && !levels {
		p.comparison(r)
	}
	for i := range r.Stages {
		switch {
		case levels || o.Brief && several:
		case o.Brief:
			p.blank()
			p.figuresOf(&r.Stages[i])
			p.blank()
			p.failures(r.Stages[i].Failures)
		default:
			p.stage(r, &r.Stages[i])
		}
	}
	p.calibration(r.Calibration)
	if !o.Brief {
		p.notes(r.Notes)
	}
	p.verdict(r)
	p.gates(r.Gates)
	p.files(o)
	if _, err := w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("write console report: %w", err)
	}
	return nil
}

type printer struct {
	buf   bytes.Buffer
	width int
	style screen.Style
	all   bool
	named bool
	thin  bool // a percentile with too few samples was printed in this stage
	least bool // a lower bound was
	apart bool // the next line stands apart from the last one

	within bool // how well figures are known was printed in this stage
}

func (p *printer) line(s string) {
	if p.apart {
		p.buf.WriteByte('\n')
		p.apart = false
	}
	p.buf.WriteString(s)
	p.buf.WriteByte('\n')
}

// blank leaves an empty line before what follows, if anything does.
func (p *printer) blank() { p.apart = true }

// indent is the space before everything that belongs to a heading.
const indent = "  "

// labelWidth is the room of the label before a paragraph.
const labelWidth = 13

// paragraph prints wrapped text with a label at its first line.
func (p *printer) paragraph(label, text string) {
	p.wrapped(indent+screen.Left(label, labelWidth), text)
}

func (p *printer) item(text string) {
	p.wrapped(indent+"- ", text)
}

// wrapped prints text between first, which starts its first line, and the
// right margin.
func (p *printer) wrapped(first, text string) {
	w := screen.Width(first)
	for i, l := range screen.Wrap(screen.Clean(text), p.width-w) {
		if i > 0 {
			first = strings.Repeat(" ", w)
		}
		p.line(first + l)
	}
}

func (p *printer) table(t *table) {
	for _, l := range t.render(p.width-len(indent), p.style) {
		p.line(indent + l)
	}
}

func (p *printer) head(r *result.Result, subject string) {
	if r.Name != "" {
		for _, l := range screen.Wrap(screen.Clean(r.Name), p.width) {
			p.line(p.style.Bold(l))
		}
	}
	facts := []string{number.Plural(int64(len(r.Stages)), "stage") + " in " + number.Seconds(r.Duration)}
	if !r.Started.IsZero() {
		facts = append(facts, "started "+r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	facts = append(facts, fmt.Sprintf("seed %d", r.Seed))
	name := "Inferometer"
	if r.Version != "" {
		name += " " + screen.Clean(r.Version)
	}
	for i, l := range screen.Wrap(name+": "+strings.Join(facts, ", "), p.width) {
		if i == 0 {
			l = p.style.Bold(name) + strings.TrimPrefix(l, name)
		}
		p.line(l)
	}
	if about := strings.Trim(subject+", run "+screen.Clean(r.RunID), ", "); r.RunID != "" {
		subject = about
	}
	if subject != "" {
		p.wrapped("", subject)
	}
	if r.Interrupted {
		p.wrapped("", "The run was interrupted: the figures cover what was measured until then.")
	}
	if r.Incomplete {
		p.wrapped("", "The run did not end properly: the figures cover the requests that were on disk.")
	}
}

func (p *printer) headline(r *result.Result) {
	text := r.Headline()
	if text == "" {
		return
	}
	p.blank()
	for _, l := range screen.Wrap(screen.Clean(text), p.width) {
		p.line(p.style.Bold(l))
	}
}

func (p *printer) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	p.blank()
	p.line(p.style.Bold("Notes"))
	for _, n := range notes {
		p.item(n)
	}
}

func (p *printer) files(o Options) {
	if o.Page != "" {
		p.blank()
		p.wrapped("", "Page: "+o.Page)
	}
	if o.Dir == "" {
		return
	}
	if o.Page == "" {
		p.blank()
	}
	text := "Files in " + o.Dir
	if len(o.Files) > 0 {
		text += ": " + strings.Join(o.Files, ", ")
	}
	p.wrapped("", text)
}

// plain turns the name of a field into words.
func plain(name string) string { return strings.ReplaceAll(name, "_", " ") }

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number.Count(n) + " " + many
}
