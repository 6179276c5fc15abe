package md

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/repeat"
)

// Repeats writes several runs of one plan to w.
func Repeats(w io.Writer, d *repeat.Document, o Options) error {
	var p printer
	about, word := "Inferometer", "VALID"
	if o.Name != "" {
		about = prose(o.Name, nameWidth)
	}
	if !d.Valid {
		word = "NOT VALID"
	}
	p.line("### %s: %s, %s\n", about, number.Plural(int64(len(d.Runs)), "run"), word)
	if o.Subject != "" {
		p.line("%s", code(o.Subject, subjectWidth))
	}
	var reasons []string
	for i := range d.Runs {
		for _, why := range d.Runs[i].Reasons {
			reasons = append(reasons, fmt.Sprintf("Run %d: %s", d.Runs[i].Run, why))
		}
	}
	p.list("", reasons, mostReasons)
	for i := range d.Stages {
		s := &d.Stages[i]
		p.line("\n**%s**\n", prose(strings.TrimPrefix(s.Name+": "+s.Load, ": "), nameWidth))
		p.table(repeatColumns(d, s), mostTable/max(len(d.Stages), 1)*2)
	}
	notes := d.Notes
	if u := d.Until; u != nil && !u.Met {
		notes = append([]string{u.Expression + " does not hold."}, notes...)
	}
	p.list("Notes", notes, mostNotes)
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write Markdown report: %w", err)
	}
	return nil
}

// repeatColumns are the figures of a level over the runs.
func repeatColumns(d *repeat.Document, s *repeat.StageRepeats) []column {
	share := strconv.FormatFloat(d.Confidence*100, 'f', -1, 64) + " %"
	list := []column{{title: "Figure", left: true}, {title: "mean"}, {title: share + " interval"}, {title: "smallest"}, {title: "largest"}, {title: "varies by"}, {title: share + " in one run"}}
	for _, f := range figures() {
		stat := f.stat
		if stat == "" {
			stat = "avg"
		}
		m := s.Metrics[f.metric]
		v, ok := m.Stats[stat]
		if !ok {
			continue
		}
		scale := number.ScaleFor(m.Unit, v.Mean)
		name := f.title
		if f.stat != "" {
			name += " " + f.stat + ", " + scale.Unit
		}
		around, varies, within := "", "", ""
		if v.Interval != nil {
			around = "± " + scale.FormatOwn(math.Abs(v.Interval.Hi-v.Interval.Lo)/2)
			if v.CV != nil {
				varies = number.Share(*v.CV)
			}
		}
		if v.Within != nil {
			within = "± " + scale.FormatOwn(*v.Within)
		}
		for i, cell := range []string{name, number.AtLeast(scale.Format(v.Mean), v.AtLeast), around, scale.Format(v.Min), scale.Format(v.Max),
			varies, within} {
			list[i].cells = append(list[i].cells, cell)
		}
	}
	return list
}
