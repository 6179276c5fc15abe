package analyzerreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

const (
	// delayedShare is the share of delayed requests, in per cent, from which on it is told.
	delayedShare = 1
	// overheadShare is the client's own share of the time from which on a warning is printed.
	overheadShare = 0.5
	// mostGPUs is how many GPUs are listed one by one.
	mostGPUs = 16
)

// WriteLevel prints what was measured at a level.
func WriteLevel(w io.Writer, l *LevelReport, o Options) error {
	p := new(printer)
	p.client(l, o)
	if l.Server != nil {
		p.line("  Server: ")
		p.model(l.Server, 1, cachingOf(l.Server))
	}
	if l.GPUs != nil {
		p.gpus(l.GPUs)
	}
	if l.Client.Overhead > overheadShare {
		p.line("[WARNING] Perf Analyzer is not able to keep up with the desired load. The results may not be accurate.")
	}
	return p.flush(w)
}

func (p *printer) client(l *LevelReport, o Options) {
	c := &l.Client
	p.line("  Client: ")
	p.line("    Request count: %d", c.Requests)
	if c.Failed > 0 {
		p.line("    Failed request count: %d", c.Failed)
	}
	if share := 100 * float64(c.Delayed) / float64(max(c.Requests, 1)); share > delayedShare {
		p.line("    Avg send request rate: %.2f infer/sec", c.SendRate)
		p.line("    [WARNING] Perf Analyzer was not able to keep up with the desired request rate. %.2f%% of the requests were delayed. ", share)
	}
	if o.Sequence {
		p.line("    Sequence count: %d (%s seq/sec)", c.Sequences, number(float64(c.Sequences)/(c.End-c.Begin).Seconds()))
	}
	p.line("    Throughput: %s infer/sec", number(c.Throughput))
	if o.Decoupled {
		p.line("    Response Throughput: %s infer/sec", number(c.Streamed))
	}
	if o.Verbose {
		p.line("    Avg client overhead: %.2f%%", 100*c.Overhead)
	}
	if o.Percentile == 0 {
		p.line("    Avg latency: %d usec (standard deviation %d usec)", c.Latency.Avg.Microseconds(), c.Latency.Std.Microseconds())
	}
	for _, q := range c.Latency.Percentiles {
		p.line("    p%d latency: %d usec", q.P, q.Value.Microseconds())
	}
	if c.First != nil {
		p.beside("First response latency", c.First)
	}
	if l.Load.Rate && len(c.FromDue.Percentiles) > 0 {
		p.beside("Latency from the scheduled send", &c.FromDue)
	}
	p.line("    %s", library(c, o))
}

// beside prints a distribution that the original does not have, on one line.
func (p *printer) beside(name string, s *sweep.LatencyStats) {
	text := fmt.Sprintf("    %s: avg %d usec", name, s.Avg.Microseconds())
	for _, q := range s.Percentiles {
		text += fmt.Sprintf(", p%d %d usec", q.P, q.Value.Microseconds())
	}
	p.line("%s", text)
}

// library is the line on what the client's library did.
func library(c *sweep.Window, o Options) string {
	if !o.Library {
		return ""
	}
	request, send, receive := c.Request.Microseconds(), c.Send.Microseconds(), c.Receive.Microseconds()
	wait := max(request-send-receive, 0)
	switch {
	case o.GRPC && o.Verbose:
		return fmt.Sprintf("Avg gRPC time: %d usec (marshal %d usec + response wait %d usec + unmarshal %d usec)", request, send, wait, receive)
	case o.GRPC:
		return fmt.Sprintf("Avg gRPC time: %d usec ((un)marshal request/response %d usec + response wait %d usec)", request, send+receive, wait)
	case o.Verbose:
		return fmt.Sprintf("Avg HTTP time: %d usec (send %d usec + response wait %d usec + receive %d usec)", request, send, wait, receive)
	}
	return fmt.Sprintf("Avg HTTP time: %d usec (send/recv %d usec + response wait %d usec)", request, send+receive, wait)
}

// caching is which models have a response cache. It is told of all of them where one has.
type caching struct {
	some bool // of the model and those it is made of
	top  bool // the model itself
}

func cachingOf(m *record.ModelStats) caching {
	c := caching{top: m.Cache || m.CacheHit.Count+m.CacheMiss.Count > 0}
	c.some = c.top
	for i := range m.Composing {
		c.some = c.some || cachingOf(&m.Composing[i]).some
	}
	return c
}

// compute is all of the computing, as often as its first step was done.
func compute(m *record.ModelStats) record.CountTime {
	return record.CountTime{Count: m.ComputeInput.Count, NS: m.ComputeInput.NS + m.ComputeInfer.NS + m.ComputeOutput.NS}
}

// answering is computing and caching together.
func answering(m *record.ModelStats) record.CountTime {
	c := compute(m)
	return record.CountTime{Count: c.Count + m.CacheHit.Count, NS: c.NS + m.CacheHit.NS + m.CacheMiss.NS}
}

// model prints the statistics of a model and of those it is made of.
func (p *printer) model(m *record.ModelStats, depth int, cache caching) {
	indent := strings.Repeat("  ", depth)
	if m.Success.Count == 0 {
		p.line("%s  Request count: 0", indent)
		return
	}
	p.line("%s  Inference count: %d", indent, m.Inferences)
	p.line("%s  Execution count: %d", indent, m.Executions)
	if cache.some {
		p.line("%s  Cache hit count: %d", indent, m.CacheHit.Count)
		p.line("%s  Cache miss count: %d", indent, m.CacheMiss.Count)
	}
	p.line("%s  Successful request count: %d", indent, m.Success.Count)
	if len(m.Composing) == 0 {
		p.single(m, indent, cache)
		return
	}
	p.printEnsemble(m, indent, cache)
	p.line("%sComposing models: ", indent)
	for i := range m.Composing {
		c := &m.Composing[i]
		p.line("%s%s, version: %s", indent, c.Name, c.Version)
		p.model(c, depth+1, cache)
	}
}

// printEnsemble prints what an ensemble takes with all that it is made of. Where its own answers come out
// of a cache, its parts say nothing of the average.
func (p *printer) printEnsemble(m *record.ModelStats, indent string, cache caching) {
	total, all := micros(m.Success), sums(m)
	switch {
	case !cache.some:
		p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + compute %d usec)", indent, total, overhead(total, all.queue, all.compute), all.queue, all.compute)
		p.line("")
		return
	case cache.top:
		p.line("%s  Avg request latency: %d usec", indent, total)
	default:
		p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + cache hit/miss %d usec)", indent, total, overhead(total, all.queue, all.both), all.queue, all.both)
	}
	p.line("%s%s  Average Cache Hit Latency: %d usec", indent, indent, all.hit)
	p.line("%s%s  Average Cache Miss Latency: %d usec ", indent, indent, all.miss+all.compute)
	p.line("")
}

// single prints the parts of a model that is made of no others.
func (p *printer) single(m *record.ModelStats, indent string, cache caching) {
	total, queue := micros(m.Success), micros(m.Queue)
	if !cache.some {
		p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + compute input %d usec + compute infer %d usec + compute output %d usec)",
			indent, total, overhead(total, queue, micros(compute(m))), queue, micros(m.ComputeInput), micros(m.ComputeInfer),
			micros(m.ComputeOutput))
		return
	}
	both := micros(answering(m))
	p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + cache hit/miss %d usec)", indent, total, overhead(total, queue, both), queue, both)
	p.line("%s%s  Average Cache Hit Latency: %d usec", indent, indent, micros(m.CacheHit))
	p.line("%s%s  Average Cache Miss Latency: %d usec (cache lookup/insertion %d usec + compute input %d usec + compute infer %d usec + compute output %d usec)",
		indent, indent, micros(m.CacheMiss)+micros(compute(m)), micros(m.CacheMiss), micros(m.ComputeInput), micros(m.ComputeInfer),
		micros(m.ComputeOutput))
}

// ensembleTimes are average times of what an ensemble is made of, added up, in microseconds.
type ensembleTimes struct {
	queue, compute, hit, miss uint64
	both                      uint64 // computing and caching together
}

func sums(m *record.ModelStats) ensembleTimes {
	all := ensembleTimes{hit: micros(m.CacheHit), miss: micros(m.CacheMiss)}
	for i := range m.Composing {
		c := &m.Composing[i]
		one := ensembleTimes{micros(c.Queue), micros(compute(c)), micros(c.CacheHit), micros(c.CacheMiss), micros(answering(c))}
		if len(c.Composing) > 0 {
			one = sums(c)
		}
		all.queue, all.compute, all.hit, all.miss, all.both = all.queue+one.queue, all.compute+one.compute, all.hit+one.hit, all.miss+one.miss,
			all.both+one.both
	}
	return all
}

// average is that of something that happened, in nanoseconds.
func average(c record.CountTime) uint64 { return c.NS / max(c.Count, 1) }

func micros(c record.CountTime) uint64 { return average(c) / 1000 }

// overhead is what is left of a total, never below 0.
func overhead(total, queue, work uint64) uint64 { return total - min(total, queue+work) }

func (p *printer) gpus(list []record.GPU) {
	p.line("  Server Prometheus Metrics: ")
	if len(list) > mostGPUs {
		p.line("Too many GPUs on system to print out individual Prometheus metrics, use the CSV output feature to see metrics.")
		return
	}
	for _, part := range gpuParts() {
		p.line("    %s:", part.name)
		for i := range list {
			p.line("      %s : %s%s", list[i].UUID, part.show(part.value(&list[i])*part.scale), part.unit)
		}
	}
}

type gpuPart struct {
	name, unit string
	scale      float64
	value      func(*record.GPU) float64
	show       func(float64) string
}

// bytes is a number of bytes, all digits of it.
func bytes(v float64) string { return fmt.Sprintf("%.0f", v) }

func gpuParts() []gpuPart {
	return []gpuPart{
		{"Avg GPU Utilization", "%", 100, func(g *record.GPU) float64 { return g.Utilization }, number},
		{"Avg GPU Power Usage", " watts", 1, func(g *record.GPU) float64 { return g.Power }, number},
		{"Max GPU Memory Usage", " bytes", 1, func(g *record.GPU) float64 { return g.MemoryUsed }, bytes},
		{"Total GPU Memory", " bytes", 1, func(g *record.GPU) float64 { return g.MemoryTotal }, bytes},
	}
}
