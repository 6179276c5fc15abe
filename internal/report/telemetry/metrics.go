package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/report/timeline"
)

// instrument is a histogram that the conventions for generative AI name.
type instrument struct {
	name, help, unit string
	of               string // our metric; empty: it is made of tokens
	bounds           []float64
}

func instruments() []instrument {
	seconds := func(name, help, of string, bounds ...float64) instrument {
		return instrument{name, help, "s", of, bounds}
	}
	return []instrument{
		seconds("gen_ai.client.operation.duration", "GenAI operation duration.", "request_latency",
			0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
		seconds("gen_ai.server.time_to_first_token", "Time to first token, as this client saw it.", "time_to_first_token",
			0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10),
		seconds("gen_ai.server.time_per_output_token", "Mean time between the tokens of a request, as this client saw it.", "time_per_output_token",
			0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5),
		seconds("gen_ai.client.operation.time_per_output_chunk", "Time between the token events of a stream.", "inter_event_latency",
			0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5),
		{"gen_ai.client.token.usage", "Number of input and output tokens used.", "{token}", "",
			[]float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}},
	}
}

// Metrics gathers the metrics of a run: histograms of each stage from its records. It belongs
// to one goroutine.
type Metrics struct {
	run         *RunInfo
	reader      *metric.Reader
	instruments []instrument
	defs        []metric.Def // of instruments
	points      map[string]*point
	order       []string
}

type point struct {
	otlp.Buckets
	instrument, stage int
}

// Metrics begins the metrics of a run, whose requests are seen as a fold of the same options
// does.
func (r *RunInfo) Metrics(o metric.Options) *Metrics {
	m := &Metrics{run: r, reader: metric.NewReader(o), instruments: instruments(), points: map[string]*point{}}
	for _, i := range m.instruments {
		d, _ := metric.ByID(i.of)
		m.defs = append(m.defs, d)
	}
	return m
}

// Add counts a measured request. span is that of the request where it is sent too; nil means it
// is not.
func (m *Metrics) Add(rec *record.Record, span *otlp.Span) {
	if rec.Stage < 0 || rec.Phase != record.Measured || rec.Sent < 0 {
		return
	}
	var proof otlp.Exemplar
	if span != nil {
		proof = otlp.Exemplar{Time: span.End, SpanID: span.SpanID, TraceID: span.TraceID}
	}
	if f := rec.Failure; f != nil {
		end := max(rec.End, f.At, rec.Sent)
		m.count(rec, 0, (end - rec.Sent).Seconds(), proof, otlp.Text("error.type", string(f.Class)))
		return
	}
	r := m.reader.Read(rec)
	for i := range m.instruments {
		if m.instruments[i].of != "" {
			m.defs[i].Each(r, func(v int64) { m.count(rec, i, time.Duration(v).Seconds(), proof) })
			continue
		}
		if rec.In.Source != record.Uncounted {
			m.count(rec, i, float64(rec.In.N), proof, otlp.Text("gen_ai.token.type", "input"))
		}
		if r.Tokens >= 0 {
			m.count(rec, i, float64(r.Tokens), proof, otlp.Text("gen_ai.token.type", "output"))
		}
	}
}

func (m *Metrics) count(rec *record.Record, i int, v float64, proof otlp.Exemplar, more ...otlp.Attribute) {
	var key [64]byte
	k := fmt.Appendf(key[:0], "%d %d %d %s", i, rec.Stage, rec.Target, rec.Model)
	for _, a := range more {
		k = append(append(k, 0), *a.Value.String...)
	}
	p := m.points[string(k)]
	if p == nil {
		bounds := m.instruments[i].bounds
		p = &point{instrument: i, stage: rec.Stage}
		p.Bounds, p.Counts, p.Exemplars = bounds, make(otlp.Counts, len(bounds)+1), make([]otlp.Exemplar, len(bounds)+1)
		p.Min, p.Max = v, v
		p.Attributes = append(m.run.attributes(rec), more...)
		m.points[string(k)], m.order = p, append(m.order, string(k))
	}
	bucket := sort.SearchFloat64s(p.Bounds, v)
	p.Count++
	p.Counts[bucket]++
	p.Sum += v
	p.Min, p.Max = min(p.Min, v), max(p.Max, v)
	if proof.TraceID != "" {
		proof.Value = v
		p.Exemplars[bucket] = proof
	}
}

// attributes are those of a request that metrics are told apart by.
func (r *RunInfo) attributes(rec *record.Record) []otlp.Attribute {
	list := []otlp.Attribute{
		otlp.Int("inferometer.stage", rec.Stage+1), otlp.Text("gen_ai.operation.name", r.operation()), otlp.Text("gen_ai.provider.name", r.Protocol),
	}
	model := r.Model
	if rec.Model != "" {
		model = rec.Model
	}
	if model != "" {
		list = append(list, otlp.Text("gen_ai.request.model", model))
	}
	return append(list, r.server(rec.Target)...)
}

// List are the metrics of all stages: the histograms, the counts of each step, and the final
// figures.
func (m *Metrics) List(stages []timeline.StageTimeline) []otlp.Metric {
	list := m.histograms(stages)
	numbers := map[string]*otlp.Metric{}
	var order []string
	put := func(name, help, unit string, sum bool, p otlp.Number) {
		n := numbers[name]
		if n == nil {
			n = &otlp.Metric{Name: name, Description: help, Unit: unit}
			numbers[name], order = n, append(order, name)
			if n.Gauge = new(otlp.Numbers); sum {
				n.Gauge, n.Sum = nil, &otlp.Numbers{Temporality: otlp.Cumulative, Monotonic: true}
			}
		}
		if sum {
			n.Sum.Points = append(n.Sum.Points, p)
		} else {
			n.Gauge.Points = append(n.Gauge.Points, p)
		}
	}
	for i := range stages {
		m.course(&stages[i], put)
	}
	for _, f := range m.run.Result.CapacityFigures() {
		put("inferometer.capacity", "The highest load that meets the objectives, by a search for it.", "", false, otlp.Number{Time: m.run.end(stages).UnixNano(), Double: &f.Value,
			Attributes: []otlp.Attribute{otlp.Text("inferometer.stat", f.Stat), otlp.Text("inferometer.unit", m.run.Result.Capacity.Unit), otlp.Text("inferometer.outcome", m.run.Result.Capacity.Outcome)}})
	}
	for _, name := range order {
		list = append(list, *numbers[name])
	}
	return list
}

func (m *Metrics) histograms(stages []timeline.StageTimeline) []otlp.Metric {
	list := make([]otlp.Metric, len(m.instruments))
	for i, in := range m.instruments {
		list[i] = otlp.Metric{Name: in.name, Description: in.help, Unit: in.unit, Histogram: &otlp.Histogram{Temporality: otlp.Cumulative}}
	}
	for _, key := range m.order {
		p := m.points[key]
		k := slices.IndexFunc(stages, func(s timeline.StageTimeline) bool { return s.Index == p.stage })
		if k < 0 {
			continue
		}
		p.Start, p.Time = m.run.timeOf(stages[k].Begin).UnixNano(), m.run.timeOf(stages[k].End).UnixNano()
		p.Exemplars = slices.DeleteFunc(p.Exemplars, func(e otlp.Exemplar) bool { return e.TraceID == "" })
		h := list[p.instrument].Histogram
		h.Points = append(h.Points, p.Buckets)
	}
	return slices.DeleteFunc(list, func(m otlp.Metric) bool { return len(m.Histogram.Points) == 0 })
}

// course adds the counts of a stage's steps, and its final figures.
func (m *Metrics) course(s *timeline.StageTimeline, put func(name, help, unit string, sum bool, p otlp.Number)) {
	stage := otlp.Int("inferometer.stage", s.Index+1)
	start := m.run.timeOf(s.Begin).UnixNano()
	last := &s.Steps[len(s.Steps)-1]
	for i := range s.Steps[1:] {
		step := &s.Steps[i+1]
		at := m.run.timeOf(step.At).UnixNano()
		count := func(name, help, unit string, n int64, more ...otlp.Attribute) {
			put(name, help, unit, true, otlp.Number{Start: start, Time: at, Int: &n, Attributes: append([]otlp.Attribute{stage}, more...)})
		}
		for _, phase := range []record.Phase{record.Measured, record.Warmup} {
			if last.Sent[phase] == 0 {
				continue
			}
			in := otlp.Text("inferometer.phase", phase.String())
			count("inferometer.requests.sent", "Requests sent.", "{request}", step.Sent[phase], in)
			count("inferometer.requests", "Requests that have ended.", "{request}", step.OK[phase], in)
			for _, class := range slices.Sorted(maps.Keys(last.Failed[phase])) {
				count("inferometer.requests", "", "", step.Failed[phase][class], in, otlp.Text("error.type", string(class)))
			}
		}
		count("inferometer.tokens.input", "Prompt tokens of successful requests.", "{token}", step.In)
		count("inferometer.tokens.output", "Output tokens of successful requests.", "{token}", step.Out)
		put("inferometer.requests.in_flight", "Requests sent and not ended.", "{request}", false, otlp.Number{Time: at, Int: new(step.InFlight()), Attributes: []otlp.Attribute{stage}})
	}
	res := m.run.stage(s.Index)
	if res == nil {
		return
	}
	for _, f := range figures(res) {
		put("inferometer.result", "Final figures of a stage, as in result.json.", "", false, otlp.Number{Time: m.run.timeOf(s.End).UnixNano(), Double: &f.value,
			Attributes: []otlp.Attribute{stage, otlp.Text("inferometer.metric", f.metric), otlp.Text("inferometer.stat", f.stat), otlp.Text("inferometer.unit", f.unit)}})
	}
}

// Batches cuts metrics into exports of at most so many points.
func Batches(list []otlp.Metric, most int, each func([]otlp.Metric)) {
	var batch []otlp.Metric
	room := most
	for _, m := range list {
		for m.Len() > 0 {
			head := m.Cut(room)
			batch, room = append(batch, head), room-head.Len()
			if room == 0 {
				each(batch)
				batch, room = nil, most
			}
		}
	}
	if len(batch) > 0 {
		each(batch)
	}
}
