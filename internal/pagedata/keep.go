package pagedata

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
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
	return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.seq, a.seq), cmp.Compare(b.worker, a.worker))
}

// topK keeps the rows with the greatest weights.
type topK struct {
	most   int
	traces bool
	of     func(*row) (weight int64, fits bool)
	rows   []*row
	ranks  []rank
	floor  *rank // what is not above it had to go for the length of its trace; nil: nothing had to
	held   int   // events in traces
}

// Len, Less, Swap, Push and Pop implement heap.Interface: the least is on top.
func (s *topK) Len() int           { return len(s.rows) }
func (s *topK) Less(i, j int) bool { return s.ranks[i].compare(s.ranks[j]) < 0 }
func (s *topK) Swap(i, j int) {
	s.rows[i], s.rows[j] = s.rows[j], s.rows[i]
	s.ranks[i], s.ranks[j] = s.ranks[j], s.ranks[i]
}
func (s *topK) Push(any) {}
func (s *topK) Pop() any {
	n := len(s.rows) - 1
	last := s.rows[n]
	s.rows, s.ranks = s.rows[:n], s.ranks[:n]
	return last
}

// wants reports whether a row belongs on the shelf.
func (s *topK) wants(r *row) (_ rank, ok bool) {
	weight, fits := s.of(r)
	if !fits || len(s.rows) >= s.most && weight < s.ranks[0].weight {
		return rank{}, false
	}
	own := rank{weight, r.seq, r.worker}
	return own, (s.floor == nil || own.compare(*s.floor) > 0) && (len(s.rows) < s.most || own.compare(s.ranks[0]) > 0)
}

// put puts a row on the shelf; the one that had to go for it is given back.
func (s *topK) put(r *row, own rank) (gone *row) {
	if len(s.rows) >= s.most {
		gone = heap.Pop(s).(*row)
	}
	s.rows, s.ranks = append(s.rows, r), append(s.ranks, own)
	heap.Fix(s, len(s.rows)-1)
	return gone
}

// best are the rows of the shelf, the greatest weight first.
func (s *topK) best() []*row {
	order := make([]int, len(s.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return s.ranks[b].compare(s.ranks[a]) })
	out := make([]*row, len(order))
	for i, k := range order {
		out[i] = s.rows[k]
	}
	return out
}

// keeper keeps some of the requests of a run.
type keeper struct {
	shelves []*topK
	traced  *topK // the sample that is traced, which is smaller where traces are long
	offered row
}

// The places of shelves.
const (
	shelfSample = iota
	shelfFailed
	shelfSlow // and those behind it
)

func newKeeper() *keeper {
	sample := func(r *row) (int64, bool) { return r.key, true }
	failed := func(r *row) (int64, bool) { return r.key, r.failure != nil }
	k := &keeper{traced: &topK{most: tracedSample, traces: true, of: sample}}
	k.shelves = []*topK{{most: mostSampled, of: sample}, {most: mostFailed, of: failed}}
	slow := []func(r *row) (int64, bool){
		func(r *row) (int64, bool) { return int64(r.first - r.sent), r.first >= 0 && r.sent >= 0 },
		func(r *row) (int64, bool) { return int64(r.end - r.sent), r.sent >= 0 },
		func(r *row) (int64, bool) { return int64(r.stall), r.stall > 0 },
		func(r *row) (int64, bool) { return int64(r.sent - r.due), r.sent > r.due },
	}
	for _, of := range slow {
		k.shelves = append(k.shelves, &topK{most: mostSlow, of: of})
	}
	k.shelves = append(k.shelves, k.traced, &topK{most: tracedFailed, traces: true, of: failed})
	for _, of := range slow {
		k.shelves = append(k.shelves, &topK{most: tracedSlow, traces: true, of: of})
	}
	return k
}

// add offers a request; trace gives its events where they are wanted.
func (k *keeper) add(r row, trace func() []event) {
	k.offered = r // most rows are not wanted, and cost no memory
	var mine *row
	for _, s := range k.shelves {
		own, ok := s.wants(&k.offered)
		if !ok {
			continue
		}
		if mine == nil {
			mine = new(row)
			*mine = r
			mine.session = strings.Clone(r.session)
			if r.failure != nil { // the record will be another's
				f := *r.failure
				f.Message = strings.Clone(truncate.Text(f.Message, mostMessage))
				mine.failure = &f
			}
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
		floor := k.traced.ranks[0]
		k.traced.floor = &floor
		k.drop(k.traced, heap.Pop(k.traced).(*row))
	}
}

// drop takes a row off a shelf that has put it away.
func (k *keeper) drop(s *topK, r *row) {
	if r == nil {
		return
	}
	if r.kept--; !s.traces {
		return
	}
	s.held -= len(r.trace)
	if r.traced--; r.traced == 0 {
		r.trace = nil
	}
}

// merge takes in what another has kept of other requests. The other is of no use afterwards.
func (k *keeper) merge(o *keeper) {
	if own, its := k.traced, o.traced.floor; its != nil && (own.floor == nil || its.compare(*own.floor) > 0) {
		own.floor = its
		for len(own.rows) > 0 && own.ranks[0].compare(*its) < 0 {
			k.drop(own, heap.Pop(own).(*row))
		}
	}
	seen := map[*row]bool{}
	for _, s := range o.shelves {
		for _, r := range s.rows {
			if seen[r] {
				continue
			}
			seen[r] = true
			kept := *r
			kept.kept, kept.traced, kept.trace = 0, 0, nil
			k.add(kept, func() []event { return r.trace })
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
