package sweep

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// SampleLog keeps the current stage's samples as records are decoded, concurrently.
type SampleLog struct {
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

// NewLog makes a Log that keeps nothing before Begin.
func NewLog() *SampleLog { return &SampleLog{stage: -1} }

// Begin turns to another stage and forgets the one before.
func (l *SampleLog) Begin(stage int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stage, l.samples, l.horizon, l.wait = stage, nil, 0, nil
}

// Add keeps the sample of a decoded record. Those of another stage are left out, and those that only
// end what would else stay open.
func (l *SampleLog) Add(rec *record.Record) {
	if rec.Phase == record.Closing {
		return
	}
	s := SampleOf(rec)
	l.mu.Lock()
	defer l.mu.Unlock()
	if rec.Stage != l.stage {
		return
	}
	l.samples = append(l.samples, s)
	if w := l.wait; w != nil && s.counts() && s.End > w.after {
		if w.left--; w.left == 0 {
			close(w.done)
			l.wait = nil
		}
	}
}

// Await returns once n requests have ended well after a time, or ctx has ended.
func (l *SampleLog) Await(ctx context.Context, after time.Duration, n int64) error {
	l.mu.Lock()
	w := &wait{after: after, left: n - int64(len(l.ends(after))), done: make(chan struct{})}
	if w.left <= 0 {
		l.mu.Unlock()
		return ctx.Err()
	}
	l.wait = w
	l.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ends are when the requests ended that ended well after a time.
func (l *SampleLog) ends(after time.Duration) []time.Duration {
	var ends []time.Duration
	for i := range l.samples {
		if l.samples[i].counts() && l.samples[i].End > after {
			ends = append(ends, l.samples[i].End)
		}
	}
	return ends
}

// Nth is when the n-th request after another time ended well.
func (l *SampleLog) Nth(after time.Duration, n int64) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ends := l.ends(after)
	if n < 1 || int64(len(ends)) < n {
		return 0, false
	}
	slices.Sort(ends)
	return ends[n-1], true
}

// Failing is how many requests have failed since the last one that ended well after a
// moment, and when that was; the time itself where none has.
func (l *SampleLog) Failing(after time.Duration) (n int64, since time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since = after
	for i := range l.samples {
		if l.samples[i].counts() {
			since = max(since, l.samples[i].End)
		}
	}
	for i := range l.samples {
		if s := &l.samples[i]; s.Failed && !s.Warmup && s.End > since {
			n++
		}
	}
	return n, since
}

// Cut is the window between two times, of what has been kept so far.
func (l *SampleLog) Cut(begin, end time.Duration, extra int) Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	return WindowBetween(l.samples, begin, end, extra)
}

// Bounds are the first sending and the last ending among the measured requests; false: there are
// none.
func (l *SampleLog) Bounds() (first, last time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bounds(l.samples)
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
func (l *SampleLog) Span() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var first, last time.Duration
	n := 0
	for i := range l.samples {
		s := &l.samples[i]
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

// most is how many samples a log holds before it forgets any.
const most = 1 << 20

// Forget drops what ended at or before a time, if the log has grown long.
func (l *SampleLog) Forget(before time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.samples) > most {
		l.samples = slices.DeleteFunc(l.samples, func(s Sample) bool { return s.End <= before })
		l.horizon = before
	}
}

// Knows reports whether everything that ended after a time is still in the log.
func (l *SampleLog) Knows(after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return after >= l.horizon
}
