package metric

import (
	"cmp"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// loadTail takes in the events of a stream that were not kept one by one.
func (r *Request) loadTail() {
	t := r.Tail
	if t.Events == 0 {
		return
	}
	if r.events == 0 {
		r.First, r.blur.first = t.First, blur{below: t.FirstBlur}
	}
	if r.Visible == record.Never {
		r.Visible, r.blur.visible = t.Visible, blur{below: t.VisibleBlur}
	}
	r.Last, r.blur.last = t.Last, blur{below: t.LastBlur}
	r.events += int(t.Events)
	r.gapCount += int(t.Gaps.Len())
	r.longest = max(r.longest, t.Gaps.Max())
}

// tailGaps are the gaps of the events that were not kept; nil: there are none.
func (r *Request) tailGaps() *record.TailHistogram {
	if r.Tail == nil || r.Failure != nil {
		return nil
	}
	return &r.Tail.Gaps
}

// tailTokens are the same between tokens.
func (r *Request) tailTokens() *record.TailHistogram {
	if r.tokensIn == 0 {
		return nil
	}
	return r.tailGaps()
}

// tailDelays are the delays of the reads that were not kept.
func (r *Request) tailDelays() *record.TailHistogram {
	if r.Tail == nil {
		return nil
	}
	return &r.Tail.Delays
}

// tailStalls is what stalls is of a stream that was folded.
func (r *Request) tailStalls() int64 {
	all := r.Tail.Gaps.Bins()
	for _, g := range r.gaps {
		all = append(all, record.Bin{N: 1, Sum: g})
	}
	all = slices.DeleteFunc(all, func(b record.Bin) bool { return b.Sum <= 0 })
	slices.SortFunc(all, func(a, b record.Bin) int { return cmp.Compare(a.Sum/a.N, b.Sum/b.N) })
	var n int64
	for _, b := range all {
		n += b.N
	}
	var median, below, sum int64
	for _, b := range all {
		if below += b.N; below > (n-1)/2 {
			median = b.Sum / b.N
			break
		}
	}
	for _, b := range all {
		if b.Sum/b.N > stallFactor*median {
			sum += b.Sum
		}
	}
	return sum
}
