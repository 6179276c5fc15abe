package pagedata

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

const (
	// mostBytes is what the data of a page may take of its two megabytes, the text of the
	// page itself aside.
	mostBytes = 1_600_000
	// mostEvents is how many events of traces there are at most.
	mostEvents = 300_000
	// mostPlan bounds the plan file that a page holds.
	mostPlan = 64 << 10
	// mostMessage bounds the example of a failure.
	mostMessage = 500
	// mostFailures is how many different failures of single requests there are at most.
	mostFailures = 200
)

// Facts are what a document takes besides the requests.
type Facts struct {
	Result       *result.Result
	Fold         *metric.Aggregator // of the requests that the sketch has
	OriginalPlan *plan.Plan         // the plan that runs it again
	Stages       []record.StageSummary
	Health       []record.Health
	Probes       []record.Probe
}

// Document makes the document of what was taken in. Where all of it is too large for a page,
// it has fewer traces and then fewer requests.
func (s *Builder) Document(f Facts) (*Document, error) {
	stages, err := s.stages(&f)
	if err != nil {
		return nil, err
	}
	if s.bins == nil {
		s.bins = newBins(0)
	}
	s.bins.widenFor(s.count)
	s.bins.close()
	sampled, events := mostSampled, mostEvents
	for {
		d := &Document{Version: Version, Stages: stages, Bin: s.bins.width.Seconds()}
		d.Show(f.Result)
		if text, err := planfile.Encode(f.OriginalPlan); err == nil && len(text) <= mostPlan {
			d.Plan, d.Runs = string(text), "inferometer run plan.yaml"
		}
		s.series(d, &f)
		s.requests(d, sampled, events)
		size, err := d.size()
		if err != nil {
			return nil, err
		}
		if size <= mostBytes || sampled < 100 {
			return d, nil
		}
		if events /= 2; events < 20_000 {
			sampled /= 2
		}
	}
}

// size is how many bytes the data take in a page.
func (d *Document) size() (int, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return 0, fmt.Errorf("encode the data of the page: %w", err)
	}
	planes, err := d.Planes.Text()
	return len(text) + len(planes), err
}

// Show puts the figures of a result into the document.
func (d *Document) Show(r *result.Result) {
	d.Headline, d.Best = r.Headline(), r.Best()
	d.Result, d.Seed = shown(r), strconv.FormatUint(r.Seed, 10)
}

// shown is a result without the series of its services and with short messages.
func shown(r *result.Result) *result.Result {
	out := *r
	out.Services = bare(r.Services)
	out.Stages = slices.Clone(r.Stages)
	for i := range out.Stages {
		st := &out.Stages[i]
		st.Services = bare(st.Services)
		st.Failures = slices.Clone(st.Failures)
		for k := range st.Failures {
			st.Failures[k].Example = truncate.Text(st.Failures[k].Example, mostMessage)
		}
	}
	return &out
}

func bare(all []result.ServerMetrics) []result.ServerMetrics {
	all = slices.Clone(all)
	for i := range all {
		all[i].Series = nil
	}
	return all
}

func (s *Builder) stages(f *Facts) ([]StageData, error) {
	out := make([]StageData, len(f.Result.Stages))
	for i := range out {
		st := &out[i]
		if i < len(s.spans) && s.spans[i].any {
			st.Begin, st.End = s.spans[i].begin.Seconds(), s.spans[i].end.Seconds()
		}
		if m := record.FindStage(f.Stages, i); m != nil {
			st.Begin, st.End = m.Begin.Seconds(), m.DrainEnd.Seconds()
			st.Warmup, st.Drain = stretch(m.Begin, m.WarmupEnd), stretch(m.SendEnd, m.DrainEnd)
		}
		if i < len(s.plan.Stages) {
			st.Load = loadOf(&s.plan.Stages[i])
		}
		st.GPUs = gpus(&f.Result.Stages[i])
		if i < len(s.turns) {
			st.Turns = s.turns[i].drawn()
		}
		if err := st.curves(i, f.Fold); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stretch is a stretch of time in seconds; nil where there is none.
func stretch(from, to time.Duration) *[2]float64 {
	if to <= from {
		return nil
	}
	return &[2]float64{from.Seconds(), to.Seconds()}
}

// loadOf is the load of a stage where it is one number.
func loadOf(s *plan.Stage) *SingleLoad {
	switch {
	case s.RampTo > 0 || s.Growth.On() || s.Arrival == plan.ArrivalTrace || s.Arrival == plan.ArrivalSessions:
		return nil
	case s.Concurrency > 0:
		return &SingleLoad{"concurrency", float64(s.Concurrency)}
	case s.PerSecond() > 0:
		return &SingleLoad{"rate", s.PerSecond()}
	}
	return nil
}

// gpus is how many GPUs the server of a stage has told of.
func gpus(st *result.Stage) int {
	if st.Server != nil && len(st.Server.GPUs) > 0 {
		return len(st.Server.GPUs)
	}
	n, one := 0, 0
	for _, service := range st.Services {
		for _, p := range service.Parts {
			if p.GPU != "" {
				n++
			}
		}
		for _, f := range service.Figures {
			if f.Name == "gpu_utilization" || f.Name == "gpu_power" {
				one = 1
			}
		}
	}
	return max(n, one)
}

func (st *StageData) curves(i int, fold *metric.Aggregator) error {
	st.Curves, st.Histograms = map[string]Sides[Curve]{}, map[string]Sides[*Histogram]{}
	qs := quantiles()
	for _, m := range []struct{ name, due, unless string }{
		{"time_to_first_token", "time_to_first_token_from_due", ""},
		{"inter_token_latency", "", ""},
		{"inter_event_latency", "", "inter_token_latency"},
		{"request_latency", "request_latency_from_due", ""},
	} {
		if _, has := st.Curves[m.unless]; has {
			continue
		}
		sent, err := fold.Spread(i, m.name, qs)
		if err != nil {
			return err
		}
		if sent.Quantiles == nil {
			continue
		}
		curve, histogram := Sides[Curve]{Sent: curveOf(qs, sent)}, Sides[*Histogram]{Sent: &Histogram{sent.Edges, sent.Counts}}
		if m.due != "" {
			due, err := fold.Spread(i, m.due, qs)
			if err != nil {
				return err
			}
			if due.Quantiles != nil {
				curve.Due, histogram.Due = curveOf(qs, due), &Histogram{due.Edges, due.Counts}
			}
		}
		st.Curves[m.name], st.Histograms[m.name] = curve, histogram
	}
	return nil
}

// quantiles are the shares at which curves have a point: every hundredth, and closer towards
// the end, where the tail is.
func quantiles() []float64 {
	var qs []float64
	for i := range 99 {
		qs = append(qs, float64(i)/100)
	}
	for _, tail := range []float64{1e-2, 1e-3, 1e-4, 1e-5} {
		for i := 20; i > 2; i-- {
			qs = append(qs, 1-tail*float64(i)/20)
		}
	}
	for _, p := range metric.Percentiles() {
		qs = append(qs, p.Quantile)
	}
	qs = append(qs, 1)
	for i, q := range qs {
		qs[i] = math.Round(q*1e7) / 1e7
	}
	slices.Sort(qs)
	return slices.Compact(qs)
}

// curveOf are the points of a curve, as many as the samples have ranks for.
func curveOf(qs []float64, s metric.Curve) Curve {
	var n int64
	for _, k := range s.Counts {
		n += k
	}
	named := func(q float64) bool {
		return slices.ContainsFunc(metric.Percentiles(), func(p metric.Percentile) bool { return p.Quantile == q })
	}
	var c Curve
	for i, q := range qs {
		if q < 1 && (1-q)*float64(n) < 1 && !named(q) {
			continue
		}
		c = append(c, [2]float64{q, s.Quantiles[i]})
	}
	return c
}

// requests adds the requests that are shown, and traces of some.
func (s *Builder) requests(d *Document, sampled, events int) {
	rows := s.keeper.rows(sampled)
	if len(rows) == 0 {
		return
	}
	d.Requests = &Requests{Count: s.count, Kept: len(rows), Why: "all", Columns: map[string]Column{}}
	if int64(len(rows)) < s.count {
		d.Requests.Why = "all failures, the slowest, and an even sample"
		if f := s.keeper.shelves[shelfFailed]; len(f.rows) == f.most {
			d.Requests.Why = "failures, the slowest, and an even sample of all"
		}
	}
	failures := d.failures(rows)
	for l := record.Content; l <= record.Echo; l++ {
		d.Labels = append(d.Labels, l.String())
	}
	after := func(r *row, at time.Duration) int64 {
		if at < 0 {
			return -1
		}
		return max((at - r.due).Microseconds(), 0)
	}
	for _, c := range []struct {
		name string
		of   func(*row) int64
	}{
		{"index", func(r *row) int64 { return r.seq }},
		{"stage", func(r *row) int64 { return int64(r.stage) }},
		{"worker", func(r *row) int64 { return int64(r.worker) }},
		{"target", func(r *row) int64 { return int64(r.target) }},
		{"phase", func(r *row) int64 { return int64(r.phase) }},
		{"due", func(r *row) int64 { return r.due.Microseconds() }},
		{"ready", func(r *row) int64 { return after(r, r.ready) }},
		{"sent", func(r *row) int64 { return after(r, r.sent) }},
		{"first", func(r *row) int64 { return after(r, r.first) }},
		{"end", func(r *row) int64 { return after(r, r.end) }},
		{"stall", func(r *row) int64 { return micros(r.stall) }},
		{"stall_at", func(r *row) int64 { return after(r, r.stallAt) }},
		{"in", func(r *row) int64 { return int64(r.in) }},
		{"out", func(r *row) int64 { return int64(r.out) }},
	} {
		values := make([]int64, len(rows))
		for i, r := range rows {
			values[i] = c.of(r)
		}
		d.Requests.Columns[c.name] = d.Planes.Ints(values)
	}
	d.Requests.Columns["failure"] = d.Planes.Ints(failures)
	d.sessions(rows)
	s.traces(d, rows, events)
}

// failures adds the different failures of the rows, and gives the place of that of each. Servers
// put numbers of requests into messages: where there are too many, the rest share one without.
func (d *Document) failures(rows []*row) []int64 {
	d.Failures = []Failure{{}}
	place := map[Failure]int64{{}: 0}
	out := make([]int64, len(rows))
	for i, r := range rows {
		if r.failure == nil {
			continue
		}
		f := Failure{r.failure.Class, r.failure.Status, r.failure.Message}
		if _, has := place[f]; !has && len(d.Failures) >= mostFailures {
			f.Message = ""
		}
		if _, has := place[f]; !has {
			place[f] = int64(len(d.Failures))
			d.Failures = append(d.Failures, f)
		}
		out[i] = place[f]
	}
	return out
}

// micros is a time span in microseconds; -1: there is none.
func micros(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return d.Microseconds()
}

func (s *Builder) traces(d *Document, rows []*row, events int) {
	chosen := s.keeper.traces(rows, events)
	if len(chosen) == 0 {
		return
	}
	var of, from, at, tokens, label []int64
	for i, r := range rows {
		if !chosen[r] {
			continue
		}
		of, from = append(of, int64(i)), append(from, int64(len(at)))
		for _, e := range r.trace {
			at, tokens, label = append(at, e.at), append(tokens, int64(e.tokens)), append(label, int64(e.label))
		}
	}
	from = append(from, int64(len(at)))
	p := &d.Planes
	d.Traces = &Traces{Of: p.Ints(of), From: p.Ints(from), Events: TraceEvents{At: p.Ints(at), Tokens: p.Ints(tokens), Label: p.Ints(label)}}
}
