package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// verdict says whether to trust the figures, and with All shows every check.
func (p *printer) verdict(r *result.Result) {
	p.blank()
	v := r.Verdict
	switch {
	case r.Differs():
		word := p.style.Bad(strings.ToUpper(v.Status))
		for i, l := range screen.Wrap(strings.ToUpper(v.Status)+" as a whole. "+screen.Clean(v.Summary), p.width) {
			if i == 0 {
				l = word + strings.TrimPrefix(l, strings.ToUpper(v.Status))
			}
			p.line(l)
		}
	case v.Valid:
		p.line(p.style.Good("VALID") + ": all " + number.Plural(int64(len(v.Checks)), "check") + " passed.")
	case v.Status == result.Inconclusive:
		p.line(p.style.Bad("INCONCLUSIVE") + ": not enough data to judge this run.")
	default:
		p.line(p.style.Bad("INVALID") + ": do not use these results.")
	}
	for _, reason := range v.Reasons {
		p.item(reason)
	}
	for _, why := range v.Undecided {
		p.item("Undecided: " + why)
	}
	if p.all && len(v.Checks) > 0 {
		p.blank()
		p.checks(v.Ranked())
	}
}

// stageVerdict says of one of several stages whether to trust it, where others differ.
func (p *printer) stageVerdict(r *result.Result, s *result.Stage) {
	if !r.Differs() || s.Verdict == nil {
		return
	}
	switch s.Verdict.Status {
	case result.Valid:
		p.line(indent + p.style.Good("VALID"))
	case result.Inconclusive:
		p.line(indent + p.style.Bad("INCONCLUSIVE") + ": too little was measured to tell whether to trust this stage (see the end).")
	default:
		p.line(indent + p.style.Bad("INVALID") + ": do not rely on the figures of this stage (reasons at the end).")
	}
}

// checks prints the verdict's table, what is over budget first and what is undecided next,
// and below it what to do about those.
func (p *printer) checks(sorted []result.Check) {
	t := table{columns: []column{
		{title: "Check", left: true}, {title: "stage", keep: 10}, {title: "measured", keep: mustKeep}, {title: "budget", keep: mustKeep}, {title: "verdict", keep: mustKeep, left: true},
	}}
	for i := range sorted {
		c := &sorted[i]
		stage := ""
		if c.Stage >= 0 {
			stage = strconv.Itoa(c.Stage + 1)
		}
		measured, verdict := number.Value(c.Value, c.Unit), "ok"
		switch {
		case c.Undecided:
			measured, verdict = "-", "undecided"
		case !c.OK:
			verdict = "MISSED"
		}
		t.add(screen.Clean(plain(c.Name)), stage, measured, number.Value(c.Budget, c.Unit), verdict)
	}
	p.table(&t)
	var told []string
	for i := range sorted {
		do := sorted[i].Fix
		if do == "" || slices.Contains(told, do) {
			continue
		}
		told = append(told, do)
		var names []string
		for k := range sorted {
			if name := plain(sorted[k].Name); sorted[k].Fix == do && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		p.item(strings.Join(names, ", ") + ": " + do)
	}
}

// errorBars says how far the figures that most people read can be off.
func (p *printer) errorBars(s *result.Stage) {
	var texts []string
	for _, r := range []row{
		{metric: "time_to_first_token", label: "time to first token"}, {metric: "inter_token_latency", label: "inter-token latency"},
		{metric: "request_latency", label: "request latency"}, {metric: "request_throughput", label: "throughput"},
	} {
		m, ok := s.Metrics[r.metric]
		if !ok || m.Error == nil || number.Value(m.Off("avg"), m.Unit) == number.Value(0, m.Unit) {
			continue // nothing is worth a word that is rounded to nothing
		}
		text := r.label + " ±" + number.Value(m.Off("avg"), m.Unit)
		if m.Distribution != nil && m.Off("p99") > 0 && !slices.Contains(m.LowSamples, "p99") {
			text += " (p99 ±" + number.Value(m.Off("p99"), m.Unit) + ")"
		}
		// A rate's bar is that of its own column.
		if m.Distribution == nil && s.Steady != nil {
			steady := s.Steady.Metrics[r.metric]
			text += " (steady ±" + number.Value(steady.Off("avg"), m.Unit) + ")"
		}
		texts = append(texts, text)
	}
	if len(texts) > 0 {
		p.paragraph("Error bars", strings.Join(texts, "; "))
	}
}

// calibration prints the error bars that were found on the mock ahead of the run.
func (p *printer) calibration(c *result.Calibration) {
	if c == nil {
		return
	}
	p.blank()
	p.line(p.style.Bold("Calibration") + ": the built-in mock, measured on this host before the run")
	var bars []string
	for _, b := range c.Bars {
		if p.all && b.Unit == "ms" || slices.Contains(calibrated(), b.Metric) {
			bars = append(bars, b.Name+" ±"+number.Value(b.Error, b.Unit))
		}
	}
	p.paragraph("Error bars", strings.Join(bars, ", "))
	p.paragraph("Load", fmt.Sprintf("%s: %s, %s. This run: %s.", c.Load, held(c.Rate, c.InFlight, c.Events), strings.ToUpper(c.Verdict), held(c.Run.Rate, c.Run.InFlight, c.Run.Events)))
}

// calibrated are the metrics whose error bars are printed; --all prints those of all times.
func calibrated() []string {
	return []string{"time_to_first_token", "inter_token_latency", "request_latency", "request_throughput", "output_token_throughput"}
}

func held(rate, inFlight, events float64) string {
	return fmt.Sprintf("%s, %s in flight, %s events/s", number.Value(rate, "requests/sec"), number.Value(inFlight, "requests"), number.Value(events, ""))
}

// gates says what came of the user's conditions, and what was found.
func (p *printer) gates(gates []result.Gate) {
	if len(gates) == 0 {
		return
	}
	p.blank()
	paint := p.style.Good
	switch {
	case result.CountMissed(gates) > 0:
		paint = p.style.Bad
	case result.CountUndecided(gates) > 0:
		paint = p.style.Warn
	}
	p.line(paint(result.Headline(gates)) + ".")
	title, conditions := result.Conditions(gates)
	t := table{columns: []column{{title: title, left: true}, {title: "level", keep: 10, left: true}, {title: "measured", keep: mustKeep}, {title: "gate", keep: mustKeep, left: true}}}
	for i := range gates {
		g, where := &gates[i], ""
		if result.SeveralLevels(gates) {
			where = screen.Clean(g.Where)
		}
		t.add(screen.Clean(conditions[i]), where, g.Found(), g.Word())
	}
	p.table(&t)
	for i := range gates {
		if notes := gates[i].Notes(); len(notes) > 0 {
			p.item(gates[i].Condition() + ": " + strings.Join(notes, "; "))
		}
	}
}

// withinTitle heads a column of how well the figures before it are known by so few requests,
// whatever the client measures them with.
const withinTitle = "±"

const (
	// withinUnknown stands for an interval that is not known.
	withinUnknown = "±?"
	withinText    = withinTitle + " half the 95 % confidence interval (sampling); " + withinUnknown + " not known: too few requests"
	// keepWithinAvg is the keep of the column beside averages.
	keepWithinAvg = 90
	mean          = "avg"
)

// within says how well a statistic is known, as a share of it; nothing where it has no interval.
func within(m *result.Stat, name string) string {
	switch share, known, ok := m.Within(name); {
	case !ok:
		return ""
	case !known:
		return withinUnknown
	default:
		return number.PlusMinus(share)
	}
}

// precision says in words how well the figure is known that most people read first.
func (p *printer) precision(s *result.Stage) {
	if text := s.Precision(); text != "" {
		p.paragraph("Precision", text)
	}
}
