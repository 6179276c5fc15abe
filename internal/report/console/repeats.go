package console

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// Repeats prints several runs of one plan as one report.
func Repeats(w io.Writer, d *repeat.Document, o Options) error {
	p := printer{width: max(cmp.Or(o.Width, DefaultWidth), minWidth), style: screen.Style(o.Color), all: o.All, named: o.Named}
	p.repeatsHead(d, o.Subject)
	p.runs(d)
	for i := range d.Stages {
		p.repeatedStage(d, &d.Stages[i])
	}
	p.notes(d.Notes)
	p.until(d)
	p.repeatsVerdict(d)
	p.files(o)
	if _, err := w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("write console report: %w", err)
	}
	return nil
}

func (p *printer) repeatsHead(d *repeat.Document, subject string) {
	if d.Name != "" {
		p.wrapped("", d.Name)
	}
	name := strings.TrimSpace("Inferometer " + screen.Clean(d.Version))
	facts := number.Plural(int64(len(d.Runs)), "run")
	if len(d.Runs) < d.Requested && d.Ended != repeat.EndedUntil {
		facts = fmt.Sprintf("%d of %s", len(d.Runs), number.Plural(int64(d.Requested), "run"))
	}
	if n := len(d.Runs); n > 0 {
		facts += ", started " + d.Runs[0].Started.UTC().Format("2006-01-02 15:04:05 UTC") + ", seed " + strconv.FormatUint(d.Runs[0].Seed, 10)
		if n > 1 {
			facts += " to " + strconv.FormatUint(d.Runs[n-1].Seed, 10)
		}
	}
	p.line(p.style.Bold(name) + ": " + facts)
	if subject != "" {
		p.wrapped("", subject)
	}
	switch {
	case len(d.Runs) == 0:
	case d.Ended == repeat.EndedInterrupted:
		p.wrapped("", "The runs were interrupted: the figures are those of the runs that are whole.")
	case d.Ended == repeat.EndedFailed:
		p.wrapped("", "A run failed: the figures are those of the runs before it.")
	}
}

// runs prints a row for each run, with the figures of its only stage.
func (p *printer) runs(d *repeat.Document) {
	t := table{columns: []column{{title: "Run", left: true, keep: mustKeep}, {title: "OK", keep: 95}, {title: "Failed", keep: 95}}}
	for i := range d.Runs {
		r := &d.Runs[i]
		t.add(strconv.Itoa(r.Run), number.Count(r.OK), number.Count(r.Failed))
	}
	if len(t.rows) == 0 {
		return
	}
	if len(d.Stages) == 1 {
		compare(&t, eachRun(&d.Stages[0], len(d.Runs)))
	}
	t.columns = append(t.columns, column{title: "Verdict", left: true, keep: mustKeep})
	for i := range d.Runs {
		t.rows[i] = append(t.rows[i], strings.ToUpper(d.Runs[i].Verdict))
	}
	p.blank()
	p.table(&t)
	marked := func(mark string) bool {
		return slices.ContainsFunc(t.rows, func(row []string) bool {
			return slices.ContainsFunc(row, func(cell string) bool { return strings.Contains(cell, mark) })
		})
	}
	if marked(thinMark) {
		p.wrapped(indent, thinText)
	}
	if marked(number.Least) {
		p.wrapped(indent, leastText)
	}
}

// eachRun are the figures of a stage run by run, as far as they are compared.
func eachRun(s *repeat.StageRepeats, n int) []map[string]result.Stat {
	rows := make([]map[string]result.Stat, n)
	for i := range rows {
		rows[i] = map[string]result.Stat{}
		for id, m := range s.Metrics {
			avg, ok := m.Stats["avg"]
			if !ok || avg.Runs[i] == nil {
				continue
			}
			st := result.Stat{Unit: m.Unit, Avg: *avg.Runs[i]}
			if p50, p99 := m.Stats["p50"], m.Stats["p99"]; len(p50.Runs) > i && len(p99.Runs) > i && p50.Runs[i] != nil && p99.Runs[i] != nil {
				st.Distribution = &result.Distribution{P50: *p50.Runs[i], P99: *p99.Runs[i]}
				if p99.Thin {
					st.LowSamples = []string{"p99"}
				}
				for _, name := range []string{"p50", "p99"} {
					if m.Stats[name].AtLeast {
						st.AtLeast = append(st.AtLeast, name)
					}
				}
			}
			rows[i][id] = st
		}
	}
	return rows
}

// repeatedStage prints a level over all runs.
func (p *printer) repeatedStage(d *repeat.Document, s *repeat.StageRepeats) {
	p.blank()
	p.heading(&result.Stage{Index: s.Index, Name: s.Name, Load: s.Load}, len(d.Stages))
	share := strconv.FormatFloat(d.Confidence*100, 'f', -1, 64) + " %"
	t := table{columns: []column{
		{left: true, keep: mustKeep}, {left: true, keep: mustKeep}, {left: true, keep: mustKeep},
		{title: "mean", keep: mustKeep}, {title: share + "\ninterval", keep: mustKeep},
		{title: "smallest\nto largest", keep: 60}, {title: "varies\nby", keep: 80}, {title: share + "\nin one run", keep: 70},
	}}
	thin, least := false, false
	for _, r := range p.repeatRows(s) {
		m := s.Metrics[r.metric]
		label := r.label
		for _, stat := range p.repeatStats(&m) {
			f := m.Stats[stat]
			t.add(repeatCells(label, stat, r.unit, &m, &f)...)
			label, thin, least = "", thin || f.Thin, least || f.AtLeast
		}
	}
	p.table(&t)
	if thin {
		p.wrapped(indent, thinText)
	}
	if least {
		p.wrapped(indent, leastText)
	}
}

// repeatRows are the metrics that the table shows.
func (p *printer) repeatRows(s *repeat.StageRepeats) []row {
	var rows []row
	if p.all {
		rows = append(spreads(), rates()...)
		for _, id := range slices.Sorted(maps.Keys(s.Metrics)) {
			if !known(id) {
				rows = append(rows, row{metric: id, label: title(id)})
			}
		}
	} else {
		for _, id := range []string{"time_to_first_token", "inter_token_latency", "request_latency", "request_throughput", "output_token_throughput", "request_goodput",
			"slo_attainment", "error_rate", "cost_per_million_output_tokens", "cost_per_million_total_tokens", "energy_per_output_token"} {
			rows = append(rows, row{metric: id, label: labelOf(id)})
		}
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		m, ok := s.Metrics[r.metric]
		return !ok || !p.all && r.metric == "error_rate" && m.Stats["avg"].Max == 0
	})
}

// repeatStats are the statistics of a metric that the table shows.
func (p *printer) repeatStats(m *repeat.Metric) []string {
	list := []string{"avg", "p50", "p99"}
	if p.all {
		list = repeat.Statistics()
	}
	return slices.DeleteFunc(list, func(stat string) bool { _, ok := m.Stats[stat]; return !ok })
}

func repeatCells(label, stat, unit string, m *repeat.Metric, f *repeat.RepeatedStat) []string {
	scale := number.ScaleFor(m.Unit, f.Mean)
	shown := screen.Clean(scale.Unit)
	switch {
	case unit != "":
		shown = strings.TrimSpace(unit)
	case strings.HasSuffix(label, "/s"):
		shown = ""
	}
	if len(m.Stats) == 1 {
		stat = ""
	}
	around, varies, within := "", "", ""
	if f.Interval != nil {
		around = "± " + scale.FormatOwn(math.Abs(f.Interval.Hi-f.Interval.Lo)/2)
		if f.CV != nil {
			varies = number.Share(*f.CV)
		}
	}
	if f.Within != nil {
		within = "± " + scale.FormatOwn(*f.Within)
	}
	mark := ""
	if f.Thin {
		mark = thinMark
	}
	return []string{label, stat, shown, mark + number.AtLeast(scale.Format(f.Mean), f.AtLeast), around, scale.Format(f.Min) + " to " + scale.Format(f.Max), varies, within}
}

// until says whether what the runs went on for holds.
func (p *printer) until(d *repeat.Document) {
	if d.Until == nil {
		return
	}
	p.blank()
	after := "after " + number.Plural(int64(len(d.Runs)), "run")
	text := "holds " + after
	switch {
	case d.Until.Met:
	case d.Ended == "":
		text = "does not hold " + after + ", the most that were allowed"
	case d.Ended == repeat.EndedTime:
		text = "does not hold " + after + ", and the time is up"
	default:
		text = "does not hold " + after
	}
	p.wrapped("", d.Until.Expression+" "+text+".")
	for _, l := range d.Until.Levels {
		switch {
		case l.Value == nil:
			p.item(screen.Join(": ", l.Where, "not known: "+l.Why))
		default:
			p.item(fmt.Sprintf("%s: %s", l.Where, number.Share(*l.Value)))
		}
	}
}

// repeatsVerdict says whether to trust the runs.
func (p *printer) repeatsVerdict(d *repeat.Document) {
	p.blank()
	if len(d.Runs) == 0 {
		p.line(p.style.Bad("NO RUN") + " is whole.")
		return
	}
	if d.Valid {
		p.line(p.style.Good("VALID") + ": " + allRuns(len(d.Runs)))
		return
	}
	var bad []*repeat.RunDoc
	word := strings.ToUpper(result.Inconclusive)
	for i := range d.Runs {
		if d.Runs[i].Verdict == result.Valid {
			continue
		}
		bad = append(bad, &d.Runs[i])
		if d.Runs[i].Verdict == result.Invalid {
			word = strings.ToUpper(result.Invalid)
		}
	}
	p.line(p.style.Bad(word) + fmt.Sprintf(": %d of %s cannot be trusted.", len(bad), number.Plural(int64(len(d.Runs)), "run")))
	for _, r := range bad {
		for _, why := range r.Reasons {
			p.item(fmt.Sprintf("Run %d: %s", r.Run, why))
		}
	}
}

func allRuns(n int) string {
	if n == 1 {
		return "the one run is."
	}
	return fmt.Sprintf("all %d runs are.", n)
}
