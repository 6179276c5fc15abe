package stat

import (
	"math"
	"slices"
)

// source is lots of samples, as distances from the least of all: each lot is the shared columns
// together with its own.
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
	m   [2]moments
	sel selection
	km  *survival  // of the first set; nil means no sample was cut off
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

// each calls f with the samples of columns.
func each(cols []*Column, f func(stored []int64)) error {
	for _, c := range cols {
		if err := c.blocks(f); err != nil {
			return err
		}
	}
	return nil
}

// count makes the first pass: times, and the counts of the cells of the root.
func (s *source) count(censored *cuts) error {
	var most int64
	for i := range s.lots {
		most = max(most, s.n+s.lots[i].n)
	}
	var m [2]moments
	m[0].min, m[1].min = math.MaxUint64, math.MaxUint64
	common := newRoot(s.span, most)
	for i := range s.lots {
		if censored != nil {
			s.lots[i].km = newSurvival(censored, s.base)
		}
	}
	err := each(s.shared, func(stored []int64) {
		addMoments(&m, stored, s.base)
		common.add(stored, s.base)
		for i := range s.lots {
			s.lots[i].km.add(stored)
		}
	})
	if err != nil {
		return err
	}
	for i := range s.lots {
		l := &s.lots[i]
		l.m = m
		if l.sel.root = common; i < len(s.lots)-1 {
			l.sel.root = common.clone()
		}
		err := each(l.own, func(stored []int64) {
			addMoments(&l.m, stored, s.base)
			l.sel.root.add(stored, s.base)
			l.km.add(stored)
		})
		if err != nil {
			return err
		}
	}
	return nil
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
	return slices.ContainsFunc(s.lots, func(l lot) bool { return l.sel.open > 0 })
}

// fill makes a pass for the cells that are looked into.
func (s *source) fill() error {
	err := each(s.shared, func(stored []int64) {
		for i := range s.lots {
			if l := &s.lots[i]; l.sel.open > 0 {
				l.sel.root.fill(stored, s.base)
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range s.lots {
		l := &s.lots[i]
		if l.sel.open == 0 {
			continue
		}
		if err := each(l.own, func(stored []int64) { l.sel.root.fill(stored, s.base) }); err != nil {
			return err
		}
		l.sel.open = 0
		l.sel.resolveNodes(l.sel.root.kids)
	}
	return nil
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
