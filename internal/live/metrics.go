package live

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// exposition is the page of metrics in the form that a request asks for: Prometheus' text, OpenMetrics,
// or the protobuf form, the only one that has native histograms.
func exposition(p *run.Progress, version string, asked http.Header) (kind string, page []byte, err error) {
	format := expfmt.NegotiateAccept(asked, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	var b bytes.Buffer
	e := expfmt.NewEncoder(&b, format)
	for _, f := range families(p, version) {
		if err := e.Encode(f); err != nil {
			return "", nil, err
		}
	}
	if c, ok := e.(expfmt.Closer); ok {
		err = c.Close()
	}
	return string(format), b.Bytes(), err
}

// labels are names and values by turns.
type labels []string

func (l labels) and(more ...string) labels { return append(slices.Clip(l), more...) }

func (l labels) pairs() []*dto.LabelPair {
	var list []*dto.LabelPair
	for i := 0; i+1 < len(l); i += 2 {
		list = append(list, &dto.LabelPair{Name: proto.String(l[i]), Value: proto.String(strings.ToValidUTF8(l[i+1], "\uFFFD"))})
	}
	return list
}

// page gathers metrics by family, in the order they first come.
type page struct {
	list  []*dto.MetricFamily
	names map[string]*dto.MetricFamily
}

func (p *page) add(name, help string, kind dto.MetricType, m *dto.Metric, l labels) {
	f := p.names[name]
	if f == nil {
		f = &dto.MetricFamily{Name: proto.String(name), Help: proto.String(help), Type: kind.Enum()}
		p.names[name] = f
		p.list = append(p.list, f)
	}
	m.Label = l.pairs()
	f.Metric = append(f.Metric, m)
}

func (p *page) counter(name, help string, v int64, l labels) {
	p.add(name, help, dto.MetricType_COUNTER, &dto.Metric{Counter: &dto.Counter{Value: proto.Float64(float64(v))}}, l)
}

func (p *page) gauge(name, help string, v float64, l labels) {
	p.add(name, help, dto.MetricType_GAUGE, &dto.Metric{Gauge: &dto.Gauge{Value: proto.Float64(v)}}, l)
}

func (p *page) histogram(name, help string, h *stat.Histogram, l labels) {
	p.add(name, help, dto.MetricType_HISTOGRAM, &dto.Metric{Histogram: histogram(h)}, l)
}

func families(p *run.Progress, version string) []*dto.MetricFamily {
	out := &page{names: map[string]*dto.MetricFamily{}}
	if p.Plan == nil {
		return nil // no run has begun
	}
	common := labels{"run", runName(p)}
	if p.Plan.Target.Model != "" {
		common = common.and("model", p.Plan.Target.Model)
	}
	if p.Plan.Name != "" {
		common = common.and("name", p.Plan.Name)
	}
	out.gauge("inferometer_run_info", "The current or most recent run.", 1, common.and("version", version, "protocol", p.Plan.Target.Protocol))
	over := 0.0
	if p.Result != nil {
		over = 1
	}
	out.gauge("inferometer_run_over", "1 once the run is over: the other figures no longer change.", over, common)
	current := common.and("stage", strconv.Itoa(p.Stage+1))
	out.gauge("inferometer_requests_in_flight", "Requests sent and not ended.", float64(p.InFlight), current)
	if rate := p.Stages[p.Stage].Rate; rate > 0 {
		out.gauge("inferometer_requested_rate", "Requests per second that the load asks for.", rate, current)
	}
	out.counter("inferometer_requests_sent_total", "Requests sent so far, of all stages.", p.Sent, common)
	for i, s := range p.Live.Stages() {
		stage := common.and("stage", strconv.Itoa(i+1))
		out.outcomes(&s[record.Measured], stage.and("phase", "measured"))
		out.outcomes(&s[record.Warmup], stage.and("phase", "warmup"))
		out.measured(&s[record.Measured], stage, len(p.Plan.Goodput) > 0)
	}
	return out.list
}

// runName tells a run from others in a database of metrics.
func runName(p *run.Progress) string {
	return p.Started.UTC().Format("20060102T150405Z") + "-" + strconv.FormatUint(p.Plan.Seed, 10)
}

// outcomes adds how requests ended.
func (p *page) outcomes(part *metric.LivePart, l labels) {
	const name, help = "inferometer_requests_total", "Requests that have ended."
	if part.Ended() == 0 {
		return
	}
	p.counter(name, help, part.OK.Load(), l.and("outcome", "ok"))
	classes := part.Failures()
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		p.counter(name, help, classes[class], l.and("outcome", "failed", "error_type", string(class)))
	}
}

// measured adds the figures of the measured part of a stage.
func (p *page) measured(part *metric.LivePart, l labels, judged bool) {
	if judged {
		p.counter("inferometer_good_requests_total", "Requests that met all objectives.", part.Good.Load(), l)
	}
	p.counter("inferometer_input_tokens_total", "Prompt tokens of successful requests.", part.Input.Load(), l)
	p.counter("inferometer_output_tokens_total", "Output tokens of successful requests.", part.Output.Load(), l)
	p.histogram("inferometer_time_to_first_token_seconds", "From the first byte sent to the first output token.", &part.TTFT, l)
	p.histogram("inferometer_inter_token_latency_seconds", "Time between output tokens.", &part.ITL, l)
	p.histogram("inferometer_request_latency_seconds", "From the first byte sent to the last byte received.", &part.Latency, l)
}
