package servermetrics

import (
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// PageFigures is what one page says, or one GPU on it.
type PageFigures struct {
	Page    int
	GPU     string
	Role    string // of workers: all those of one on all pages; empty: it is about a page or a GPU
	Figures []record.Figure
}

// Series is how a metric went over time, all pages together.
type Series struct {
	Name, Unit string
	Role       string // of the workers that it is about; empty: all
	At         []time.Duration
	Values     []float64
}

type view struct {
	log   *PageLog
	pages []*pageLog
	gpu   string // empty: all
	role  string // empty: all
}

// Figures are what all pages together say.
func (l *PageLog) Figures() []record.Figure {
	v := view{log: l, pages: l.pages}
	return v.figures(func(*Metric) bool { return true })
}

// Parts are what each page says and each GPU, where there is more than one of them.
func (l *PageLog) Parts() []PageFigures {
	var serving, gpus []PageFigures
	for i, p := range l.pages {
		v := view{log: l, pages: []*pageLog{p}}
		if f := v.figures(func(m *Metric) bool { return !m.PerGPU }); len(f) > 0 {
			serving = append(serving, PageFigures{Page: i, Figures: f})
		}
		for _, g := range p.gpus() {
			v.gpu = g
			gpus = append(gpus, PageFigures{Page: i, GPU: g, Figures: v.figures(func(m *Metric) bool { return m.PerGPU })})
		}
	}
	var out []PageFigures
	if len(serving) > 1 {
		out = serving
	}
	if len(gpus) > 1 {
		out = append(out, gpus...)
	}
	for _, role := range l.roles() {
		v := view{log: l, pages: l.pages, role: role}
		if f := v.figures(func(m *Metric) bool { return !m.PerGPU && m.Kind != record.FigureHistogram }); len(f) > 0 {
			out = append(out, PageFigures{Role: role, Figures: f})
		}
	}
	return out
}

// metrics are those of all pages in the view, each once, in order.
func (v *view) metrics() []Metric {
	var all []Metric
	for _, p := range v.pages {
		for _, m := range p.metrics {
			if !slices.ContainsFunc(all, func(a Metric) bool { return a.Own == m.Own && a.Name == m.Name }) {
				all = append(all, m)
			}
		}
	}
	return all
}

func (v *view) figures(want func(*Metric) bool) []record.Figure {
	var out []record.Figure
	has := func(name string) bool {
		return slices.ContainsFunc(out, func(f record.Figure) bool { return f.Name == name })
	}
	all := v.metrics()
	for i := range all {
		m := &all[i]
		if !want(m) || has(m.Name) {
			continue
		}
		if f, ok := v.figure(m); ok {
			out = append(out, f)
		}
	}
	return Derive(out)
}

func (v *view) figure(m *Metric) (record.Figure, bool) {
	f := record.Figure{Name: m.Name, Metric: m.Own, Kind: m.Kind, Unit: m.Unit}
	switch m.Kind {
	case record.FigureCounter:
		total, ok := v.increase(m)
		if !ok {
			return f, false
		}
		f.Total, f.Rate = &total, v.perSecond(total)
	case record.FigureGauge:
		_, values := v.gauge(m, true)
		if len(values) == 0 {
			return f, false
		}
		describe(&f, values)
	case record.FigureHistogram:
		b := v.histogram(m)
		if !b.there {
			return f, false
		}
		f.Total, f.Rate = &b.count, v.perSecond(b.count)
		if b.count > 0 {
			mean := b.sum / b.count
			f.Mean, f.Within = &mean, b.quantiles()
		}
	}
	return f, true
}

// describe says how the values of a gauge are spread.
func describe(f *record.Figure, values []float64) {
	sorted := slices.Sorted(slices.Values(values))
	var sum float64
	for _, v := range sorted {
		sum += v
	}
	at := func(q float64) *float64 {
		v := stat.Linear.QuantileOf(sorted, q)
		return &v
	}
	mean := sum / float64(len(sorted))
	f.Mean, f.Median, f.P90, f.P99 = &mean, at(0.5), at(0.9), at(0.99)
	f.Min, f.Max = &sorted[0], &sorted[len(sorted)-1]
}

func (v *view) perSecond(total float64) *float64 {
	begin, end := v.log.Window()
	if end <= begin {
		return nil
	}
	rate := total / (end - begin).Seconds()
	return &rate
}

func (v *view) value(p *pageLog, m *Metric, look int) (value float64, there bool) {
	n := 0.0
	for c, x := range p.values[look] {
		if c.own == m.Own && c.role == v.role && (v.gpu == "" || c.gpu == v.gpu) {
			value += x
			n++
		}
	}
	if m.Mean && n > 0 {
		value /= n
	}
	return value, n > 0
}

// increase is by how much a counter rose. One that began anew, or was not there before, counts from
// 0.
func (v *view) increase(m *Metric) (total float64, there bool) {
	for _, p := range v.pages {
		var last float64
		seen, looked := false, false
		for i := range p.values {
			if p.values[i] == nil {
				continue
			}
			x, ok := v.value(p, m, i)
			if ok {
				switch {
				case !looked: // what the server did before
				case x >= last:
					total += x - last
				default:
					total += x
				}
				last, seen = x, true
			}
			looked = true
		}
		there = there || seen
	}
	return total, there
}

// gauge is a metric over time, all pages of the view together. A time at which one of them said
// nothing is left out. The edges, without load, count only where there is nothing else.
func (v *view) gauge(m *Metric, inside bool) (at []time.Duration, values []float64) {
	var having []*pageLog
	for _, p := range v.pages {
		for i := range p.values {
			if _, ok := v.value(p, m, i); ok {
				having = append(having, p)
				break
			}
		}
	}
	if len(having) == 0 {
		return nil, nil
	}
	take := func(edges bool) {
		for i, t := range v.log.at {
			if v.log.edges[i] && !edges {
				continue
			}
			sum, n := 0.0, 0
			for _, p := range having {
				if x, ok := v.value(p, m, i); ok {
					sum += x
					n++
				}
			}
			if n < len(having) {
				continue
			}
			if m.Mean {
				sum /= float64(n)
			}
			at, values = append(at, t), append(values, sum)
		}
	}
	take(!inside)
	if len(values) == 0 && inside {
		take(true)
	}
	return at, values
}

// histogram is what was added to a histogram between the first look and the last.
func (v *view) histogram(m *Metric) buckets {
	var sum buckets
	for _, p := range v.pages {
		if p.first == nil || p.last == nil || p.last == p.first {
			continue
		}
		before := p.page.histogram(m, indexOf(p.first.Samples))
		sum.add(p.page.histogram(m, indexOf(p.last.Samples)).since(before))
	}
	return sum
}

// Derive adds what follows from other figures.
func Derive(all []record.Figure) []record.Figure {
	total := func(name string) (float64, bool) {
		for i := range all {
			if all[i].Name == name && all[i].Total != nil {
				return *all[i].Total, true
			}
		}
		return 0, false
	}
	for _, d := range []struct {
		name, unit, over, under, metric string
		plus                            float64
	}{
		{PrefixHitRatio, ratio, PrefixHits, PrefixQueries, "hits / queries", 0},
		{PrefixHitRatio, ratio, PrefixHits, PromptTokens, "hits / prompt tokens", 0},
		{Batch, "", "inference_count", "execution_count", "inferences / executions", 0},
		{SpecRate, ratio, SpecAccepted, SpecDrafted, "accepted / drafted tokens", 0},
		{SpecLength, "tokens", SpecAccepted, SpecSteps, "1 + accepted tokens / steps", 1},
		{SpecPerStep, "tokens", OutputTokens, SpecSteps, "output tokens / steps", 0},
	} {
		over, ok := total(d.over)
		under, also := total(d.under)
		if !ok || !also || under <= 0 || slices.ContainsFunc(all, func(f record.Figure) bool { return f.Name == d.name }) {
			continue
		}
		mean := d.plus + over/under
		all = append(all, record.Figure{Name: d.name, Metric: d.metric, Kind: record.FigureGauge, Unit: d.unit, Mean: &mean})
	}
	return all
}

// mostPoints bounds the points of a series.
const mostPoints = 300

// Series are the metrics over time: gauges as they were, counters by their rise per
// second. Neighbours are averaged where there are many.
func (l *PageLog) Series() []Series {
	var out []Series
	for _, role := range append([]string{""}, l.roles()...) {
		v := view{log: l, pages: l.pages, role: role}
		out = append(out, v.series()...)
	}
	return out
}

func (v *view) series() []Series {
	var out []Series
	all := v.metrics()
	for i := range all {
		m := &all[i]
		if m.Kind == record.FigureHistogram || slices.ContainsFunc(out, func(s Series) bool { return s.Name == m.Name }) {
			continue
		}
		at, values := v.gauge(m, false)
		unit := m.Unit
		if m.Kind == record.FigureCounter {
			at, values = rates(at, values)
			unit += "/s"
		}
		if len(values) > 1 {
			s := Series{Name: m.Name, Unit: unit, Role: v.role}
			s.At, s.Values = thin(at, values)
			out = append(out, s)
		}
	}
	return append(out, v.quotients(out)...)
}

// quotients are what follows from two counters, over time: hits of prefix caches, and what speculation brings.
func (v *view) quotients(all []Series) (out []Series) {
	find := func(name string) *Series {
		if i := slices.IndexFunc(all, func(s Series) bool { return s.Name == name }); i >= 0 {
			return &all[i]
		}
		return nil
	}
	for _, q := range []struct {
		name, unit, over, under string
		plus                    float64
	}{
		{PrefixHitRatio, ratio, PrefixHits, PrefixQueries, 0},
		{SpecRate, ratio, SpecAccepted, SpecDrafted, 0},
		{SpecLength, "tokens", SpecAccepted, SpecSteps, 1},
	} {
		over, under := find(q.over), find(q.under)
		if find(q.name) != nil || over == nil || under == nil || !slices.Equal(over.At, under.At) {
			continue
		}
		s := Series{Name: q.name, Unit: q.unit, Role: v.role}
		for i, below := range under.Values {
			if below > 0 { // nothing is known of a time in which nothing was done
				s.At, s.Values = append(s.At, under.At[i]), append(s.Values, q.plus+over.Values[i]/below)
			}
		}
		if len(s.At) > 1 {
			out = append(out, s)
		}
	}
	return out
}

// HitRatio is the share of tokens that prefix caches held, where figures tell: by their counters, or else by their gauge.
func HitRatio(figures []record.Figure) (float64, bool) {
	counted := slices.DeleteFunc(slices.Clone(figures), func(f record.Figure) bool { return f.Name == PrefixHitRatio })
	for _, f := range append(Derive(counted), figures...) {
		if f.Name == PrefixHitRatio && f.Mean != nil {
			return *f.Mean, true
		}
	}
	return 0, false
}

// rates are a counter's rises per second, each at its interval's end; unknown across a restart.
func rates(at []time.Duration, values []float64) ([]time.Duration, []float64) {
	var when []time.Duration
	var out []float64
	for i := 1; i < len(at); i++ {
		if values[i] >= values[i-1] && at[i] > at[i-1] {
			when = append(when, at[i])
			out = append(out, (values[i]-values[i-1])/(at[i]-at[i-1]).Seconds())
		}
	}
	return when, out
}

func thin(at []time.Duration, values []float64) ([]time.Duration, []float64) {
	step := (len(values) + mostPoints - 1) / mostPoints
	if step <= 1 {
		return at, values
	}
	var when []time.Duration
	var out []float64
	for i := 0; i < len(values); i += step {
		end := min(i+step, len(values))
		var sum float64
		for _, v := range values[i:end] {
			sum += v
		}
		when = append(when, at[(i+end-1)/2])
		out = append(out, sum/float64(end-i))
	}
	return when, out
}
