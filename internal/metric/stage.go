package metric

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

type stageAggregate struct {
	samples []samples  // by sampled metric
	even    samples    // gaps that are gaps of events and of tokens alike
	cut     cutColumns // by sampled metric: of requests that did not end

	order order // which samples are neighbours

	whole, steady Totals
	steadyEnd     time.Duration
	steadyHeld    time.Duration
	steadyBusy    time.Duration
	pace          Pace
	arrivals      arrivals

	all    All
	seen   int64 // records of any phase
	warmup int64
	met    []int64 // by objective
	Counts
	failures map[failureKey]*failureTally
	finishes Finishes
	targets  parts
	models   parts
	workers  parts
}

// Counts are numbers over the measured requests of a stage that no metric has.
type Counts struct {
	Sources   [2][4]int64 // successful requests by source: input, output
	Reads     int64
	Unstamped int64 // reads without a kernel stamp
	Unbounded int64 // those of them whose earliest time is unknown
	Merged    int64 // reads of which a part can have come more than 1 ms before

	Resent   int64 // requests that were sent twice
	Delayed  int64 // those of them whose latency that has changed by more than is allowed for
	Unended  int64 // successful streams that said that they are done and did not end
	Folded   int64 // streams that were too long to keep event by event
	Cut      int64 // answers whose bytes were to be kept and are not all there
	OnePiece int64 // successful responses in one piece although a stream was requested

	Empty int64 // successful streams and texts without a token
	Short int64 // successful responses with fewer tokens than were asked for, Empty ones aside

	// Where the server and this side both counted: input, output.
	Both     [2]int64 // requests
	Server   [2]int64 // tokens by the server's count
	Own      [2]int64 // tokens by this side's
	Disagree [2]int64 // Σ |server − local|

	Around Around // of those, what the server counts around prompts

	// Where one is held against the other: input, output. StandIn has the events of streams in
	// the place of the server's count, where there is none and the tokenizer is not the model's.
	Compared [2]Compared
	StandIn  Compared

	// Of prompts whose server says what it took from its cache, without what its chat
	// template adds to them, which all prompts share.
	CachedOwn, OwnTokens int64

	// Where the server's count cannot be: input, output.
	Claimed   [2]int64 // successful requests
	MostClaim [2]int64 // the largest of those counts
	ClaimSum  [2]int64 // all of them together
	ClaimUsed [2]int64 // what was used in their place

	// Where the server counts less than half of the output tokens that came.
	Under      int64 // successful requests
	UnderSaid  int64 // their tokens by the server's count
	UnderShown int64 // their events with tokens, or their tokens by the run's own tokenizer
}

type failureKey struct {
	class  record.Class
	status int
}

type failureTally struct {
	record.FailureCount
	seq int64 // of the example
}

func newStage(f *Aggregator) *stageAggregate {
	s := &stageAggregate{even: newSamples(f.pool), met: make([]int64, len(f.slos)), failures: map[failureKey]*failureTally{}}
	for range f.defs {
		s.samples = append(s.samples, newSamples(f.pool))
	}
	s.whole.Judged = len(f.slos) > 0
	s.steady.Judged = s.whole.Judged
	return s
}

func (s *stageAggregate) close() {
	s.even.close()
	s.cut.close()
	for i := range s.samples {
		s.samples[i].close()
	}
	s.targets.close()
	s.models.close()
	s.workers.close()
}

// hold adds a request's part in the steady window to the time in flight there and to that of busy
// slots: opening a connection keeps a slot busy, and so does a stream after it has said that it is
// done.
func (s *stageAggregate) hold(rec *record.Record, from, to time.Duration) {
	if from == record.NotYet || rec.Sent == record.Never {
		return
	}
	if in := min(rec.End, to) - max(rec.Sent, from); in > 0 {
		s.steadyHeld += in
	}
	c, free := &rec.Conn, rec.End
	if rec.Unterminated {
		free += record.Grace
	}
	if in := min(free, to) - max(rec.Sent-c.Resolve-c.Connect-c.TLS, from); in > 0 {
		s.steadyBusy += in
	}
}

func (t *Totals) add(r *Request, good goodness) {
	t.Requests++
	if r.Failure != nil {
		switch {
		case r.Failure.Class == record.CutOff:
			t.CutOff++
		case r.Failure.Left():
			t.UserCancelled++
		case r.Failure.Overflow():
			t.Overflowed++
		}
		return
	}
	t.OK++
	if t.Judged {
		t.Good, t.GoodLeast, t.GoodMost = t.Good+count(good.taken), t.GoodLeast+count(good.certain), t.GoodMost+count(good.possible)
	}
	if n := len(r.Marks); n > 0 {
		t.Noticed += max(0, r.Marks[n-1].User-r.End)
	}
	if r.In.Source != record.Uncounted {
		t.In += int64(r.In.N)
		t.InKnown++
	}
	if r.In.Source == record.FromServer && r.Cached >= 0 {
		t.Cached += int64(min(r.Cached, r.In.N))
		t.CacheIn += int64(r.In.N)
	}
	if r.Tokens >= 0 {
		t.Out += int64(r.Tokens)
		t.OutKnown++
	}
}

func count(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// span widens the window to hold a request: it is from the first Sent to the last End.
func (t *Totals) span(rec *record.Record) {
	from := rec.Sent
	if from == record.Never {
		from = rec.Due
	} else {
		t.Held += rec.End - rec.Sent
	}
	if t.Requests == 1 {
		t.Begin, t.End = from, rec.End
		return
	}
	t.Begin, t.End = min(t.Begin, from), max(t.End, rec.End)
}

func (t *Totals) merge(o *Totals) {
	switch {
	case o.Requests == 0:
	case t.Requests == 0:
		t.Begin, t.End = o.Begin, o.End
	default:
		t.Begin, t.End = min(t.Begin, o.Begin), max(t.End, o.End)
	}
	t.Requests += o.Requests
	t.OK += o.OK
	t.CutOff += o.CutOff
	t.UserCancelled += o.UserCancelled
	t.Overflowed += o.Overflowed
	t.Good += o.Good
	t.GoodLeast += o.GoodLeast
	t.GoodMost += o.GoodMost
	t.In += o.In
	t.Out += o.Out
	t.InKnown += o.InKnown
	t.Cached += o.Cached
	t.CacheIn += o.CacheIn
	t.OutKnown += o.OutKnown
	t.Held += o.Held
	t.Noticed += o.Noticed
}

func (s *stageAggregate) count(r *Request, standIn bool) {
	s.Reads += int64(len(r.Marks))
	if r.Tail != nil {
		s.Reads += r.Tail.Reads
		s.Folded++
	}
	if r.Cut > 0 {
		s.Cut++
	}
	s.Unstamped += r.unstamped
	s.Unbounded += r.unbounded
	s.Merged += r.merged
	if r.Resent > 0 {
		s.Resent++
	}
	if r.Failure != nil {
		s.fail(r)
		return
	}
	if r.Unterminated {
		s.Unended++
	}
	if r.Streamed && len(r.Record.Events) == 1 && r.Record.Events[0].Label == record.Whole {
		s.OnePiece++
	}
	s.Sources[0][r.In.Source&3]++
	source := r.Out.Source
	if r.local {
		source = record.FromTokenizer
	}
	s.Sources[1][source&3]++
	for i, t := range [2]record.Tokens{r.In, r.Out} {
		s.compare(i, t, standIn)
	}
	if standIn {
		s.standIn(r)
	}
	s.under(r, standIn)
	s.finishes.observe(r.Record)
	if r.In.Source == record.FromServer && r.Cached >= 0 {
		own := r.In.N
		if r.In.Local >= 0 {
			own = min(own, r.In.Local)
		}
		s.CachedOwn += int64(min(max(0, r.Cached-(r.In.N-own)), own))
		s.OwnTokens += int64(own)
	}
	// A count of events or by a stand-in says nothing about tokens that are missing.
	exact := r.Out.Source == record.FromServer || r.Out.Source == record.FromTokenizer && !standIn
	n := r.Tokens
	if r.local { // the server knows best how many it sent
		n = r.Out.N
	}
	switch {
	case n == 0:
		s.Empty++
	case exact && n > 0 && n < r.RequestedTokens:
		s.Short++
	}
}

// fail counts a failure by its kind; that a user went away is none.
func (s *stageAggregate) fail(r *Request) {
	if r.Failure.Left() {
		return
	}
	key := failureKey{r.Failure.Class, r.Failure.Status}
	c := s.failures[key]
	if c == nil {
		c = &failureTally{record.FailureCount{Class: key.class, Status: key.status, Example: r.Failure.Message}, r.Seq}
		s.failures[key] = c
	}
	c.Count++
	if r.Seq < c.seq {
		c.Example, c.seq = r.Failure.Message, r.Seq
	}
}

func (s *stageAggregate) merge(o *stageAggregate) error {
	if err := s.even.merge(&o.even); err != nil {
		return err
	}
	for i := range s.samples {
		if err := s.samples[i].merge(&o.samples[i]); err != nil {
			return err
		}
	}
	if err := s.cut.merge(o.cut); err != nil {
		return err
	}
	s.order.merge(&o.order)
	s.whole.merge(&o.whole)
	s.steady.merge(&o.steady)
	s.steadyEnd = max(s.steadyEnd, o.steadyEnd)
	s.steadyHeld += o.steadyHeld
	s.steadyBusy += o.steadyBusy
	s.pace.merge(o.pace)
	s.arrivals.merge(&o.arrivals)
	s.all.merge(o.all)
	s.seen += o.seen
	s.warmup += o.warmup
	for i := range s.met {
		s.met[i] += o.met[i]
	}
	s.Counts.merge(&o.Counts)
	s.finishes.merge(o.finishes)
	if err := errors.Join(s.targets.merge(o.targets), s.models.merge(o.models), s.workers.merge(o.workers)); err != nil {
		return err
	}
	for key, c := range o.failures {
		have := s.failures[key]
		if have == nil {
			s.failures[key] = c
			continue
		}
		have.Count += c.Count
		if c.seq < have.seq {
			have.Example, have.seq = c.Example, c.seq
		}
	}
	return nil
}

func (c *Counts) merge(o *Counts) {
	for i := range c.Sources {
		for j := range c.Sources[i] {
			c.Sources[i][j] += o.Sources[i][j]
		}
		c.Both[i] += o.Both[i]
		c.Server[i] += o.Server[i]
		c.Own[i] += o.Own[i]
		c.Disagree[i] += o.Disagree[i]
		c.Compared[i].merge(o.Compared[i])
		c.Claimed[i] += o.Claimed[i]
		c.MostClaim[i] = max(c.MostClaim[i], o.MostClaim[i])
		c.ClaimSum[i] += o.ClaimSum[i]
		c.ClaimUsed[i] += o.ClaimUsed[i]
	}
	c.Around.merge(o.Around)
	c.StandIn.merge(o.StandIn)
	c.Under += o.Under
	c.UnderSaid += o.UnderSaid
	c.UnderShown += o.UnderShown
	c.CachedOwn += o.CachedOwn
	c.OwnTokens += o.OwnTokens
	c.Reads += o.Reads
	c.Unstamped += o.Unstamped
	c.Unbounded += o.Unbounded
	c.Merged += o.Merged
	c.Resent += o.Resent
	c.Delayed += o.Delayed
	c.Unended += o.Unended
	c.Folded += o.Folded
	c.Cut += o.Cut
	c.OnePiece += o.OnePiece
	c.Empty += o.Empty
	c.Short += o.Short
}

// failureList is the failures, the most frequent first.
func (s *stageAggregate) failureList() []record.FailureCount {
	var list []record.FailureCount
	for _, c := range s.failures {
		list = append(list, c.FailureCount)
	}
	slices.SortFunc(list, func(a, b record.FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Status, b.Status))
	})
	return list
}

// resend takes a request into account that went again because its connection had been closed.
// Its latencies count from the first time, so that what was lost by then is in them: in that to
// the first token, where there is one, it weighs most.
func (s *stageAggregate) resend(r *Request, bends func(added, latency time.Duration) bool) {
	if r.Resent == 0 || r.Failure != nil {
		return // a failure has no latency
	}
	first := r.End
	if r.First != record.Never {
		first = r.First
	}
	if r.LastTry == 0 || bends == nil || bends(r.LastTry-r.Sent, first-r.LastTry) {
		s.Delayed++
	}
}
