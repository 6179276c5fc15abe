package sweep

import (
	"context"
	"slices"
	"sync"
	"time"

	"inferometer/internal/record"
)

// Tape takes down the samples of the stage under way as their records are decoded. It
// may be used from many goroutines.
type Tape struct {
	mu      sync.Mutex
	stage   int
	samples []Sample
	horizon time.Duration // what ended by then may have been forgotten
	wait    *wait
}

// wait is someone who waits for requests to end.
type wait struct {
	after time.Duration
	left  int64
	done  chan struct{}
}

// NewTape makes a Tape that takes nothing down before Begin.
func NewTape() *Tape { return &Tape{stage: -1} }

// Begin turns to another stage and forgets the one before.
func (t *Tape) Begin(stage int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage, t.samples, t.horizon, t.wait = stage, nil, 0, nil
}

// Add takes down a decoded record. Those of another stage are left out, and those that only
// end what would else stay open.
func (t *Tape) Add(rec *record.Record) {
	if rec.Phase == record.Closing {
		return
	}
	s := SampleOf(rec)
	t.mu.Lock()
	defer t.mu.Unlock()
	if rec.Stage != t.stage {
		return
	}
	t.samples = append(t.samples, s)
	if w := t.wait; w != nil && s.counts() && s.End > w.after {
		if w.left--; w.left == 0 {
			close(w.done)
			t.wait = nil
		}
	}
}

// Await returns once n requests have ended well after a moment, or ctx has ended.
func (t *Tape) Await(ctx context.Context, after time.Duration, n int64) error {
	t.mu.Lock()
	w := &wait{after: after, left: n - t.ended(after), done: make(chan struct{})}
	if w.left <= 0 {
		t.mu.Unlock()
		return ctx.Err()
	}
	t.wait = w
	t.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended counts the requests that ended well after a moment.
func (t *Tape) ended(after time.Duration) int64 {
	var n int64
	for i := range t.samples {
		if t.samples[i].counts() && t.samples[i].End > after {
			n++
		}
	}
	return n
}

// Nth is the moment at which the n-th request after another moment ended well.
func (t *Tape) Nth(after time.Duration, n int64) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ends []time.Duration
	for i := range t.samples {
		if t.samples[i].counts() && t.samples[i].End > after {
			ends = append(ends, t.samples[i].End)
		}
	}
	if n < 1 || int64(len(ends)) < n {
		return 0, false
	}
	slices.Sort(ends)
	return ends[n-1], true
}

// Failing is how many requests have failed since the last one that ended well after a
// moment, and when that was; the moment itself where none has.
func (t *Tape) Failing(after time.Duration) (n int64, since time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	since = after
	for i := range t.samples {
		if t.samples[i].counts() {
			since = max(since, t.samples[i].End)
		}
	}
	for i := range t.samples {
		if s := &t.samples[i]; s.Failed && !s.Warmup && s.End > since {
			n++
		}
	}
	return n, since
}

// Cut is the window between two moments, of what has been taken down so far.
func (t *Tape) Cut(begin, end time.Duration, extra int) Window {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Cut(t.samples, begin, end, extra)
}

// Bounds are the first moment of sending and the last of ending among the measured
// requests; false: there are none.
func (t *Tape) Bounds() (first, last time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bounds(t.samples)
}

func bounds(samples []Sample) (first, last time.Duration, ok bool) {
	for i := range samples {
		s := &samples[i]
		if !s.counts() {
			continue
		}
		if !ok || s.Sent < first {
			first = s.Sent
		}
		last, ok = max(last, s.End), true
	}
	return first, last, ok
}

// Span is how long the measured requests were to take by their schedule, the gap behind
// the last of them included; 0: there are fewer than two.
func (t *Tape) Span() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var first, last time.Duration
	n := 0
	for i := range t.samples {
		s := &t.samples[i]
		if s.Warmup {
			continue
		}
		if n == 0 {
			first, last = s.Due, s.Due
		}
		first, last = min(first, s.Due), max(last, s.Due)
		n++
	}
	if n < 2 {
		return 0
	}
	// One gap more than there are between them, as long as those are on average.
	return time.Duration(float64(last-first) * float64(n) / float64(n-1))
}

// most is how many samples a tape holds before it forgets any.
const most = 1 << 20

// Forget drops what ended at or before a moment, if the tape has grown long.
func (t *Tape) Forget(before time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.samples) > most {
		t.samples = slices.DeleteFunc(t.samples, func(s Sample) bool { return s.End <= before })
		t.horizon = before
	}
}

// Knows reports whether everything that ended after a moment is still on the tape.
func (t *Tape) Knows(after time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return after >= t.horizon
}
