package collect

import (
	"time"

	"inferometer/internal/record"
	"inferometer/internal/stat"
)

// Tally is what the live view shows of the records so far, warm-up included.
type Tally struct {
	OK, Failed int64
	Tokens     int64 // output tokens
	TTFT       stat.Histogram
	ITL        stat.Histogram
	Failures   map[record.Class]int64
}

// Tally adds up what the workers have counted.
func (c *Collector) Tally() *Tally {
	sum := &Tally{Failures: map[record.Class]int64{}}
	for _, w := range c.workers {
		w.mu.Lock()
		sum.OK += w.tally.OK
		sum.Failed += w.tally.Failed
		sum.Tokens += w.tally.Tokens
		sum.TTFT.Merge(&w.tally.TTFT)
		sum.ITL.Merge(&w.tally.ITL)
		for class, n := range w.failures {
			sum.Failures[class] += n
		}
		w.mu.Unlock()
	}
	return sum
}

// count takes a decoded record into the tally.
func (w *worker) count(rec *record.Record) {
	class := record.Class("")
	if rec.Failure != nil {
		class = rec.Failure.Class
		w.tally.Failed++
		w.failures[class]++
	} else {
		w.tally.OK++
	}
	w.tally.Tokens += int64(rec.Out.N)
	last := record.Never
	for i := range rec.Events {
		e := &rec.Events[i]
		if !e.Label.IsToken() || e.Label == record.Whole {
			continue
		}
		at := rec.Marks[e.Mark].At()
		if last == record.Never {
			w.tally.TTFT.Add(int64(at - rec.Sent))
		} else {
			w.tally.ITL.Add(int64(max(at-last, time.Duration(0))))
		}
		last = at
	}
	if w.c.cfg.Judge != nil {
		w.c.cfg.Judge(class)
	}
}
