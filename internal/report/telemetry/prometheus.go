package telemetry

import (
	"maps"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/remotewrite"
	"github.com/inferometer/inferometer/internal/report/timeline"
)

// schema is how fine native histograms are: buckets grow by 2^(1/8), 9 % each.
const schema = 3

func quantiles() []float64 { return []float64{0.5, 0.9, 0.99} }

type board struct {
	run    *RunInfo
	common map[string]string
	list   []remotewrite.Series
	known  map[string]int // places in list, by name and labels
}

// Series are the time series of a run, with the names that the live page for Prometheus
// has. host is the name of this machine.
func (r *RunInfo) Series(stages []timeline.StageTimeline, host string) []remotewrite.Series {
	b := &board{run: r, known: map[string]int{}, common: map[string]string{
		"job": "inferometer", "instance": host, "run": r.ID(), "model": r.Model, "name": r.Name,
	}}
	for i := range stages {
		b.stage(&stages[i])
	}
	for _, f := range r.Result.CapacityFigures() {
		b.gauge(r.end(stages).UnixMilli(), f.Value, "inferometer_capacity", "The highest load that meets the objectives, by a search for it.", "stat", f.Stat, "unit", r.Result.Capacity.Unit, "outcome", r.Result.Capacity.Outcome)
	}
	return b.list
}

// labels are those of all series and more, which are pairs.
func (b *board) labels(more ...string) map[string]string {
	all := maps.Clone(b.common)
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

func (b *board) series(kind remotewrite.MetricType, name, help string, labels ...string) *remotewrite.Series {
	key := name
	for _, l := range labels {
		key += "\x00" + l
	}
	i, ok := b.known[key]
	if !ok {
		i = len(b.list)
		b.known[key] = i
		b.list = append(b.list, remotewrite.Series{Name: name, Kind: kind, Help: help, Labels: b.labels(labels...)})
	}
	return &b.list[i]
}

func (b *board) counter(at int64, n int64, name, help string, labels ...string) {
	s := b.series(remotewrite.Counter, name, help, labels...)
	s.Samples = append(s.Samples, remotewrite.Sample{At: at, Value: float64(n)})
}

func (b *board) gauge(at int64, v float64, name, help string, labels ...string) {
	s := b.series(remotewrite.Gauge, name, help, labels...)
	if n := len(s.Samples); n > 0 && s.Samples[n-1].At >= at {
		return // the end of a stage and the begin of the next
	}
	s.Samples = append(s.Samples, remotewrite.Sample{At: at, Value: v})
}

func (b *board) stage(s *timeline.StageTimeline) {
	name := stageName(s.Index)
	res := b.run.stage(s.Index)
	var sums [3]timeline.NativeHistogram
	last := &s.Steps[len(s.Steps)-1]
	for i := range s.Steps {
		step := &s.Steps[i]
		at := b.run.timeOf(step.At).UnixMilli()
		b.gauge(at, 1, "inferometer_run_info", "The run, whose labels say what it was.", "version", b.run.Version, "protocol", b.run.Protocol)
		b.requests(at, name, step, last)
		b.gauge(at, float64(step.InFlight()), "inferometer_requests_in_flight", "Requests sent and not ended.", "stage", name)
		if s.Index < len(b.run.Rates) && b.run.Rates[s.Index] > 0 {
			b.gauge(at, b.run.Rates[s.Index], "inferometer_requested_rate", "Requests per second that the load asks for.", "stage", name)
		}
		b.counter(at, step.In, "inferometer_input_tokens_total", "Prompt tokens of successful requests.", "stage", name)
		b.counter(at, step.Out, "inferometer_output_tokens_total", "Output tokens of successful requests.", "stage", name)
		for k, metric := range timeline.Metrics() {
			sums[k].Merge(&step.Spread[k])
			if res == nil || res.Metrics[metric].Distribution != nil {
				b.latency(at, name, metric, &step.Spread[k], &sums[k])
			}
		}
	}
	if res == nil {
		return
	}
	for _, f := range figures(res) {
		b.gauge(b.run.timeOf(s.End).UnixMilli(), f.value, "inferometer_result", "Final figures of a stage, as in result.json.", "stage", name, "metric", f.metric, "stat", f.stat, "unit", f.unit)
	}
}

// requests adds the counts of a step. A class of failures that the stage has at its end has
// a sample from its begin on, so that an increase is one from 0.
func (b *board) requests(at int64, stage string, step, last *timeline.Step) {
	for _, phase := range []record.Phase{record.Measured, record.Warmup} {
		if last.Sent[phase] == 0 {
			continue
		}
		b.counter(at, step.Sent[phase], "inferometer_requests_sent_total", "Requests sent.", "stage", stage, "phase", phase.String())
		const name, help = "inferometer_requests_total", "Requests that have ended."
		b.counter(at, step.OK[phase], name, help, "stage", stage, "phase", phase.String(), "outcome", "ok")
		for _, class := range slices.Sorted(maps.Keys(last.Failed[phase])) {
			outcome := "failed"
			if class == record.UserCancelled {
				outcome = "cancelled"
			}
			b.counter(at, step.Failed[phase][class], name, help, "stage", stage, "phase", phase.String(), "outcome", outcome, "error_type", string(class))
		}
	}
}

// latency adds how a latency spread in a step, and by its end.
func (b *board) latency(at int64, stage, metric string, step, sum *timeline.NativeHistogram) {
	h := b.series(remotewrite.Native, "inferometer_"+metric+"_seconds", "Latency in seconds, of requests that went well.", "stage", stage)
	h.Histograms = append(h.Histograms,
		remotewrite.Histogram{At: at, Count: sum.Count, Zero: sum.Zero, Sum: sum.Sum, Schema: schema, Buckets: sum.Coarse(schema)})
	if step.Count == 0 {
		return
	}
	for _, q := range quantiles() {
		b.gauge(at, step.Quantile(q), "inferometer_"+metric+"_quantile_seconds", "Quantile of the requests that ended in the step before, within 1.1 %.", "stage", stage, "quantile", strconv.FormatFloat(q, 'f', -1, 64))
	}
}
