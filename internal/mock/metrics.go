package mock

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/latency"
)

// The buckets that vLLM has.
var (
	ttftBounds = [...]float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	itlBounds  = [...]float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	e2eBounds  = [...]float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	lenBounds  = [...]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}
)

// histogram is a Prometheus histogram; the last count is +Inf's.
type histogram struct {
	bounds []float64
	counts []uint64
	sum    float64
}

func newHistogram(bounds []float64) histogram {
	return histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) add(v float64, n uint64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i] += n
	h.sum += v * float64(n)
}

func (h *histogram) clear() {
	clear(h.counts)
	h.sum = 0
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
		o.counts[i] = 0
	}
	h.sum += o.sum
	o.sum = 0
}

// The reasons under which vLLM counts requests that ended.
var reasons = [...]string{"stop", "length", "abort", "error"}

// metrics are the server's counters. Tokens count as they go, the rest when a request ends.
type metrics struct {
	prompt, generated atomic.Uint64

	mu       sync.Mutex
	finished [len(reasons)]uint64
	queried  uint64 // prompt tokens looked up in the prefix cache
	hit      uint64
	spec     speculation

	ttft, itl, e2e, queue, prefill, decode, inference, tpot, promptLen, outputLen histogram
}

func newMetrics(o config.Output) *metrics {
	return &metrics{
		spec: speculation{draft: o.DraftTokens, length: o.AcceptanceLength},
		ttft: newHistogram(ttftBounds[:]), itl: newHistogram(itlBounds[:]), e2e: newHistogram(e2eBounds[:]),
		queue: newHistogram(e2eBounds[:]), prefill: newHistogram(e2eBounds[:]), decode: newHistogram(e2eBounds[:]),
		inference: newHistogram(e2eBounds[:]), tpot: newHistogram(itlBounds[:]),
		promptLen: newHistogram(lenBounds[:]), outputLen: newHistogram(lenBounds[:]),
	}
}

// speculation is what the server is said to draft: so many tokens a step, of which as many are accepted as make
// steps of that length on average.
type speculation struct {
	draft  int
	length float64

	steps, drafted, accepted uint64
}

// ended counts a response of so many tokens, the first of which no step brings.
func (s *speculation) ended(tokens int) {
	if s.draft == 0 || tokens < 2 {
		return
	}
	steps := uint64(math.Ceil(float64(tokens-1) / s.length))
	s.steps, s.drafted, s.accepted = s.steps+steps, s.drafted+steps*uint64(s.draft), s.accepted+uint64(tokens-1)-steps
}

// lookup counts a look into the prefix cache.
func (m *metrics) lookup(queried, hit int) {
	m.mu.Lock()
	m.queried += uint64(queried)
	m.hit += uint64(hit)
	m.mu.Unlock()
}

// ended counts a request that got as far as the batch or the queue.
func (m *metrics) ended(c *call, end int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.itl.merge(&c.itl)
	reason := c.finish
	if reason == "tool_calls" {
		reason = "stop"
	}
	for i, r := range reasons {
		if r == reason {
			m.finished[i]++
		}
	}
	m.spec.ended(c.sent)
	if c.firstAt == 0 || c.finish == "abort" {
		return
	}
	start := c.arrived()
	m.ttft.add(seconds(c.firstAt-start), 1)
	m.e2e.add(seconds(end-start), 1)
	m.queue.add(seconds(c.admitted-start), 1)
	m.prefill.add(seconds(c.firstAt-c.admitted), 1)
	m.decode.add(seconds(end-c.firstAt), 1)
	m.inference.add(seconds(end-c.admitted), 1)
	m.promptLen.add(float64(c.seq.Prompt), 1)
	m.outputLen.add(float64(c.sent), 1)
	if c.sent > 1 {
		m.tpot.add(seconds(end-c.firstAt)/float64(c.sent-1), 1)
	}
}

func seconds(ns int64) float64 { return float64(ns) / float64(time.Second) }

// page writes metrics in Prometheus' text format.
type page struct {
	b      strings.Builder
	family string // what the names begin with
	labels string
}

func (p *page) begin(name, kind, help string) {
	fmt.Fprintf(&p.b, "# HELP %s%s %s\n# TYPE %s%s %s\n", p.family, name, help, p.family, name, kind)
}

func (p *page) value(name, extra string, v float64) {
	fmt.Fprintf(&p.b, "%s%s{%s%s} %s\n", p.family, name, p.labels, extra, formatFloat(v))
}

func (p *page) gauge(name, help string, v float64) {
	p.begin(name, "gauge", help)
	p.value(name, "", v)
}

func (p *page) counter(name, help string, v uint64) {
	p.begin(name, "counter", help)
	p.value(name, "", float64(v))
}

func (p *page) histogram(name, help string, h *histogram) {
	p.begin(name, "histogram", help)
	var n uint64
	for i, c := range h.counts {
		n += c
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = h.bounds[i]
		}
		p.value(name+"_bucket", `,le="`+formatFloat(bound)+`"`, float64(n))
	}
	p.value(name+"_sum", "", h.sum)
	p.value(name+"_count", "", float64(n))
}

func formatFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// text is the whole page under vLLM's names, with those that it renamed under both.
func (m *metrics) text(model string, load *latency.Model) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := page{family: "vllm:", labels: `engine="0",model_name="` + escapeLabel(model) + `"`}
	p.gauge("num_requests_running", "Number of requests in model execution batches.", float64(load.Running.Load()))
	p.gauge("num_requests_waiting", "Number of requests waiting to be processed.", float64(load.Waiting.Load()))
	p.gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", load.Usage())
	p.gauge("gpu_cache_usage_perc", "KV-cache usage under its former name.", load.Usage())
	p.counter("prefix_cache_queries_total", "Prefix cache queries, in tokens.", m.queried)
	p.counter("prefix_cache_hits_total", "Prefix cache hits, in tokens.", m.hit)
	p.counter("num_preemptions_total", "Preemptions; this server has none.", 0)
	if s := &m.spec; s.draft > 0 {
		p.counter("spec_decode_num_drafts_total", "Drafts that were verified.", s.steps)
		p.counter("spec_decode_num_draft_tokens_total", "Draft tokens.", s.drafted)
		p.counter("spec_decode_num_accepted_tokens_total", "Draft tokens that were accepted.", s.accepted)
	}
	p.counter("prompt_tokens_total", "Prefill tokens processed.", m.prompt.Load())
	p.counter("generation_tokens_total", "Generation tokens processed.", m.generated.Load())
	p.begin("request_success_total", "counter", "Requests that ended, by reason.")
	for i, r := range reasons {
		p.value("request_success_total", `,finished_reason="`+r+`"`, float64(m.finished[i]))
	}
	p.histogram("request_prompt_tokens", "Prefill tokens per request.", &m.promptLen)
	p.histogram("request_generation_tokens", "Generation tokens per request.", &m.outputLen)
	p.histogram("time_to_first_token_seconds", "Time to first token.", &m.ttft)
	p.histogram("inter_token_latency_seconds", "Time between two tokens.", &m.itl)
	p.histogram("time_per_output_token_seconds", "Time between two tokens, under its former name.", &m.itl)
	p.histogram("request_time_per_output_token_seconds", "Mean time between two tokens of a request.", &m.tpot)
	p.histogram("e2e_request_latency_seconds", "Time from arrival to the end.", &m.e2e)
	p.histogram("request_queue_time_seconds", "Time in the queue.", &m.queue)
	p.histogram("request_inference_time_seconds", "Time in the batch.", &m.inference)
	p.histogram("request_prefill_time_seconds", "Time in prefill.", &m.prefill)
	p.histogram("request_decode_time_seconds", "Time in decode.", &m.decode)
	return p.b.String()
}

// sglang is the page under SGLang's names.
func (m *metrics) sglang(model string, load *latency.Model) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := page{family: "sglang:", labels: `engine_type="unified",model_name="` + escapeLabel(model) + `"`}
	p.gauge("num_running_reqs", "Requests in the batch.", float64(load.Running.Load()))
	p.gauge("num_queue_reqs", "Requests in the queue.", float64(load.Waiting.Load()))
	p.gauge("token_usage", "Share of the KV cache in use.", load.Usage())
	p.counter("cached_tokens_total", "Prompt tokens that the prefix cache held.", m.hit)
	p.counter("num_retracted_requests_total", "Requests put back; this server has none.", 0)
	if s := &m.spec; s.draft > 0 {
		steps := float64(max(s.steps, 1))
		p.gauge("spec_accept_length", "Tokens per verified step.", 1+float64(s.accepted)/steps)
		p.gauge("spec_accept_rate", "Share of the draft tokens that were accepted.", float64(s.accepted)/(steps*float64(s.draft)))
		p.counter("spec_verify_calls_total", "Steps that verified a draft.", s.steps)
	}
	p.counter("prompt_tokens_total", "Prefill tokens processed.", m.prompt.Load())
	p.counter("generation_tokens_total", "Generation tokens processed.", m.generated.Load())
	var ended uint64
	for _, n := range m.finished {
		ended += n
	}
	p.counter("num_requests_total", "Requests that ended.", ended)
	p.histogram("time_to_first_token_seconds", "Time to first token.", &m.ttft)
	p.histogram("inter_token_latency_seconds", "Time between two tokens.", &m.itl)
	p.histogram("e2e_request_latency_seconds", "Time from arrival to the end.", &m.e2e)
	return p.b.String()
}

func escapeLabel(v string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v)
}
