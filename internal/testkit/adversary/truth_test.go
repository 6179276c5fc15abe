//go:build linux

package adversary

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
	down, up  float64 // how far the report says that it can be off either way
	stated    float64 // what else it may be off by
	spoils    float64 // how much of a difference the server's own lateness explains
	text      string  // in place of figures
	wrong     bool    // where there is text
	sure      bool    // the truth is read off the kernel's clock: a busy host is no excuse
}

// claim is what a VALID result says of something, held against the truth.
type claim func(*play) []finding

// judgement of a finding or a play.
const (
	isTrue    = "true"
	isSpoiled = "spoiled" // the server was too late itself to tell
	isLie     = "LIE"
)

func (f *finding) judge() string {
	if f.text != "" {
		if f.wrong {
			return isLie
		}
		return isTrue
	}
	off := max(f.low-f.said-f.up, f.said-f.down-f.high)
	switch {
	case math.IsNaN(off) || off > f.stated+f.spoils:
		return isLie
	case off > f.stated:
		return isSpoiled
	}
	return isTrue
}

// off is by which share a figure misses the truth; what is wrong in words is worse than any.
func (f *finding) off() float64 {
	if f.text != "" {
		return math.Inf(1)
	}
	return max(f.low-f.said-f.up, f.said-f.down-f.high) / max(math.Abs(f.high), 1e-9)
}

func (f *finding) String() string {
	if f.text != "" {
		return f.text
	}
	is := fmt.Sprintf("%.4g to %.4g", f.low, f.high)
	if f.low == f.high {
		is = fmt.Sprintf("%.4g", f.low)
	}
	bar := fmt.Sprintf("±%.3g", f.up)
	if f.up != f.down {
		bar = fmt.Sprintf("%.4g to %.4g", f.said-f.down, f.said+f.up)
	}
	return fmt.Sprintf("%s %.4g (%s), truly %s", f.what, f.said, bar, is)
}

// judged is a play with what was found of it.
type judged struct {
	play    *play
	verdict string
	result  string // isTrue, isSpoiled or isLie
	worst   string // the finding that says most
	sure    bool   // a lie that needs no second hearing
	checked []finding
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
	if p.result != nil {
		claims = append(claims, latencies)
	}
	worst := 0.0
	for _, c := range claims {
		for _, f := range c(p) {
			g := f.judge()
			j.checked = append(j.checked, f)
			if p.aloud {
				p.t.Logf("%s: %s: %s", p.name, &f, g)
			}
			if g == isTrue || g == isSpoiled && j.result == isLie || g == j.result && f.off() <= worst {
				continue
			}
			j.result, j.worst, worst = g, f.String(), f.off()
			j.sure = j.sure || g == isLie && f.sure
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
	return !p.result.Verdict.finds(-1)
}

// finds reports whether a verdict has found anything in a stage, or in any with -1, that a busy
// host does not explain.
func (v *verdict) finds(stage int) bool {
	for _, c := range v.Checks {
		switch c.Name {
		case "client_cpu", "client_error", "gc", "dispatch_delay_p90", "dispatch_delay_p99", "client_stalled", "client_longest_stall", "clock_step":
		default:
			if !c.OK && (stage < 0 || c.Stage == stage) {
				return true
			}
		}
	}
	return false
}

// accounts: what was dropped is counted as failed, what is counted as good was answered,
// and tokens are those that were sent.
func accounts(p *play) []finding {
	fates := map[fate]int{}
	tokens, whole := 0, 0
	for _, c := range p.calls {
		if r := p.records[c.seq()]; c.seq() < 0 || r != nil && !p.measured(r) {
			continue
		}
		f := c.fate
		if f == "" {
			f = cut // the run or the server ended before the response did
		}
		fates[f]++
		if f == answered {
			whole++
			tokens += c.tokens
		}
	}
	n := p.result.counts()
	// What the report says to have gone again is told, too.
	bad := max(0, float64(fates[dropped]+fates[refused]+fates[cut])-float64(n.Resent))
	list := []finding{
		{what: "requests that failed", said: float64(n.Failed), low: bad, high: max(bad, float64(n.Failed))},
		{what: "requests that succeeded", said: float64(n.OK), low: 0, high: float64(fates[answered])},
	}
	if said, ok := p.result.figure("output_sequence_length", "avg"); ok && whole > 0 && len(p.result.Stages) == 1 {
		mean := float64(tokens) / float64(whole)
		list = append(list, said.beside("tokens in an answer", mean, mean, mean/100))
	}
	return list
}

// measured reports whether a request belongs to the measured phase. A warm-up that was found
// after the run is not marked in the records: it is the first requests, as many as the
// result says.
func (p *play) measured(r *record.Record) bool {
	return r.Phase == record.Measured && (r.Stage > 0 || r.Seq >= p.result.Stages[0].Counts.Warmup)
}

// spoils is how much of a difference in a statistic the server's own lateness explains. An
// answer has several appointments.
func (p *play) spoils(stat string) float64 {
	if stat == "avg" || stat == "p50" {
		return 5 * millis(p.mean)
	}
	return millis(p.late)
}

// about claims that a statistic is what the situation makes it, within a share. A server
// that is late itself makes latencies longer.
func about(metric, stat string, is, share float64) claim {
	return func(p *play) []finding {
		said, ok := p.result.figure(metric, stat)
		if !ok {
			said.value = math.NaN()
		}
		f := said.beside(metric+" "+stat, is*(1-share), is*(1+share), 0)
		if !strings.HasSuffix(metric, "throughput") && said.value > is {
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

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
