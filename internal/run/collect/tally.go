package collect

import (
	"github.com/inferometer/inferometer/internal/record"
)

// Failures are the failures so far by class, warm-up included.
func (c *Collector) Failures() map[record.Class]int64 {
	sum := map[record.Class]int64{}
	for _, w := range c.workers {
		w.mu.Lock()
		for class, n := range w.failures {
			sum[class] += n
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
		w.failures[class]++
	}
	if w.c.cfg.Judge != nil {
		w.c.cfg.Judge(class)
	}
}
