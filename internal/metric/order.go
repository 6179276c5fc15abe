package metric

import (
	"cmp"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// Intervals of sampling need to know which samples are neighbours in time. A stage of few
// requests keeps the samples of each request apart; one of many keeps together those of
// requests that ended in the same span of time. A span is a power of two long and begins at a
// multiple of that, so that those of several folds, of whatever lengths, fit into one another.

const (
	// mostSingle is how many requests are told apart.
	mostSingle = 4096
	// mostSpans is how many spans of time there are at most.
	mostSpans = 1024
)

// order says to which part of a stage requests belong.
type order struct {
	n           int64       // requests that have samples
	single      []stat.Part // each of them, as long as they are few
	first, last int64       // when the first and the last of them ended
	shift       uint        // logarithm of the length of a span
	part        stat.Part   // of the last request
}

// same counts a request that belongs to the span of the one before, as nearly all do; false: it
// does not.
func (o *order) same(end int64) bool {
	if o.n <= mostSingle || end>>o.shift<<o.shift != o.part.End {
		return false
	}
	o.n++
	o.first, o.last = min(o.first, end), max(o.last, end)
	return true
}

// add takes a request into account and gives its part.
func (o *order) add(r *Request) stat.Part {
	o.part = stat.Part{Sent: int64(r.Sent), End: int64(r.End)}
	if r.Sent == record.Never {
		o.part.Sent = int64(r.Due)
	}
	o.span(o.part.End, o.part.End)
	if o.n++; o.n <= mostSingle {
		o.single = append(o.single, o.part)
		return o.part
	}
	o.single = nil
	begin := o.part.End >> o.shift << o.shift
	o.part = stat.Part{Sent: begin, End: begin}
	return o.part
}

// span widens the time that requests ended in.
func (o *order) span(first, last int64) {
	if o.n == 0 {
		o.first, o.last = first, last
	}
	o.first, o.last = min(o.first, first), max(o.last, last)
	for o.last>>o.shift-o.first>>o.shift >= mostSpans {
		o.shift++
	}
}

func (o *order) merge(other *order) {
	if other.n == 0 {
		return
	}
	o.shift = max(o.shift, other.shift)
	o.span(other.first, other.last)
	if o.n += other.n; o.n <= mostSingle {
		o.single = append(o.single, other.single...)
		return
	}
	o.single = nil
}

// places numbers the parts of a stage in the order of time.
type places struct {
	single []stat.Part // none: parts are spans
	index  map[stat.Part]int
	count  int
	zero   int64 // number of the first span
	shift  uint
}

func (o *order) places() *places {
	if o.n > mostSingle {
		zero := o.first >> o.shift
		return &places{zero: zero, shift: o.shift, count: int(o.last>>o.shift - zero + 1)}
	}
	p := &places{single: slices.Clone(o.single), index: map[stat.Part]int{}}
	slices.SortFunc(p.single, func(a, b stat.Part) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.End, b.End))
	})
	p.single = slices.Compact(p.single)
	for i, part := range p.single {
		p.index[part] = i
	}
	p.count = len(p.single)
	return p
}

func (p *places) number(part stat.Part) int {
	if p.single != nil {
		return p.index[part]
	}
	return min(max(int(part.End>>p.shift-p.zero), 0), p.count-1)
}
