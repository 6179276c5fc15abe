//go:build linux

package liar

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// finding is one figure beside its truth, which lies between low and high.
type finding struct {
	what      string
	said      float64
	low, high float64
	stated    float64 // error that the report states
	spoils    float64 // how much of a difference the server's own lateness explains
	text      string  // in place of figures
	wrong     bool    // where there is text
}

// claim is what a VALID result says of something, held against the truth.
type claim func(*play) []finding

// judgement of a finding or a play.
const (
	isTrue    = "true"
	isSpoiled = "spoiled" // the server was too late itself to tell
	isLie     = "LIE"
)

// slack is what loopback and two clocks' readings may add to a figure, in milliseconds
// or in hundredths.
const slack = 2

func (f *finding) judge() string {
	if f.text != "" {
		if f.wrong {
			return isLie
		}
		return isTrue
	}
	off := max(f.low-f.said, f.said-f.high)
	switch {
	case math.IsNaN(off) || off > f.stated+f.spoils:
		return isLie
	case off > f.stated:
		return isSpoiled
	}
	return isTrue
}

func (f *finding) String() string {
	if f.text != "" {
		return f.text
	}
	is := fmt.Sprintf("%.4g to %.4g", f.low, f.high)
	if f.low == f.high {
		is = fmt.Sprintf("%.4g", f.low)
	}
	return fmt.Sprintf("%s %.4g, truly %s (stated error %.3g)", f.what, f.said, is, f.stated)
}

// judged is a play with what was found of it.
type judged struct {
	play    *play
	verdict string
	result  string // isTrue, isSpoiled or isLie
	worst   string // the finding that says most
}

// hold compares all that a play claims with the truth. What is not VALID claims nothing but
// what its situation asks of every end.
func hold(p *play) judged {
	j := judged{play: p, verdict: p.verdict(), result: isTrue}
	claims := slices.Clone(p.always)
	valid := j.verdict == "VALID"
	if valid || !p.healthy && !p.host && p.onlyBusy() {
		claims = append(claims, p.truth...)
		if p.result != nil {
			claims = append(claims, accounts)
		}
	}
	if valid && p.result != nil {
		claims = append(claims, latencies)
	}
	for _, c := range claims {
		for _, f := range c(p) {
			g := f.judge()
			if g == isLie || g == isSpoiled && j.result == isTrue {
				j.result, j.worst = g, f.String()
			}
		}
	}
	return j
}

// onlyBusy reports whether nothing but the state of this host stands in the way of VALID.
// On a quiet one the result would be VALID, so that it must be true but for what a busy host
// does to it.
func (p *play) onlyBusy() bool {
	if p.result == nil || len(p.result.Verdict.Checks) == 0 {
		return false
	}
	for _, c := range p.result.Verdict.Checks {
		switch c.Name {
		case "client_cpu", "client_error", "gc", "lag_p90", "lag_p99", "standstill", "longest_pause", "clock_step":
		default:
			if !c.OK {
				return false
			}
		}
	}
	return true
}

// accounts: what was dropped is counted as failed, what is counted as good was answered,
// and tokens are those that were sent.
func accounts(p *play) []finding {
	fates := map[fate]int{}
	tokens, whole := 0, 0
	for _, c := range p.calls {
		if c.seq() < 0 || !p.measured(c.seq()) {
			continue
		}
		f := c.fate
		if f == "" {
			f = cut // the run or the server ended before the answer did
		}
		fates[f]++
		if f == answered {
			whole++
			tokens += c.tokens
		}
	}
	n := p.result.Stages[0].Counts
	// What the report says to have gone again is told, too.
	bad := max(0, float64(fates[dropped]+fates[refused]+fates[cut])-float64(n.Resent))
	list := []finding{
		{what: "requests that failed", said: float64(n.Failed), low: bad, high: max(bad, float64(n.Failed))},
		{what: "requests that succeeded", said: float64(n.OK), low: 0, high: float64(fates[answered])},
	}
	if said, stated, ok := p.result.figure("output_sequence_length", "avg"); ok && whole > 0 {
		mean := float64(tokens) / float64(whole)
		list = append(list, finding{what: "tokens in an answer", said: said, low: mean * 0.99, high: mean * 1.01, stated: stated})
	}
	return list
}

// measured reports whether a request belongs to the measured phase. One that has no record
// does. A warm-up that was found after the run is not marked in the records: it is the first
// requests, as many as the result says.
func (p *play) measured(seq int64) bool {
	r := p.records[seq]
	return r == nil || r.Phase == record.Measured && seq >= p.result.Stages[0].Counts.Warmup
}

// latencies compares times with the server's own moments, and rates with its counts.
func latencies(p *play) []finding {
	var ttft, whole, gaps spans
	var first, last, lastLow time.Time
	n, tokens := 0, 0
	for _, c := range p.calls {
		r := p.records[c.seq()]
		if c.fate != answered || r == nil || r.Failure != nil || !p.measured(r.Seq) || r.Retries+r.Resent > 0 {
			continue
		}
		n++
		tokens += c.tokens
		whole.add(c.last.before.Sub(c.arrived), c.last.after.Sub(c.arrived))
		if len(c.writes) > 0 {
			w := c.writes[0]
			ttft.add(w.before.Sub(c.arrived), w.after.Sub(c.arrived))
		}
		for i := 1; i < len(c.writes); i++ {
			if a, b := c.writes[i-1], c.writes[i]; a.tokens == 1 && b.tokens == 1 {
				gaps.add(max(0, b.before.Sub(a.after)), b.after.Sub(a.before))
			}
		}
		if first.IsZero() || c.arrived.Before(first) {
			first = c.arrived
		}
		if c.last.after.After(last) {
			last, lastLow = c.last.after, c.last.before
		}
	}
	if n == 0 {
		return []finding{{text: "VALID, and the server answered nothing", wrong: true}}
	}
	var list []finding
	list = append(list, p.times("time_to_first_token", &ttft)...)
	list = append(list, p.times("request_latency", &whole)...)
	if len(gaps.low) == tokens-n { // every token has its own event
		list = append(list, p.times("inter_token_latency", &gaps)...)
	}
	if p.result.Stages[0].Counts.Failed > 0 {
		return list // requests that failed stretch the window that rates are over
	}
	list = append(list, p.rate("request_throughput", n, lastLow.Sub(first), last.Sub(first)))
	list = append(list, p.rate("output_token_throughput", tokens, lastLow.Sub(first), last.Sub(first)))
	return slices.DeleteFunc(list, func(f finding) bool { return f.what == "" })
}

// times compares the statistics of a latency.
func (p *play) times(metric string, s *spans) []finding {
	var list []finding
	for _, stat := range []string{"avg", "p50", "p90", "p99"} {
		said, stated, ok := p.result.figure(metric, stat)
		if !ok || len(s.low) == 0 {
			continue
		}
		low, high := s.stat(stat)
		list = append(list, finding{what: metric + " " + stat + " ms", said: said, low: low, high: high, stated: stated + slack, spoils: p.spoils(stat)})
	}
	return list
}

// spoils is how much of a difference in a statistic the server's own lateness explains. An
// answer has several appointments.
func (p *play) spoils(stat string) float64 {
	if stat == "avg" || stat == "p50" {
		return 5 * millis(p.mean)
	}
	return millis(p.late)
}

// rate compares a throughput. An edge of the window that was late by a little changes it
// by a little.
func (p *play) rate(metric string, n int, short, long time.Duration) finding {
	said, stated, ok := p.result.figure(metric, "avg")
	if !ok || short <= 0 {
		return finding{}
	}
	low, high := float64(n)/long.Seconds(), float64(n)/short.Seconds()
	return finding{what: metric, said: said, low: low, high: high, stated: stated + high*slack/100, spoils: high * p.late.Seconds() / short.Seconds()}
}

// about claims that a statistic is what the situation makes it, within a share. A server
// that is late itself makes latencies longer.
func about(metric, stat string, is, share float64) claim {
	return func(p *play) []finding {
		said, stated, ok := p.result.figure(metric, stat)
		if !ok {
			said = math.NaN()
		}
		f := finding{what: metric + " " + stat, said: said, low: is * (1 - share), high: is * (1 + share), stated: stated}
		if !strings.HasSuffix(metric, "throughput") && said > is {
			f.spoils = p.spoils(stat)
		}
		return []finding{f}
	}
}

// served adds nothing to what every situation is held against.
func served(*play) []finding { return nil }

// never claims nothing: a VALID is a lie, whatever the figures are.
func never(why string) claim {
	return func(*play) []finding { return []finding{{text: "VALID: " + why, wrong: true}} }
}

// says is right where the result says a word, in a note or a reason.
func says(words ...string) claim {
	return func(p *play) []finding {
		v := &p.result.Verdict
		text := strings.ToLower(strings.Join(slices.Concat(p.result.Notes, v.Reasons, v.Undecided, []string{p.stderr}), "\n"))
		for _, w := range words {
			if strings.Contains(text, strings.ToLower(w)) {
				return []finding{{text: "says " + w}}
			}
		}
		return []finding{{text: fmt.Sprintf("VALID, and not a word of %q", words[0]), wrong: true}}
	}
}

// unless holds a claim only where another finds something wrong: a figure that is off is no
// lie where the result says why.
func unless(excuse, c claim) claim {
	return func(p *play) []finding {
		for _, f := range excuse(p) {
			if f.judge() == isLie {
				return c(p)
			}
		}
		return nil
	}
}

// spans are samples that are known to lie between two bounds. Sorting each side keeps any
// order statistic between them.
type spans struct{ low, high []float64 }

func (s *spans) add(low, high time.Duration) {
	s.low, s.high = append(s.low, millis(low)), append(s.high, millis(high))
}

func (s *spans) stat(name string) (low, high float64) {
	of := func(v []float64) float64 {
		if name == "avg" {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			return sum / float64(len(v))
		}
		slices.Sort(v)
		q := map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99}[name] * float64(len(v)-1)
		at := int(q)
		return v[at] + (q-float64(at))*(v[min(at+1, len(v)-1)]-v[at])
	}
	return of(s.low), of(s.high)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
