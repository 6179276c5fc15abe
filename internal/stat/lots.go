package stat

import (
	"math"
	"slices"
)

// source is lots of samples, as distances from the least: each is the shared columns and its own.
type source struct {
	shared []*Column
	n      int64 // samples of the shared columns
	base   int64
	span   uint64 // the greatest distance
	lots   []lot
}

type lot struct {
	own []*Column
	n   int64 // samples of its own columns
	*tally
	sel selection
	all [2]Summary // without quantiles
}

// newSource finds base and span, and the numbers of samples.
func newSource(shared []*Column, others [][]*Column) *source {
	s := &source{shared: shared, lots: make([]lot, len(others))}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	widen := func(cols []*Column) (n int64) {
		for _, c := range cols {
			if least, most, ok := c.bounds(); ok {
				n += c.Len()
				lo, hi = min(lo, least), max(hi, most)
			}
		}
		return n
	}
	s.n = widen(shared)
	for i := range s.lots {
		s.lots[i] = lot{own: others[i], n: widen(others[i])}
	}
	if lo <= hi {
		s.base, s.span = lo, uint64(hi)-uint64(lo)
	}
	return s
}

// tally is what the first pass finds.
type tally struct {
	m    [2]moments
	root *root
	km   *survival // of the first set; nil means no sample was cut off
}

// newTally prepares for n samples.
func (s *source) newTally(n int64, censored *cuts) *tally {
	t := &tally{root: newRoot(s.span, n)}
	t.m[0].min, t.m[1].min = math.MaxUint64, math.MaxUint64
	if censored != nil {
		t.km = newSurvival(censored, s.base)
	}
	return t
}

func (t *tally) add(stored []int64, base int64) {
	addMoments(&t.m, stored, base)
	t.root.add(stored, base)
	t.km.add(stored)
}

// merge adds what another tally has found.
func (t *tally) merge(o *tally) {
	for i := range t.m {
		t.m[i].add(&o.m[i])
	}
	t.root.merge(o.root)
	t.km.merge(o.km)
}

// count makes the first pass: times, and the counts of the cells of the root.
func (s *source) count(censored *cuts) error {
	var most int64
	for i := range s.lots {
		most = max(most, s.n+s.lots[i].n)
	}
	common, err := s.countColumns(s.shared, most, censored)
	if err != nil {
		return err
	}
	for i := range s.lots {
		l := &s.lots[i]
		if l.tally, err = s.countColumns(l.own, most, censored); err != nil {
			return err
		}
		l.tally.merge(common)
		l.sel.root = l.root
	}
	return nil
}

// countColumns makes the first pass over some columns. The tally has room for n samples.
func (s *source) countColumns(cols []*Column, n int64, censored *cuts) (*tally, error) {
	var all []*tally
	err := readAll(cols, func() visitor {
		t := s.newTally(n, censored)
		all = append(all, t)
		return func(_ Part, stored []int64) { t.add(stored, s.base) }
	})
	if len(all) == 0 {
		return s.newTally(n, censored), err
	}
	for _, t := range all[1:] {
		all[0].merge(t)
	}
	return all[0], err
}

// want asks for the ranks that the quantiles of a lot need.
func (l *lot) want(base int64, qs []float64, rule Rule) {
	if l.m[0].n == 0 {
		l.km = nil // there is nothing to weigh
	}
	for set := range l.all {
		l.all[set] = l.m[set].summary(base)
		if set == 1 && l.same() {
			break
		}
		if set == 0 && l.km != nil {
			l.km.weigh()
			l.sel.wantRanks(set, l.km.ranks(qs, rule))
			continue
		}
		l.sel.want(set, l.all[set].N, qs, rule)
	}
	l.sel.begin()
}

// same reports whether both sets hold all samples, and none was cut off.
func (l *lot) same() bool {
	return l.km == nil && l.m[0].n == l.m[1].n && l.m[0].n == l.sel.root.seen
}

// open reports whether another pass is needed.
func (s *source) open() bool {
	for i := range s.lots {
		if s.lots[i].sel.open > 0 {
			return true
		}
	}
	return false
}

// fill makes a pass for the cells that are looked into.
func (s *source) fill() error {
	var all []*selection
	var open []uint64
	for i := range s.lots {
		l := &s.lots[i]
		if l.sel.open == 0 {
			continue
		}
		if all = append(all, &l.sel); open == nil {
			open = make([]uint64, len(l.sel.root.open))
		}
		for k, bits := range l.sel.root.open {
			open[k] |= bits
		}
	}
	if err := s.fillFrom(s.shared, all, open); err != nil {
		return err
	}
	for i := range s.lots {
		l := &s.lots[i]
		if l.sel.open == 0 {
			continue
		}
		if err := s.fillFrom(l.own, []*selection{&l.sel}, l.sel.root.open); err != nil {
			return err
		}
		l.sel.open = 0
		l.sel.resolveNodes(l.sel.root.kids)
	}
	return nil
}

func (s *source) fillFrom(cols []*Column, all []*selection, open []uint64) error {
	return readAll(cols, func() visitor {
		return func(_ Part, stored []int64) { fill(all, open, stored, s.base) }
	})
}

// summaries are the two sets of a lot once its ranks are found.
func (l *lot) summaries(base int64, qs []float64, rule Rule) [2]Summary {
	for set := range l.all {
		l.all[set].Quantiles = l.sel.quantiles(set, l.all[set].N, base, qs, rule)
	}
	if l.km != nil {
		l.km.describe(&l.all[0])
		l.all[0].Quantiles, l.all[0].Bounds = l.km.quantiles(l.sel.found[0], qs, rule)
	}
	if l.same() {
		l.all[1].Quantiles = slices.Clone(l.all[0].Quantiles)
	}
	return l.all
}
