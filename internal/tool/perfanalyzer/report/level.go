package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// delayedShare is the share of delayed requests, in per cent, from which on it is told.
	delayedShare = 1
	// overheadShare is the client's own share of the time, in per cent, from which on a
	// warning is printed.
	overheadShare = 50
	// mostGPUs is how many GPUs are listed one by one.
	mostGPUs = 16
)

// WriteLevel prints what was measured at a level.
func WriteLevel(w io.Writer, l *Level, o Options) error {
	p := new(printer)
	p.client(&l.Client, o)
	if l.Server != nil {
		p.line("  Server: ")
		p.model(l.Server, 1)
	}
	if l.GPUs != nil {
		p.gpus(l.GPUs)
	}
	if l.Client.Overhead > overheadShare {
		p.line("[WARNING] Perf Analyzer is not able to keep up with the desired load. The results may not be accurate.")
	}
	return p.flush(w)
}

func (p *printer) client(c *Client, o Options) {
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
		p.line("    Sequence count: %d (%s seq/sec)", c.Sequences, number(c.SequenceRate))
	}
	p.line("    Throughput: %s infer/sec", number(c.Throughput))
	if o.Decoupled {
		p.line("    Response Throughput: %s infer/sec", number(c.ResponseThroughput))
	}
	if o.Verbose {
		p.line("    Avg client overhead: %.2f%%", c.Overhead)
	}
	if o.Percentile == 0 {
		p.line("    Avg latency: %d usec (standard deviation %d usec)", micros(c.Latency.Avg), micros(c.Latency.Std))
	}
	for _, q := range c.Latency.Percentiles {
		p.line("    p%d latency: %d usec", q.P, micros(q.Value))
	}
	p.beside("First response latency", c.First)
	p.beside("Latency from the scheduled send", c.FromDue)
	p.line("    %s", library(c, o))
}

// beside prints a distribution that the original does not have, on one line.
func (p *printer) beside(name string, s *Spread) {
	if s == nil {
		return
	}
	text := fmt.Sprintf("    %s: avg %d usec", name, micros(s.Avg))
	for _, q := range s.Percentiles {
		text += fmt.Sprintf(", p%d %d usec", q.P, micros(q.Value))
	}
	p.line("%s", text)
}

// library is the line on what the client's library did.
func library(c *Client, o Options) string {
	if !o.Library {
		return ""
	}
	request, send, receive := micros(c.Request), micros(c.Send), micros(c.Receive)
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

// cached reports whether a model's answers come from a cache at times.
func (m *Model) cached() bool { return m.CacheHit.Count+m.CacheMiss.Count > 0 }

// compute is all of the computing, as often as its first step was done.
func (m *Model) compute() Sum {
	return Sum{m.ComputeInput.Count, m.ComputeInput.NS + m.ComputeInfer.NS + m.ComputeOutput.NS}
}

// answering is computing and caching together.
func (m *Model) answering() Sum {
	c := m.compute()
	return Sum{c.Count + m.CacheHit.Count, c.NS + m.CacheHit.NS + m.CacheMiss.NS}
}

// model prints the statistics of a model and of those it is made of.
func (p *printer) model(m *Model, depth int) {
	indent := strings.Repeat("  ", depth)
	if m.Success.Count == 0 {
		p.line("%s  Request count: 0", indent)
		return
	}
	p.line("%s  Inference count: %d", indent, m.Inferences)
	p.line("%s  Execution count: %d", indent, m.Executions)
	if m.cached() {
		p.line("%s  Cache hit count: %d", indent, m.CacheHit.Count)
		p.line("%s  Cache miss count: %d", indent, m.CacheMiss.Count)
	}
	p.line("%s  Successful request count: %d", indent, m.Success.Count)
	if len(m.Composing) == 0 {
		p.single(m, indent)
		return
	}
	queue, compute := sums(m)
	total := m.Success.us()
	p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + compute %d usec)", indent, total, overhead(total, queue, compute), queue, compute)
	p.line("")
	p.line("%sComposing models: ", indent)
	for i := range m.Composing {
		c := &m.Composing[i]
		p.line("%s%s, version: %s", indent, c.Name, c.Version)
		p.model(c, depth+1)
	}
}

// single prints the parts of a model that is made of no others.
func (p *printer) single(m *Model, indent string) {
	total, queue := m.Success.us(), m.Queue.us()
	if !m.cached() {
		p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + compute input %d usec + compute infer %d usec + compute output %d usec)",
			indent, total, overhead(total, queue, m.compute().us()), queue, m.ComputeInput.us(), m.ComputeInfer.us(), m.ComputeOutput.us())
		p.line("")
		return
	}
	both := m.answering().us()
	p.line("%s  Avg request latency: %d usec (overhead %d usec + queue %d usec + cache hit/miss %d usec)", indent, total, overhead(total, queue, both), queue, both)
	p.line("%s%s  Average Cache Hit Latency: %d usec", indent, indent, m.CacheHit.us())
	p.line("%s%s  Average Cache Miss Latency: %d usec (cache lookup/insertion %d usec + compute input %d usec + compute infer %d usec + compute output %d usec)",
		indent, indent, m.CacheMiss.us()+m.compute().us(), m.CacheMiss.us(), m.ComputeInput.us(), m.ComputeInfer.us(), m.ComputeOutput.us())
	p.line("")
}

// sums adds up the average queue and compute times of what a model is made of.
func sums(m *Model) (queue, compute uint64) {
	for i := range m.Composing {
		c := &m.Composing[i]
		if len(c.Composing) > 0 {
			q, k := sums(c)
			queue, compute = queue+q, compute+k
			continue
		}
		queue += c.Queue.us()
		if c.cached() {
			compute += c.answering().us()
		} else {
			compute += c.compute().us()
		}
	}
	return queue, compute
}

// overhead is what is left of a total, never below 0.
func overhead(total, queue, compute uint64) uint64 {
	if total < queue+compute {
		return 0
	}
	return total - queue - compute
}

func (p *printer) gpus(list []GPU) {
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

// gpuPart is one figure of a GPU.
type gpuPart struct {
	name, unit string
	scale      float64
	value      func(*GPU) float64
	show       func(float64) string
}

// bytes is a number of bytes, all digits of it.
func bytes(v float64) string { return fmt.Sprintf("%.0f", v) }

func gpuParts() []gpuPart {
	return []gpuPart{
		{"Avg GPU Utilization", "%", 100, func(g *GPU) float64 { return g.Utilization }, number},
		{"Avg GPU Power Usage", " watts", 1, func(g *GPU) float64 { return g.Power }, number},
		{"Max GPU Memory Usage", " bytes", 1, func(g *GPU) float64 { return g.MemoryUsed }, bytes},
		{"Total GPU Memory", " bytes", 1, func(g *GPU) float64 { return g.MemoryTotal }, bytes},
	}
}

// wait is how long an answer was waited for, on average.
func (c *Client) wait() time.Duration { return max(c.Request-c.Send-c.Receive, 0) }
