package build

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// server is a made-up server: what a request costs that is begun at a moment.
type server struct {
	ttft, tpot time.Duration
	tokens     int
	slots      int     // served at a time; 0: all
	jitter     float64 // of each request by itself
	shared     float64 // of all that are sent at about the same time
	spread     float64 // of the length of responses
	// slow is by how much the n-th request, begun at a moment, is slower: for its first token,
	// and for the others. +Inf: it never ends.
	slow func(n int, at time.Duration) (first, others float64)
}

// load is what is asked of it.
type load struct {
	concurrency int // closed loop
	rate        float64
	poisson     bool
	requests    int
	duration    time.Duration
	drain       time.Duration
	cap         int
}

func (l load) String() string {
	if l.concurrency > 0 {
		return fmt.Sprintf("%d in flight, %d requests, %v", l.concurrency, l.requests, l.duration)
	}
	return fmt.Sprintf("%v/s, %d requests, %v", l.rate, l.requests, l.duration)
}

type ends []time.Duration

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(v any)        { *e = append(*e, v.(time.Duration)) }
func (e *ends) Pop() any {
	old := *e
	v := old[len(old)-1]
	*e = old[:len(old)-1]
	return v
}

const never = time.Duration(math.MaxInt64 / 4)

// simulate gives the records of a load on a server, and the stage's mark.
func simulate(r *rand.Rand, s server, l load) ([]*record.Record, record.StageSummary) {
	var recs []*record.Record
	var flight, busy ends // when slots of the client and of the server become free
	shared := map[time.Duration]float64{}
	due, last := time.Duration(0), time.Duration(0)
	until := l.duration
	if until == 0 {
		until = never
	}
	for n := 0; l.requests == 0 || n < l.requests; n++ {
		if l.concurrency == 0 && n > 0 {
			gap := 1 / l.rate
			if l.poisson {
				gap = r.ExpFloat64() / l.rate
			}
			due += time.Duration(gap * 1e9)
		}
		sent := due
		most := max(l.concurrency, l.cap)
		if most > 0 && len(flight) >= most {
			sent = max(sent, heap.Pop(&flight).(time.Duration))
		}
		if l.concurrency > 0 {
			due = sent
		}
		if due >= until || sent >= until {
			break
		}
		begin := sent
		if s.slots > 0 && len(busy) >= s.slots {
			begin = max(begin, heap.Pop(&busy).(time.Duration))
		}
		rec := s.answer(r, n, due, sent, begin, shared)
		if s.slots > 0 {
			heap.Push(&busy, rec.End)
		}
		heap.Push(&flight, rec.End)
		last = max(last, sent)
		recs = append(recs, rec)
	}
	mark := record.StageSummary{StageTimes: record.StageTimes{SendEnd: last + 1}, Reason: "requests"}
	if l.duration > 0 && (l.requests == 0 || len(recs) < l.requests) {
		mark.SendEnd, mark.Reason = l.duration, "duration"
	}
	if l.concurrency == 0 {
		mark.Scheduled = int64(len(recs))
	}
	mark.DrainEnd = mark.SendEnd
	drain := l.drain
	if drain == 0 {
		drain = 30 * time.Second
	}
	for _, rec := range recs {
		if cut := mark.SendEnd + drain; rec.End > cut {
			rec.End = cut
			rec.Marks = slices.DeleteFunc(rec.Marks, func(m record.Read) bool { return m.Kernel > cut })
			rec.Events, rec.Out = nil, record.Tokens{}
			rec.Failure = &record.Failure{Class: record.CutOff, At: cut}
		}
		mark.DrainEnd = max(mark.DrainEnd, rec.End)
	}
	return recs, mark
}

// answer makes the record of one request.
func (s server) answer(r *rand.Rand, n int, due, sent, begin time.Duration, shared map[time.Duration]float64) *record.Record {
	whole := s.ttft + time.Duration(s.tokens)*s.tpot
	period := begin / max(whole, 1) // those of one period share its luck
	if _, ok := shared[period]; !ok {
		shared[period] = math.Exp(r.NormFloat64() * s.shared)
	}
	first, others := 1.0, 1.0
	if s.slow != nil {
		first, others = s.slow(n, begin)
	}
	luck := shared[period]
	tokens := max(2, int(float64(s.tokens)*math.Exp(r.NormFloat64()*s.spread)))
	ttft := time.Duration(float64(s.ttft) * first * luck * math.Exp(r.NormFloat64()*s.jitter))
	tpot := time.Duration(float64(s.tpot) * others * luck * math.Exp(r.NormFloat64()*s.jitter))
	rec := &record.Record{
		Seq: int64(n), Prompt: uint64(n + 1), Due: due, Ready: sent, Held: sent - due, Sent: sent, Written: sent,
		Streamed: true, Status: 200, Cached: -1, RequestedTokens: tokens,
		In:  record.Tokens{N: 10, Source: record.FromServer, Local: 10},
		Out: record.Tokens{N: tokens, Source: record.FromServer, Local: tokens},
	}
	if math.IsInf(first, 1) || begin >= never {
		rec.End = never
		return rec
	}
	a, b := begin+ttft, begin+ttft+time.Duration(tokens-1)*tpot
	rec.Marks = []record.Read{{Kernel: a, User: a}, {Kernel: b, User: b}}
	rec.Events = []record.Event{{Mark: 0, Tokens: 1}, {Mark: 1, Tokens: tokens - 1}}
	rec.End = b
	return rec
}

// outcome judges such a run: the verdict's word and what it says of steadiness.
func outcome(t *testing.T, seed uint64, s server, l load) (string, []string) {
	t.Helper()
	recs, mark := simulate(rand.New(rand.NewPCG(seed, 99)), s, l)
	w := &world{plan: plan.Default(), recs: recs}
	w.plan.Target.URLs = []string{"http://example.test"}
	w.plan.Tokenizer.Name = "test-tokenizer"
	w.plan.Stages = []plan.Stage{{Concurrency: l.concurrency, Rate: l.rate, Requests: int64(l.requests), Duration: plan.Duration(l.duration)}}
	w.facts = Inputs{Header: record.Header{Schema: record.Schema, Kernel: true}, Stages: []record.StageSummary{mark}}
	return driftOf(w.build(t))
}

// driftOf is what a verdict says of steadiness alone.
func driftOf(r *result.Result) (word string, said []string) {
	word = result.Valid
	for _, c := range r.Verdict.Checks {
		switch {
		case c.OK || !strings.HasSuffix(c.Name, "_drift"):
		case c.Undecided && word == result.Valid:
			word = result.Inconclusive
			said = append(said, c.Name+": "+c.Reason)
		case !c.Undecided:
			word = result.Invalid
			said = append(said, c.Name+": "+c.Reason+" "+c.Fix)
		}
	}
	return word, said
}

// steadyServers are servers that nothing is wrong with.
func steadyServers() map[string]server {
	plain := server{ttft: 50 * ms, tpot: 10 * ms, tokens: 20, jitter: 0.05}
	jittery, waves, lengths, queue, strong := plain, plain, plain, plain, plain
	jittery.jitter = 0.25
	waves.shared = 0.1
	strong.shared, strong.jitter = 0.25, 0.1
	lengths.spread = 0.6
	queue.slots, queue.jitter = 6, 0.15
	return map[string]server{"plain": plain, "jittery": jittery, "waves": waves, "strong": strong, "lengths": lengths, "queue": queue}
}

// TestSteadyRunsStayValid: at most 1 in 20 runs on steady servers is not valid.
func TestSteadyRunsStayValid(t *testing.T) {
	const runs = 2
	all, wrong := 0, 0
	for name, s := range steadyServers() {
		for _, l := range []load{
			{concurrency: 1, requests: 30}, {concurrency: 1, requests: 100}, {concurrency: 2, requests: 40}, {concurrency: 4, requests: 40},
			{concurrency: 8, requests: 40}, {concurrency: 16, requests: 64}, {concurrency: 32, requests: 100}, {concurrency: 64, requests: 200},
			{concurrency: 8, duration: 5 * time.Second, drain: ms}, {concurrency: 32, duration: 10 * time.Second},
			{rate: 10, requests: 40}, {rate: 50, poisson: true, requests: 40}, {rate: 20, poisson: true, requests: 200},
			{rate: 100, duration: 10 * time.Second},
		} {
			if s.slots > 0 && l.rate > 0 {
				l.rate, l.poisson = 16, true // three quarters of what it can do
			}
			if s.slots > 0 && l.concurrency > s.slots {
				continue // the first of them do not queue: it is not steady
			}
			bad := 0
			for seed := range runs {
				word, said := outcome(t, uint64(seed), s, l)
				if word != result.Valid {
					bad++
					if testing.Verbose() && bad < 3 {
						t.Logf("%s, %v: %s: %v", name, l, word, said)
					}
				}
			}
			all, wrong = all+runs, wrong+bad
			if testing.Verbose() {
				t.Logf("%-8s %-40v %d of %d not valid", name, l, bad, runs)
			}
		}
	}
	if wrong*20 > all {
		t.Errorf("%d of %d steady runs are not valid", wrong, all)
	}
}

// unsteady is a run whose figures are not those of a settled server.
type unsteady struct {
	name string
	server
	load
}

func unsteadyRuns() []unsteady {
	base := server{ttft: 50 * ms, tpot: 10 * ms, tokens: 20, jitter: 0.1}
	slow := func(f func(n int, at time.Duration) (float64, float64)) server {
		s := base
		s.slow = f
		return s
	}
	both := func(on bool, v float64) (float64, float64) {
		if on {
			return v, v
		}
		return 1, 1
	}
	narrow := base
	narrow.slots = 1
	narrow.ttft, narrow.tpot = 20*ms, 9*ms
	first20 := slow(func(n int, _ time.Duration) (float64, float64) { return both(n < 20, 5) })
	half := func(d time.Duration) server {
		return slow(func(_ int, at time.Duration) (float64, float64) { return both(at > d/2, 5) })
	}
	hang := func(d time.Duration) server {
		return slow(func(_ int, at time.Duration) (float64, float64) { return both(at > d/2, math.Inf(1)) })
	}
	warming := slow(func(n int, _ time.Duration) (float64, float64) {
		return 1, 1 + 2*math.Exp(-float64(n)/15)
	})
	const d = 10 * time.Second
	var out []unsteady
	add := func(name string, s server, loads ...load) {
		for _, l := range loads {
			out = append(out, unsteady{name, s, l})
		}
	}
	add("overload", narrow, load{rate: 20, requests: 40}, load{rate: 20, duration: d}, load{rate: 20, duration: d, poisson: true}, load{rate: 20, duration: d, cap: 8})
	add("first 20 five times slower", first20, load{concurrency: 1, requests: 80}, load{concurrency: 4, requests: 80}, load{concurrency: 8, requests: 60}, load{concurrency: 16, requests: 100}, load{rate: 5, requests: 80})
	add("five times slower at half time", half(d), load{concurrency: 1, duration: d}, load{concurrency: 4, duration: d}, load{concurrency: 32, duration: d}, load{rate: 10, duration: d})
	add("hangs at half time", hang(d), load{concurrency: 1, duration: d}, load{concurrency: 4, duration: d}, load{concurrency: 64, duration: d}, load{rate: 10, duration: d}, load{rate: 3, duration: d, drain: ms})
	add("warms up", warming, load{concurrency: 1, requests: 40}, load{concurrency: 4, requests: 60}, load{concurrency: 8, requests: 64}, load{rate: 10, requests: 60})
	return out
}

// TestUnsteadyRunsAreCaught: no run whose server changed is called valid.
func TestUnsteadyRunsAreCaught(t *testing.T) {
	const runs = 3
	for _, u := range unsteadyRuns() {
		t.Run(u.name+"/"+u.load.String(), func(t *testing.T) {
			words := map[string]int{}
			for seed := range runs {
				word, said := outcome(t, uint64(seed), u.server, u.load)
				words[word]++
				if seed == 0 {
					t.Log(word, strings.Join(said, "\n"))
				}
			}
			t.Log(words)
			if words[result.Valid] > 0 {
				t.Errorf("%d of %d runs are called valid", words[result.Valid], runs)
			}
		})
	}
}

// Without this many requests nothing is called steady, and the check is there all the
// same.
func TestFewRequestsAreUndecided(t *testing.T) {
	s := steadyServers()["plain"]
	for _, l := range []load{{concurrency: 1, requests: 3}, {concurrency: 1, requests: 19}, {concurrency: 64, requests: 64},
		{rate: 5, requests: 10}} {
		word, said := outcome(t, 1, s, l)
		if word != result.Inconclusive || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "too few") }) {
			t.Errorf("%v: %s %q", l, word, said)
		}
	}
}

// TestEventsThatArriveTogether: tokens that come together are no time apart, and a fraction
// of a microsecond when the host is busy. That is no change of the server.
func TestEventsThatArriveTogether(t *testing.T) {
	s := server{ttft: 20 * ms, tpot: time.Microsecond, tokens: 20, jitter: 0.05}
	s.slow = func(n int, _ time.Duration) (float64, float64) {
		if n < 40 {
			return 1, 10
		}
		return 1, 0
	}
	if word, said := outcome(t, 1, s, load{concurrency: 1, requests: 120}); word != result.Valid {
		t.Errorf("%s %q", word, said)
	}
}
