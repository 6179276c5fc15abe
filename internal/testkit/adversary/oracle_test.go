//go:build linux

package adversary

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

const (
	// path is what the loopback and two readings of the clock may add to a latency, in
	// milliseconds.
	path = 0.3
	// edge is how near to an edge of a window a response may end and still be on either
	// side of it.
	edge = time.Millisecond
)

// truths are the figures of a part of a stage by the server's log: each sample of each
// metric lies between two bounds.
type truths struct {
	samples map[string]*spans
	rates   map[string][2]float64
	n       int
}

// latencies holds every figure that the server knows the truth of against it: of each stage
// that is trusted, for the whole of it and for its steady window.
func latencies(p *play) []finding {
	base, ok := p.base()
	var list []finding
	for i := range p.result.Stages {
		s := &p.result.Stages[i]
		if !p.anyway && !p.trusted(i) {
			continue
		}
		if !ok {
			return []finding{{text: "VALID, and the server answered nothing", wrong: true}}
		}
		name := ""
		if len(p.result.Stages) > 1 {
			name = fmt.Sprintf("stage %d: ", i+1)
		}
		whole := p.truthsOf(i, base, func(r *record.Record) bool { return p.measured(r) })
		p.unended(whole, i, base)
		p.wholeRates(whole, i, base)
		list = append(list, p.compare(name, whole, s.Metrics, p.trusted(i))...)
		if s.Steady == nil {
			continue
		}
		from, to := seconds(s.Steady.Window.Begin), seconds(s.Steady.Window.End)
		steady := p.truthsOf(i, base, func(r *record.Record) bool { return from <= r.End && r.End <= to })
		p.steadyRates(steady, i, base.Add(from), base.Add(to))
		list = append(list, p.compare(name+"steady ", steady, s.Steady.Metrics, p.trusted(i))...)
	}
	if ok && p.slack == path && p.verdict() == "VALID" {
		list = append(list, p.written(base)...)
	}
	for i := range list {
		list[i].sure = p.slack == path
	}
	return list
}

// written holds against the truth by when the client says that a request was in the kernel's
// hands, which latencies are bounded by: it has come by then.
func (p *play) written(base time.Time) []finding {
	var worst time.Duration
	for seq, calls := range p.bySeq() {
		c, r := calls[0], p.records[seq]
		if r == nil || r.Failure != nil || r.Written == record.Never || r.Retries+r.Resent > 0 || c.unsure || len(c.body) > 16<<10 {
			continue
		}
		worst = max(worst, c.arrived.Sub(base.Add(r.Written)))
	}
	return []finding{{what: "ms by which a request came after it was written", said: 0, low: millis(worst), high: millis(worst), stated: p.slack}}
}

// trusted reports whether the figures of a stage are called VALID: by the stage's own
// verdict, where it has one.
func (p *play) trusted(i int) bool {
	if v := p.result.Stages[i].Verdict; v != nil {
		return v.Word == "VALID" || v.Valid
	}
	return p.verdict() == "VALID"
}

// base is the moment that the times of records count from: no request can have come before
// it was sent, and some came at once.
func (p *play) base() (base time.Time, ok bool) {
	for _, c := range p.calls {
		r := p.records[c.seq()]
		if r == nil || r.Sent == record.Never || r.Retries+r.Resent > 0 {
			continue
		}
		if at := c.arrived.Add(-r.Sent); base.IsZero() || at.Before(base) {
			base = at
		}
	}
	return base, !base.IsZero()
}

// truthsOf are the samples of those requests of a stage that succeeded.
func (p *play) truthsOf(i int, base time.Time, in func(*record.Record) bool) *truths {
	t := &truths{samples: map[string]*spans{}, rates: map[string][2]float64{}}
	for seq, calls := range p.bySeq() {
		r := p.records[seq]
		last := calls[len(calls)-1]
		if r == nil || r.Stage != i || r.Phase == record.Closing || r.Failure != nil || last.fate != answered || !in(r) {
			continue
		}
		t.n++
		first := calls[0].arrived
		if calls[0].unsure {
			first = base.Add(r.Sent)
		}
		t.add(first, last)
	}
	return t
}

// unended takes the requests that the client ended before their responses did: what had come by
// then came when it did, and what had not would have come later, nobody knows when.
func (p *play) unended(t *truths, i int, base time.Time) {
	for seq, calls := range p.bySeq() {
		r, c := p.records[seq], calls[len(calls)-1]
		if r == nil || r.Stage != i || !p.measured(r) || r.Failure == nil || r.Failure.Class != record.CutOff &&
			r.Failure.Class != record.Cancelled {
			continue
		}
		end := base.Add(r.End)
		one := func(metric string, m moment) {
			s := t.of(metric)
			switch {
			case !m.before.IsZero() && m.after.Before(end):
				s.add(m.before.Sub(c.arrived), m.after.Sub(calls[0].arrived))
			case !m.before.IsZero() && m.before.Before(end):
				s.add(m.before.Sub(c.arrived), math.MaxInt64)
			default:
				s.add(end.Sub(c.arrived), math.MaxInt64)
			}
		}
		one("request_latency", moment{})
		one("time_to_first_byte", c.start)
		one("time_to_first_event", c.opened)
		one("time_to_first_token", append(c.writes, moment{})[0])
		one("time_to_first_output_token", c.shown)
	}
}

// bySeq are the calls of each request, in their order: one that went again has several.
func (p *play) bySeq() map[int64][]*call {
	all := map[int64][]*call{}
	for _, c := range p.calls {
		if n := c.seq(); n >= 0 {
			all[n] = append(all[n], c)
		}
	}
	return all
}

// add takes the samples of a request. first is when it came the first time.
func (t *truths) add(first time.Time, c *call) {
	since := func(m moment) (low, high time.Duration) {
		return max(0, m.before.Sub(c.arrived)), m.after.Sub(first)
	}
	one := func(metric string, m moment) {
		if low, high := since(m); !m.before.IsZero() {
			t.of(metric).add(low, high)
		}
	}
	one("request_latency", c.last)
	one("time_to_first_byte", c.start)
	if c.tokens > 0 {
		low, high := since(c.last)
		t.of("normalized_time_per_output_token").add(low/time.Duration(c.tokens), high/time.Duration(c.tokens))
	}
	if len(c.writes) == 0 {
		return
	}
	one("time_to_first_token", c.writes[0])
	one("time_to_first_event", c.opened)
	one("time_to_first_output_token", c.shown)
	t.gaps(c)
	a, b := c.writes[0], c.writes[len(c.writes)-1]
	if low, high := max(0, b.before.Sub(a.after)), b.after.Sub(a.before); c.tokens > 1 && c.events() > 1 {
		n := time.Duration(c.tokens - 1)
		t.of("time_per_output_token").add(low/n, high/n)
		if low > 0 {
			s, loop := t.of("output_token_throughput_per_user"), time.Duration(path*float64(time.Millisecond))
			s.low = append(s.low, float64(n)/(high+loop).Seconds())
			s.high = append(s.high, float64(n)/max(low-loop, 1).Seconds())
		}
	}
}

// events is how many events had tokens.
func (c *call) events() (n int) {
	for _, w := range c.writes {
		n += w.events
	}
	return n
}

// gaps takes the gaps between events and between tokens. Events of one write came at any
// moment of it.
func (t *truths) gaps(c *call) {
	events, tokens := t.of("inter_event_latency"), t.of("inter_token_latency")
	var longLow, longHigh time.Duration
	nth := 0
	for i, w := range c.writes {
		for k := range w.events {
			low, high := time.Duration(0), w.after.Sub(w.before)
			if k == 0 && i > 0 {
				a := c.writes[i-1]
				low, high = max(0, w.before.Sub(a.after)), w.after.Sub(a.before)
			}
			nth++
			if nth == 1 {
				continue
			}
			if nth == 2 {
				t.of("time_to_second_token").add(low, high)
			}
			events.add(low, high)
			longLow, longHigh = max(longLow, low), max(longHigh, high)
			n := w.tokens / w.events
			for range n {
				tokens.add(low/time.Duration(n), high/time.Duration(n))
			}
		}
	}
	if nth > 1 {
		t.of("longest_gap").add(longLow, longHigh)
	}
}

func (t *truths) of(metric string) *spans {
	s := t.samples[metric]
	if s == nil {
		s = &spans{}
		t.samples[metric] = s
	}
	return s
}

// wholeRates works out the rates of a stage: from when its first request came to when its
// last one ended. What failed ended when the client says so.
func (p *play) wholeRates(t *truths, i int, base time.Time) {
	var begin, low, high time.Time
	tokens := 0
	for seq, calls := range p.bySeq() {
		r, last := p.records[seq], calls[len(calls)-1]
		if r == nil || r.Stage != i || !p.measured(r) {
			continue
		}
		if begin.IsZero() || calls[0].arrived.Before(begin) {
			begin = calls[0].arrived
		}
		from, to := last.last.before, last.last.after
		if r.Failure != nil || last.fate != answered {
			from, to = base.Add(r.End), base.Add(r.End)
		} else {
			tokens += last.tokens
		}
		if from.After(low) {
			low = from
		}
		if to.After(high) {
			high = to
		}
	}
	long, short := high.Sub(begin).Seconds(), low.Sub(begin).Seconds()
	if short <= 0 {
		return
	}
	t.rates["request_throughput"] = [2]float64{float64(t.n) / long, float64(t.n) / short}
	t.rates["output_token_throughput"] = [2]float64{float64(tokens) / long, float64(tokens) / short}
}

// steadyRates works out the rates of the steady window. A response that ends at its edge is
// in it or not.
func (p *play) steadyRates(t *truths, i int, from, to time.Time) {
	span := to.Sub(from).Seconds()
	var n, tokens [2]float64
	for seq, calls := range p.bySeq() {
		r, c := p.records[seq], calls[len(calls)-1]
		if r == nil || r.Stage != i || r.Phase == record.Closing || r.Failure != nil || c.fate != answered {
			continue
		}
		if c.last.before.After(from.Add(edge)) && c.last.after.Before(to.Add(-edge)) {
			n[0]++
			tokens[0] += float64(c.tokens)
		}
		if c.last.after.After(from.Add(-edge)) && c.last.before.Before(to.Add(edge)) {
			n[1]++
			tokens[1] += float64(c.tokens)
		}
	}
	if span > 0 {
		t.rates["request_throughput"] = [2]float64{n[0] / span, n[1] / span}
		t.rates["output_token_throughput"] = [2]float64{tokens[0] / span, tokens[1] / span}
	}
}

// compare makes a finding of every statistic that is printed and whose truth is known. One that
// is not VALID and has no bar claims nothing.
func (p *play) compare(name string, t *truths, said figures, valid bool) []finding {
	var list []finding
	for metric, s := range t.samples {
		share := 0.0
		switch metric {
		case "inter_token_latency", "time_per_output_token", "normalized_time_per_output_token", "output_token_throughput_per_user":
			share = 0.01 // of the number of tokens, which is held against the truth elsewhere
		}
		for _, stat := range statistics {
			f, ok := said.get(metric, stat)
			if !ok || len(s.low) == 0 || !f.barred && !(valid && slices.Contains(usual, stat)) {
				continue
			}
			low, high := s.stat(stat)
			list = append(list, f.beside(name+metric+" "+stat, low, high, p.slack+share*high))
		}
	}
	for metric, r := range t.rates {
		if f, ok := said.get(metric, "avg"); ok && (valid || f.barred) {
			list = append(list, f.beside(name+metric, r[0], r[1], 0.01*r[1]))
		}
	}
	if f, ok := said.get("request_count", "avg"); ok && t.n > 0 {
		list = append(list, f.beside(name+"request_count", float64(t.n), float64(t.n), 0))
	}
	return list
}

// beside makes a finding of a figure and its truth.
func (f printed) beside(what string, low, high, slack float64) finding {
	if f.value < f.lo-1e-9*math.Abs(f.lo) || f.value > f.hi+1e-9*math.Abs(f.hi) {
		return finding{text: fmt.Sprintf("%s %.4g lies outside its own bar, %.4g to %.4g", what, f.value, f.lo, f.hi), wrong: true}
	}
	if f.least {
		f.hi = math.Inf(1)
	}
	return finding{what: what, said: f.value, down: f.value - f.lo, up: f.hi - f.value, low: low, high: high, stated: slack}
}

// statistics are those that a report has of a latency, and usual the ones that it shows first.
var (
	statistics = []string{"avg", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"}
	usual      = []string{"avg", "p50", "p90", "p99"}
)

// spans are samples that are known to lie between two bounds. Sorting each side keeps any
// order statistic between them.
type spans struct{ low, high []float64 }

func (s *spans) add(low, high time.Duration) {
	s.low, s.high = append(s.low, millis(low)), append(s.high, millis(high))
}

func (s *spans) stat(name string) (low, high float64) {
	return statistic(name, s.low), statistic(name, s.high)
}

func statistic(name string, v []float64) float64 {
	if name == "avg" {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum / float64(len(v))
	}
	slices.Sort(v)
	share := 0.0
	switch name {
	case "min":
	case "max":
		share = 1
	default:
		if _, err := fmt.Sscanf(name, "p%g", &share); err != nil {
			return math.NaN()
		}
		share /= 100
	}
	q := share * float64(len(v)-1)
	at := int(q)
	return v[at] + (q-float64(at))*(v[min(at+1, len(v)-1)]-v[at])
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
