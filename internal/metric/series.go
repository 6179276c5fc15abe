package metric

import (
	"cmp"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Series is the requests of a stage in the order they were sent.
type Series struct {
	warm, kept []arrival // of the warm-up, and the measured ones
	of         float64   // how many requests each of them stands for
	closed     bool
	from, to   time.Duration // when the measured part began, and when the last request could go
	load       *played       // where sessions are the load; else nil
}

func (a *arrivals) series(closed, sessions bool, from, to time.Duration) *Series {
	s := &Series{of: float64(uint64(1) << a.thin), closed: closed, from: from, to: to}
	for i := range a.kept {
		if a.kept[i].warm {
			s.warm = append(s.warm, a.kept[i])
		} else {
			s.kept = append(s.kept, a.kept[i])
		}
	}
	order := func(x, y arrival) int {
		return cmp.Or(cmp.Compare(x.sent, y.sent), cmp.Compare(x.seq, y.seq))
	}
	slices.SortFunc(s.kept, order)
	slices.SortFunc(s.warm, order)
	s.expect()
	if len(s.kept) == 0 {
		return s
	}
	if s.from == record.NotYet { // its end was never told
		s.from = s.kept[0].sent
	}
	if to == record.NotYet || to <= s.from {
		s.to = max(s.from, s.kept[len(s.kept)-1].sent)
	}
	if sessions {
		s.load = s.played()
	}
	return s
}

// expect works out how long each request is expected to take from the lengths of its prompt and
// its response, relative to one of typical lengths: what the data ask for is no trend of the server.
func (s *Series) expect() {
	var firsts, gaps, tokens []float64
	for i := range s.kept {
		if v := &s.kept[i]; v.tokens > 0 && v.first != record.Never {
			firsts, gaps, tokens = append(firsts, float64(v.first-v.sent)), append(gaps, float64(v.perToken)), append(tokens, float64(v.tokens))
		}
	}
	var first, gap, typical float64
	if len(firsts) > 0 {
		first, gap = medianOf(firsts), medianOf(gaps)
		typical = first + gap*(medianOf(tokens)-1)
	}
	reading := s.reading()
	for _, part := range [][]arrival{s.warm, s.kept} {
		for i := range part {
			v := &part[i]
			v.work, v.prompt = 1, reading.expected(v)
			if n := v.tokens; n > 0 && typical > 0 {
				v.work = max(first*v.prompt+gap*float64(n-1), 1) / max(typical, 1)
			}
		}
	}
}

// after is the series with its first n measured requests taken for a warm-up.
func (s *Series) after(n int) *Series {
	part := *s
	part.warm = append(slices.Clone(s.warm), s.kept[:n]...)
	part.kept = s.kept[n:]
	part.from = part.kept[0].sent
	return &part
}

// Requests is how many measured requests there are.
func (s *Series) Requests() int64 { return int64(float64(len(s.kept)) * s.of) }

// SettledAt is when a series settled: the time from which on there is no trend that
// matters. It is false where there is none to begin with, or nothing shows that it ended.
func (s *Series) SettledAt(budget float64) (time.Duration, bool) {
	if !slices.ContainsFunc(s.Trends(), func(t Trend) bool { return t.Found(budget) }) {
		return 0, false
	}
	warmup, _, ok := s.WarmupNeeded(budget)
	return s.from + warmup, ok
}

// settleSteps is in how many steps a series is shortened to find where it settles.
const settleSteps = 32

// settledBlocks is how many blocks must be left to show that a series has settled.
const settledBlocks = 4

// WarmupNeeded says how long a warm-up would have left a series without a trend that matters, and
// of how many requests: at most half. false: nothing shows that.
func (s *Series) WarmupNeeded(budget float64) (warmup time.Duration, requests int64, ok bool) {
	n := len(s.kept)
	for step := 1; step <= settleSteps/2; step++ {
		cut := step * n / settleSteps
		if cut == 0 {
			continue
		}
		part := s.after(cut)
		if slices.ContainsFunc(part.Trends(), func(t Trend) bool { return t.Found(budget) || t.Blocks < settledBlocks }) {
			continue
		}
		// The last of the unsettled requests can be too few to stand out.
		if cut += max(1, n/settleSteps); cut > n/2 {
			break
		}
		return s.kept[cut].sent - s.from, int64(float64(cut) * s.of), true
	}
	return 0, 0, false
}

// begin is when a request counts from: in an open loop when it was due, waiting for a slot
// included.
func (s *Series) begin(v *arrival) time.Duration {
	if s.closed {
		return v.sent
	}
	return v.due
}

// InFlight is how many requests were in flight at a time: as many neighbours share what
// the server was at. In an open loop that is as many as come while a quick one of them is
// answered, so that a queue that grows and grows does not hide itself.
func (s *Series) InFlight() float64 {
	if len(s.kept) == 0 {
		return 0
	}
	var held, end time.Duration
	var took []float64
	for i := range s.kept {
		v := &s.kept[i]
		held += v.end - v.sent
		took = append(took, float64(v.end-v.sent))
		end = max(end, v.end)
	}
	n := float64(len(s.kept)) * s.of
	sending := float64(s.kept[len(s.kept)-1].sent - s.kept[0].sent)
	if span := float64(end - s.kept[0].sent); s.closed && span > 0 {
		return max(1, float64(held)/span*s.of)
	}
	if sending <= 0 {
		return n
	}
	slices.Sort(took)
	return min(n, max(1, took[len(took)/20]*n/sending))
}

// reading is how much longer a server takes to the first token of a longer prompt. The prompts of
// sessions grow with every turn, and where all sessions began together they grow all along.
type reading struct {
	typical float64 // tokens of the prompt in the middle
	share   float64 // of the time to its first token that each further token adds
}

const (
	nearby       = 32   // requests that are compared with one that was sent before them
	leastPairs   = 30   // of requests, for a slope
	agreeingPair = 0.65 // share of pairs in which the longer prompt took longer, for one that is no chance
	leastApart   = 0.1  // by which share of the typical one the prompts of a pair differ
	leastReading = 0.1  // of the typical time, that any first token takes
)

// reading looks at pairs of requests that were sent soon after one another and whose prompts are
// not equally long: the slope is the one in the middle. A server that changed has done so in
// between for a few of the pairs alone.
func (s *Series) reading() reading {
	var known []*arrival
	var lengths, firsts []float64
	for i := range s.kept {
		if v := &s.kept[i]; v.in > 0 && v.first != record.Never && !v.open {
			known = append(known, v)
			lengths, firsts = append(lengths, float64(v.in)), append(firsts, float64(v.first-s.begin(v)))
		}
	}
	if len(known) < leastPairs {
		return reading{}
	}
	typical, first := medianOf(slices.Clone(lengths)), medianOf(slices.Clone(firsts))
	var slopes []float64
	longer := 0
	for i := range known {
		for k := i + 1; k < min(len(known), i+1+nearby); k++ {
			apart := lengths[k] - lengths[i]
			if max(apart, -apart) < leastApart*typical {
				continue
			}
			slope := (firsts[k] - firsts[i]) / apart
			if slopes = append(slopes, slope); slope > 0 {
				longer++
			}
		}
	}
	if len(slopes) < leastPairs || float64(longer) < agreeingPair*float64(len(slopes)) || first <= 0 {
		return reading{}
	}
	return reading{typical: typical, share: medianOf(slopes) / first}
}

// expected is how long the first token of a request is expected to take, of that of a typical one.
func (r reading) expected(v *arrival) float64 {
	if r.share <= 0 || v.in == 0 {
		return 1
	}
	return max(leastReading, 1+r.share*(float64(v.in)-r.typical))
}
