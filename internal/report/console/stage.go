package console

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

func (p *printer) stage(r *result.Result, s *result.Stage) {
	p.blank()
	p.heading(s, len(r.Stages))
	p.stageVerdict(r, s)
	p.figuresOf(s)
	p.cost(s)
	p.windows(s)
	p.targets(s.Targets)
	p.parts("Model", s.Models)
	p.workers(s.Workers)
	p.blank()
	p.goodput(s)
	p.failures(s.Failures)
	p.tokens(s.Tokens)
	p.cached(s.Metrics)
	p.client(s.Metrics)
	p.errorBars(s)
	p.precision(s)
	p.server(s.Server)
	p.services(s.Services)
}

// figuresOf prints how many requests there were, and the tables of what they measured.
func (p *printer) figuresOf(s *result.Stage) {
	p.counts(s)
	p.thin, p.least, p.within = false, false, false
	p.spread(s.Metrics, spreads())
	if p.all {
		p.spread(s.Metrics, rest(s.Metrics, true))
		p.steadySpread(s.Steady)
	}
	if p.thin {
		p.wrapped(indent, thinText)
	}
	if p.least {
		p.wrapped(indent, leastText)
	}
	if s.Counts.OK > 0 { // else rates are of nothing
		p.rates(s)
	}
	if p.within {
		p.wrapped(indent, withinText)
	}
}

func (p *printer) heading(s *result.Stage, of int) {
	name := screen.Clean(s.Name)
	if of > 1 && !p.named {
		name = screen.Join(", ", fmt.Sprintf("Stage %d of %d", s.Index+1, of), name)
	}
	for _, l := range screen.Wrap(screen.Join(": ", name, screen.Clean(s.Load)), p.width) {
		p.line(p.style.Bold(l))
	}
}

func (p *printer) counts(s *result.Stage) {
	c := s.Counts
	text := fmt.Sprintf("%s in %s: %s ok", number.Plural(c.Sent, "request"), number.Seconds(s.Window.End-s.Window.Begin), number.Count(c.OK))
	if c.Failed > 0 {
		text += ", " + number.Count(c.Failed) + " failed"
	}
	if c.CutOff > 0 {
		text += " (" + number.Count(c.CutOff) + " of them cut off)"
	}
	if c.UserCancelled > 0 {
		text += ", " + number.Count(c.UserCancelled) + " cancelled by their users"
	}
	if c.Warmup > 0 {
		text += "; before that " + number.Plural(c.Warmup, "warm-up request")
	}
	if m, ok := s.Metrics["request_throughput"]; ok && s.Rate > 0 {
		text += fmt.Sprintf("; %s/s requested, %s/s completed", number.Value(s.Rate, ""), number.Value(m.Avg, ""))
	}
	p.wrapped(indent, text)
	if c.Scheduled > 0 {
		p.wrapped(indent, fmt.Sprintf("%s scheduled, %s of them waited for a slot, %s never sent",
			number.Count(c.Scheduled), number.Count(c.Waited), number.Count(c.Unsent)))
	}
}

// thinMark stands before a percentile with too few samples.
const thinMark = "~"

const thinText = thinMark + " too few samples for this percentile: likely to vary between runs"

const leastText = number.Least + "requests did not end: the figure is at least this much"

// spread prints the table of the metrics that have samples.
func (p *printer) spread(all map[string]result.Stat, rows []row) {
	stats := statistics()
	t := table{columns: []column{
		{title: "", left: true, keep: mustKeep},
		{title: "", left: true, keep: mustKeep},
		{title: "avg", keep: mustKeep},
		{title: withinTitle, keep: keepWithinAvg},
	}}
	for _, st := range stats {
		t.columns = append(t.columns, column{title: st.name, keep: st.keep})
		if st.within > 0 {
			t.columns = append(t.columns, column{title: withinTitle, keep: st.within})
		}
	}
	t.columns = append(t.columns, column{title: "count", keep: 10})
	for _, r := range rows {
		m, ok := all[r.metric]
		if !ok || !p.all && tellsNothing(all, r.metric) {
			continue
		}
		t.add(cells(r, m, stats)...)
	}
	if len(t.rows) == 0 {
		return
	}
	p.blank()
	p.figureTable(&t)
}

// figureTable prints a table, and notes which of its marks are to be explained.
func (p *printer) figureTable(t *table) {
	for _, l := range t.render(p.width-len(indent), p.style) {
		p.thin = p.thin || strings.Contains(l, thinMark)
		p.least = p.least || strings.Contains(l, number.Least)
		p.within = p.within || strings.Contains(l, withinTitle)
		p.line(indent + l)
	}
}

// tellsNothing reports whether a metric is the same as the one it refines: the
// first visible token was always the first token, every request went out when it
// was due, or every event had one token.
func tellsNothing(all map[string]result.Stat, metric string) bool {
	var refined string
	switch metric {
	case "tokens_per_event":
		s := all[metric].Distribution
		return s != nil && s.Min == 1 && s.Max == 1
	case "inter_event_latency":
		refined = "inter_token_latency"
	case "time_to_first_output_token":
		refined = "time_to_first_token"
	case "request_latency_from_due":
		refined = "request_latency"
	default:
		return false
	}
	a, b := all[refined], all[metric]
	if a.Distribution == nil || b.Distribution == nil || a.Count != b.Count {
		return false
	}
	if apart(a.Avg, b.Avg) {
		return false
	}
	for _, st := range statistics() {
		if apart(a.Distribution.Quantile(st.name), b.Distribution.Quantile(st.name)) {
			return false
		}
	}
	return true
}

// apart reports whether figures differ by more than what rounding and a client's few microseconds make.
func apart(a, b float64) bool { return math.Abs(a-b) > 0.01*max(math.Abs(a), math.Abs(b)) }

func cells(r row, m result.Stat, stats []statistic) []string {
	scale := number.ScaleFor(m.Unit, m.Avg)
	unit := screen.Clean(scale.Unit)
	if r.unit != "" {
		unit = strings.TrimSpace(r.unit)
	}
	row := []string{r.label, unit, number.AtLeast(scale.Format(m.Avg), m.Open("avg")), within(&m, mean)}
	for _, st := range stats {
		cell := ""
		if m.Distribution != nil {
			cell = number.AtLeast(scale.Format(m.Distribution.Quantile(st.name)), m.Open(st.name))
			if slices.Contains(m.LowSamples, st.name) {
				cell = thinMark + cell
			}
		}
		row = append(row, cell)
		if st.within > 0 {
			row = append(row, within(&m, st.name))
		}
	}
	count := ""
	if m.Count > 0 {
		count = number.Count(m.Count)
	}
	return append(row, count)
}

// steadySpread prints the table of the steady window.
func (p *printer) steadySpread(s *result.Steady) {
	if s == nil {
		return
	}
	p.blank()
	p.wrapped(indent, steadyText(s))
	p.spread(s.Metrics, append(spreads(), rest(s.Metrics, true)...))
}

func steadyText(s *result.Steady) string {
	return fmt.Sprintf("Steady window: %s to %s of the run, %s",
		number.Seconds(s.Window.Begin), number.Seconds(s.Window.End), number.Plural(s.Counts.Sent, "request"))
}

// rates prints the figures of the stage as a whole, beside those of its
// steady window.
func (p *printer) rates(s *result.Stage) {
	t := table{columns: []column{
		{left: true, keep: mustKeep},
		{left: true, keep: mustKeep},
		{title: "whole stage", keep: mustKeep},
		{title: withinTitle, keep: keepWithinAvg},
		{title: "steady", keep: mustKeep},
		{title: withinTitle, keep: keepWithinAvg},
	}}
	var steady map[string]result.Stat
	if s.Steady != nil {
		steady = s.Steady.Metrics
	}
	rows := rates()
	if p.all {
		rows = append(rows, rest(s.Metrics, false)...)
	}
	for i, r := range rows {
		m, ok := s.Metrics[r.metric]
		if !ok {
			continue
		}
		scale, unit := number.ScaleFor(m.Unit, m.Avg), ""
		if i >= len(rates()) {
			unit = screen.Clean(scale.Unit)
		}
		beside, besideWithin := "", ""
		if m, ok := steady[r.metric]; ok {
			beside, besideWithin = scale.Format(m.Avg), within(&m, mean)
		}
		t.add(r.label, unit, scale.Format(m.Avg), within(&m, mean), beside, besideWithin)
	}
	if len(t.rows) == 0 {
		return
	}
	p.blank()
	p.figureTable(&t)
	if s.Steady != nil && !p.all {
		p.wrapped(indent, steadyText(s.Steady))
	}
}

func (p *printer) goodput(s *result.Stage) {
	label := "Objectives"
	for _, g := range s.Goodput {
		text := fmt.Sprintf("%s ≤ %s: met by %s of %s", labelOf(g.Metric), number.Value(g.MaxMS, "ms"), number.Count(g.Met), number.Plural(g.Of, "request"))
		if g.Of > 0 {
			text += ", " + number.Share(float64(g.Met)/float64(g.Of))
		}
		p.paragraph(label, text)
		label = ""
	}
	if m, ok := s.Metrics["slo_attainment"]; ok && len(s.Goodput) > 1 {
		p.paragraph("", "All of them: met by "+number.Value(m.Avg, m.Unit)+" of the requests")
	}
}

// client says what this program's own part in the figures was. The maximum
// stands in for a p99 that has too few samples, as that of connections often has.
func (p *printer) client(all map[string]result.Stat) {
	if !p.all {
		p.clientInWords(all)
		return
	}
	var texts []string
	for _, r := range clients() {
		m, ok := all[r.metric]
		if !ok || m.Distribution == nil {
			continue
		}
		high, value := "p99", m.P99
		if slices.Contains(m.LowSamples, high) {
			high, value = "max", m.Max
		}
		texts = append(texts, fmt.Sprintf("%s p50 %s, %s %s", r.label, number.Value(m.P50, m.Unit), high, number.Value(value, m.Unit)))
	}
	if len(texts) > 0 {
		p.paragraph("Client", strings.Join(texts, "; "))
	}
}

// clientInWords says in a line how well this program kept up.
func (p *printer) clientInWords(all map[string]result.Stat) {
	var texts []string
	for _, r := range []row{
		{metric: "dispatch_delay", label: "sent %s within %s of their time"},
		{metric: "read_delay", label: "read %s within %s of their arrival"},
	} {
		m, ok := all[r.metric]
		if !ok || m.Distribution == nil {
			continue
		}
		who, value := "99 %% of the requests", m.P99
		if r.metric == "read_delay" {
			who = "99 %% of the data"
		}
		if slices.Contains(m.LowSamples, "p99") {
			who, value = strings.Replace(who, "99 %% of the", "all", 1), m.Max
		}
		texts = append(texts, fmt.Sprintf(strings.Replace(r.label, "%s", who, 1), number.Value(value, m.Unit)))
	}
	if len(texts) > 0 {
		p.paragraph("Client", strings.Join(texts, ", "))
	}
	if m, ok := all["slot_wait"]; ok && m.Distribution != nil && m.Max > 0 {
		p.paragraph("", "requests waited up to "+number.Value(m.Max, m.Unit)+" for one of those in flight to end")
	}
}

// exampleWidth bounds what is shown of an error message, which may be a whole
// page.
const exampleWidth = 200

func (p *printer) failures(all []record.FailureCount) {
	label := "Failures"
	for _, f := range all {
		text := number.Count(f.Count) + " × " + f.Kind().String()
		if f.Example != "" {
			text += ", such as: " + screen.Clip(screen.Clean(f.Example), exampleWidth)
		}
		p.paragraph(label, text)
		label = ""
	}
}

// cached says how much of the prompts the server had in its cache, where it says so.
func (p *printer) cached(metrics map[string]result.Stat) {
	if m, ok := metrics["cached_prompt_share"]; ok && m.Avg > 0 {
		p.paragraph("Cache", fmt.Sprintf("%s %% of the prompt tokens came from the server's prefix cache", strconv.FormatFloat(m.Avg*100, 'f', 1, 64)))
	}
}

func (p *printer) tokens(t result.Tokens) {
	if t.Prompts.Far() {
		p.paragraph("Prompts", fmt.Sprintf("asked for %s tokens, the server counted %s: they are made with the tokenizer %s",
			number.Count(int64(math.Round(t.Prompts.Requested))), number.Count(int64(math.Round(t.Prompts.Counted))), t.Tokenizer))
	}
	in, out := sources(t.Input, t.Tokenizer), sources(t.Output, t.Tokenizer)
	switch {
	case in == "" && out == "":
	case in == out:
		p.paragraph("Tokens", "input and output "+in)
	case in == "":
		p.paragraph("Tokens", "output "+out)
	case out == "":
		p.paragraph("Tokens", "input "+in)
	default:
		p.paragraph("Tokens", "input "+in+"; output "+out)
	}
}

// sources says in words who counted the tokens; with the numbers of requests
// where there is more than one source.
func sources(by map[string]int64, tokenizer string) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(by)), func(s string) bool { return by[s] == 0 })
	texts := make([]string, 0, len(names))
	for _, name := range names {
		text := source(name, tokenizer)
		if len(names) > 1 {
			text += " in " + number.Plural(by[name], "request")
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func source(name, tokenizer string) string {
	switch {
	case name == "server":
		return "counted by the server"
	case name == "tokenizer" && tokenizer == "words":
		return "counted in words (no tokenizer given)"
	case name == "tokenizer" && tokenizer != "":
		return "counted by the tokenizer " + tokenizer
	case name == "tokenizer":
		return "counted by the tokenizer"
	case name == "uncounted":
		return "not counted"
	case name == "events":
		return "counted as one per event"
	default:
		return plain(name)
	}
}
