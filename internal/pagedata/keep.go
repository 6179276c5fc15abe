package pagedata

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/record"
)

// What is kept of the requests of a run, at most. A sample is even: requests are chosen by a
// hash of their number, so that no pattern of the load is mistaken for one of the server.
const (
	mostSampled  = 12_000 // rows of a sample of all
	mostFailed   = 3_000  // rows of failures: a sample of those, where there are more
	mostSlow     = 200    // rows that are the slowest by a metric, for each
	tracedSample = 2_000  // those of the sample that are traced
	tracedFailed = 150    // and of the failures
	tracedSlow   = 60     // and of the slowest, for each metric
	mostHeld     = 1 << 20
	mostTrace    = 4096 // events of a trace: neighbours are put together where there are more
)

type row struct {
	key                          int64 // decides which are the sample
	seq                          int64
	session                      string // the conversation that it is a turn of; empty: none
	turn                         int    // its place there, from 0
	stage, worker, target        int
	phase                        record.Phase
	due, ready, sent, first, end time.Duration
	stall, stallAt               time.Duration
	in, out                      int
	failure                      *record.Failure // nil: none
	trace                        []event         // nil: it has none, or none is wanted
	kept, traced                 int             // by how many shelves
}

type event struct {
	at     int64 // µs after the request was sent
	tokens int32 // -1: not known
	label  record.EventKind
}

// rank is the place of a row among others: no two have the same, so that which are kept does not
// depend on the order in which they come.
type rank struct {
	weight int64
	seq    int64
	worker int
}

// compare puts the greater weight behind; of two, the one that was sent first.
func (a rank) compare(b rank) int {
	if a.weight != b.weight {
		return cmp.Compare(a.weight, b.weight)
	}
	return cmp.Or(cmp.Compare(b.seq, a.seq), cmp.Compare(b.worker, a.worker))
}

// topK keeps the rows with the greatest weights: a heap with the least on top.
type topK struct {
	most   int
	traces bool
	by     int   // which of a row's weights counts
	least  int64 // the weight that a row must have
	rows   []ranked
	floor  *rank // what is not above it had to go for the length of its trace; nil: nothing had to
	held   int   // events in traces
}

// ranked is a row on a shelf.
type ranked struct {
	rank
	*row
}

// wants reports whether a row of enough weight belongs on the shelf.
func (s *topK) wants(own rank) bool {
	return (s.floor == nil || own.compare(*s.floor) > 0) && (len(s.rows) < s.most || own.compare(s.rows[0].rank) > 0)
}

// put puts a row on the shelf; the one that had to go for it is given back.
func (s *topK) put(r *row, own rank) (gone *row) {
	if len(s.rows) >= s.most {
		gone = s.rows[0].row
		s.sink(ranked{own, r})
		s.least = max(s.least, s.rows[0].weight)
		return gone
	}
	s.rows = append(s.rows, ranked{})
	i := len(s.rows) - 1
	for ; i > 0 && own.compare(s.rows[(i-1)/2].rank) < 0; i = (i - 1) / 2 {
		s.rows[i] = s.rows[(i-1)/2]
	}
	s.rows[i] = ranked{own, r}
	if len(s.rows) == s.most {
		s.least = max(s.least, s.rows[0].weight)
	}
	return nil
}

// pop takes the row with the least weight off the shelf.
func (s *topK) pop() *row {
	s.least = fitting
	gone, last := s.rows[0].row, s.rows[len(s.rows)-1]
	if s.rows = s.rows[:len(s.rows)-1]; len(s.rows) > 0 {
		s.sink(last)
	}
	return gone
}

// sink puts a row in the place of the one on top.
func (s *topK) sink(r ranked) {
	i := 0
	for {
		least := 2*i + 1
		if least >= len(s.rows) {
			break
		}
		if other := least + 1; other < len(s.rows) && s.rows[other].compare(s.rows[least].rank) < 0 {
			least = other
		}
		if r.compare(s.rows[least].rank) <= 0 {
			break
		}
		s.rows[i] = s.rows[least]
		i = least
	}
	s.rows[i] = r
}

// best are the rows of the shelf, the greatest weight first.
func (s *topK) best() []*row {
	order := slices.Clone(s.rows)
	slices.SortFunc(order, func(a, b ranked) int { return b.compare(a.rank) })
	out := make([]*row, len(order))
	for i := range order {
		out[i] = order[i].row
	}
	return out
}

// keeper keeps some of the requests of a run.
type keeper struct {
	shelves []*topK
	// full is the least weight that any of the keepers of a run has in its sample, once one is full: what
	// weighs less is kept by none in the end.
	full   *atomic.Int64
	since  int     // requests since it was looked at
	least  weights // that the shelves ask for
	traced *topK   // the sample that is traced, which is smaller where traces are long
	spare  *row    // one that no shelf has any longer; nil: none
}

// The places of shelves.
const (
	shelfSample = iota
	shelfFailed
	shelfSlow // and those behind it
)

// The weights of a row.
const (
	bySample = iota
	byFailure
	byFirst
	byEnd
	byStall
	byLateness
	allWeights
)

// fitting is the least weight of a row that fits a shelf at all; without is that of one that does not.
const (
	without = math.MinInt64
	fitting = without + 1
)

// weights are those of a row, by what each shelf looks at.
type weights [allWeights]int64

func weightsOf(key int64, failed bool, due, sent, first, end, stall time.Duration) weights {
	all := weights{bySample: key, byFailure: without, byFirst: without, byEnd: without, byStall: without, byLateness: without}
	if failed {
		all[byFailure] = key
	}
	if sent >= 0 {
		all[byEnd] = int64(end - sent)
		if first >= 0 {
			all[byFirst] = int64(first - sent)
		}
	}
	if stall > 0 {
		all[byStall] = int64(stall)
	}
	if sent > due {
		all[byLateness] = int64(sent - due)
	}
	return all
}

func (r *row) weights() weights {
	return weightsOf(r.key, r.failure != nil, r.due, r.sent, r.first, r.end, r.stall)
}

func newKeeper(full *atomic.Int64) *keeper {
	shelf := func(by, most int, traces bool) *topK {
		return &topK{by: by, most: most, traces: traces, least: fitting}
	}
	k := &keeper{full: full, traced: shelf(bySample, tracedSample, true)}
	k.shelves = []*topK{shelf(bySample, mostSampled, false), shelf(byFailure, mostFailed, false)}
	for by := byFirst; by < allWeights; by++ {
		k.shelves = append(k.shelves, shelf(by, mostSlow, false))
	}
	k.shelves = append(k.shelves, k.traced, shelf(byFailure, tracedFailed, true))
	for by := byFirst; by < allWeights; by++ {
		k.shelves = append(k.shelves, shelf(by, tracedSlow, true))
	}
	k.lower()
	return k
}

// wants reports whether a row of these weights may belong on a shelf. Most do not.
func (k *keeper) wants(all *weights) bool {
	if k.since++; k.since == barEvery {
		k.since = 0
		k.share()
	}
	for i, least := range k.least {
		if all[i] >= least {
			return true
		}
	}
	return false
}

// lower finds the least weights that shelves ask for.
func (k *keeper) lower() {
	for i := range k.least {
		k.least[i] = math.MaxInt64
	}
	for _, s := range k.shelves {
		k.least[s.by] = min(k.least[s.by], s.least)
	}
}

// add offers a request of these weights; trace gives its events where they are wanted.
func (k *keeper) add(r *row, all *weights, trace func() []event) {
	var mine *row // most are not wanted, and cost no memory
	for _, s := range k.shelves {
		if all[s.by] < s.least {
			continue
		}
		own := rank{all[s.by], r.seq, r.worker}
		if !s.wants(own) {
			continue
		}
		if mine == nil {
			mine = k.rowOf(r)
		}
		if mine.kept++; s.traces {
			if mine.traced++; mine.traced == 1 {
				mine.trace = trace()
			}
			s.held += len(mine.trace)
		}
		k.drop(s, s.put(mine, own))
	}
	for k.traced.held > mostHeld {
		floor := k.traced.rows[0].rank
		k.traced.floor = &floor
		k.drop(k.traced, k.traced.pop())
	}
	if mine != nil {
		k.lower()
	}
}

// barEvery is in how many requests keepers tell one another once what they need not keep.
const barEvery = 256

// share tells the other keepers what the sample's least weight is, and learns it from them.
func (k *keeper) share() {
	sample := k.shelves[shelfSample]
	for {
		full := k.full.Load()
		if len(sample.rows) < sample.most || sample.least <= full {
			sample.least = max(sample.least, full)
			k.lower()
			return
		}
		if k.full.CompareAndSwap(full, sample.least) {
			return
		}
	}
}

// rowOf is a row to keep, in the memory of one that had to go. The record will be another's.
func (k *keeper) rowOf(r *row) *row {
	mine := k.spare
	if k.spare = nil; mine == nil {
		mine = new(row)
	}
	*mine = *r
	mine.session = strings.Clone(r.session)
	if r.failure != nil {
		f := *r.failure
		f.Message = strings.Clone(truncate.Text(f.Message, mostMessage))
		mine.failure = &f
	}
	return mine
}

// drop takes a row off a shelf that has put it away.
func (k *keeper) drop(s *topK, r *row) {
	if r == nil {
		return
	}
	if s.traces {
		s.held -= len(r.trace)
		if r.traced--; r.traced == 0 {
			r.trace = nil
		}
	}
	if r.kept--; r.kept == 0 {
		k.spare = r
	}
}

// merge takes in what another has kept of other requests. The other is of no use afterwards.
func (k *keeper) merge(o *keeper) {
	if own, its := k.traced, o.traced.floor; its != nil && (own.floor == nil || its.compare(*own.floor) > 0) {
		own.floor = its
		for len(own.rows) > 0 && own.rows[0].compare(*its) < 0 {
			k.drop(own, own.pop())
		}
		k.lower()
	}
	seen := map[*row]bool{}
	for _, s := range o.shelves {
		for i := range s.rows {
			r := s.rows[i].row
			if seen[r] {
				continue
			}
			seen[r] = true
			kept := *r
			kept.kept, kept.traced, kept.trace = 0, 0, nil
			if all := kept.weights(); k.wants(&all) {
				k.add(&kept, &all, func() []event { return r.trace })
			}
		}
	}
}

// rows are those to show, of the sample no more than so many, in the order in which they were
// due.
func (k *keeper) rows(sampled int) []*row {
	seen := map[*row]bool{}
	var out []*row
	for i, s := range k.shelves {
		for n, r := range s.best() {
			if seen[r] || i == shelfSample && n >= sampled || s == k.traced && n >= sampled {
				continue
			}
			seen[r] = true
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *row) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq)) })
	return out
}

// traces are the rows among those given whose traces are shown: the slowest and failures
// first, then the sample, as long as they have no more than so many events together.
func (k *keeper) traces(among []*row, events int) map[*row]bool {
	there := map[*row]bool{}
	for _, r := range among {
		there[r] = true
	}
	var lists [][]*row
	for _, s := range k.shelves[shelfFailed:] {
		if s.traces && s != k.traced {
			lists = append(lists, s.best())
		}
	}
	chosen := map[*row]bool{}
	take := func(r *row) {
		if there[r] && !chosen[r] && len(r.trace) > 0 && len(r.trace) <= events {
			chosen[r] = true
			events -= len(r.trace)
		}
	}
	for n := range max(tracedFailed, tracedSlow) {
		for _, list := range lists {
			if n < len(list) {
				take(list[n])
			}
		}
	}
	for _, r := range k.traced.best() {
		take(r)
	}
	return chosen
}
