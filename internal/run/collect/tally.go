package collect

import (
	"github.com/inferometer/inferometer/internal/record"
)

// Failures are the failures so far by kind, warm-up included.
func (c *Collector) Failures() map[record.FailureKind]int64 {
	sum := map[record.FailureKind]int64{}
	for _, w := range c.workers {
		w.mu.Lock()
		for kind, n := range w.failures {
			sum[kind] += n
		}
		w.mu.Unlock()
	}
	return sum
}

// count takes note of how a request ended.
func (w *worker) count(f *record.Failure) {
	class := record.Class("")
	if f != nil {
		class = f.Class
	}
	if f != nil && !f.Left() {
		w.failures[f.Kind()]++
	}
	if w.c.cfg.Judge != nil {
		w.c.cfg.Judge(class)
	}
}
