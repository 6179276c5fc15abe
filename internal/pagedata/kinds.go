package pagedata

import (
	"cmp"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

const (
	// mostKinds bounds the kinds of failures that are drawn over time: the last stands for all the others.
	mostKinds = 6
	// heldKinds bounds those that are told apart.
	heldKinds = 64
)

// kindPrefix begins the names of series of failures of one kind.
const kindPrefix = "errors_"

// kind is the place of a kind among those of the run.
func (s *Builder) kind(k record.FailureKind) int {
	if i := slices.Index(s.kinds, k); i >= 0 {
		return i
	}
	if len(s.kinds) == heldKinds-1 {
		k = record.FailureKind{}
	}
	if len(s.kinds) < heldKinds {
		s.kinds = append(s.kinds, k)
	}
	return len(s.kinds) - 1
}

// mergeKinds gives the kinds of another the places that they have here.
func (s *Builder) mergeKinds(o *Builder) {
	places := make([]int, len(o.kinds))
	for i, k := range o.kinds {
		places[i] = s.kind(k)
	}
	for i := range o.bins.list {
		b := &o.bins.list[i]
		counts := b.kinds
		b.failed, b.kinds = 0, nil
		for k, n := range counts {
			b.fail(places[k], n)
		}
	}
}

// fail counts failures of a kind.
func (b *bin) fail(kind int, n int64) {
	b.failed += n
	for len(b.kinds) <= kind {
		b.kinds = append(b.kinds, 0)
	}
	b.kinds[kind] += n
}

// drawnKind is a kind that is drawn, or several as one.
type drawnKind struct {
	record.FailureKind
	places []int
}

// drawnKinds are the kinds that are drawn, the most frequent first.
func (s *Builder) drawnKinds() []drawnKind {
	counts := make([]int64, len(s.kinds))
	for i := range s.bins.list {
		for k, n := range s.bins.list[i].kinds {
			counts[k] += n
		}
	}
	drawn := make([]drawnKind, len(s.kinds))
	for i, k := range s.kinds {
		drawn[i] = drawnKind{k, []int{i}}
	}
	slices.SortFunc(drawn, func(a, b drawnKind) int {
		return cmp.Or(cmp.Compare(counts[b.places[0]], counts[a.places[0]]), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Status, b.Status))
	})
	if len(drawn) <= mostKinds {
		return drawn
	}
	others := drawnKind{}
	for _, k := range drawn[mostKinds-1:] {
		others.places = append(others.places, k.places...)
	}
	return append(drawn[:mostKinds-1], others)
}

// failures are those of a kind in a bin.
func (k *drawnKind) failures(b *bin) float64 {
	var n int64
	for _, place := range k.places {
		if place < len(b.kinds) {
			n += b.kinds[place]
		}
	}
	return float64(n)
}
