package metric

import (
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// Live is what a view of a run under way shows. One goroutine's Fold writes it and
// any may read it; a reader merges those of all.
type Live struct {
	OK, Failed atomic.Int64
	Tokens     atomic.Int64 // output tokens
	TTFT       stat.Histogram
	ITL        stat.Histogram // per token where that is known, else per event

	stage atomic.Int64
	ended [2]atomic.Int64 // requests of that stage, by phase
}

// Ended is how many requests of a stage have ended, of its warm-up or of its measured
// part; known of the last stage that any has ended of.
func (l *Live) Ended(stage int, phase record.Phase) int64 {
	if l.stage.Load() != int64(stage) {
		return 0
	}
	return l.ended[phase].Load()
}

func (l *Live) add(r *Request) {
	if stage := int64(r.Stage); l.stage.Load() != stage {
		l.ended[record.Measured].Store(0)
		l.ended[record.Warmup].Store(0)
		l.stage.Store(stage)
	}
	l.ended[r.Phase].Add(1)
	if r.Failure != nil {
		l.Failed.Add(1)
		return
	}
	l.OK.Add(1)
	if r.Tokens > 0 {
		l.Tokens.Add(int64(r.Tokens))
	}
	if v, ok := since(r.Sent, r.First); ok {
		l.TTFT.Add(v)
	}
	gaps := r.perToken
	if len(gaps) == 0 {
		gaps = r.gaps
	}
	for _, g := range gaps {
		l.ITL.Add(g)
	}
	if tail := r.tailGaps(); tail != nil {
		tail.Each(func(values []int64) {
			for _, g := range values {
				l.ITL.Add(g)
			}
		})
	}
}

// Merge adds the counts of other, but for those of a stage.
func (l *Live) Merge(other *Live) {
	l.OK.Add(other.OK.Load())
	l.Failed.Add(other.Failed.Load())
	l.Tokens.Add(other.Tokens.Load())
	l.TTFT.Merge(&other.TTFT)
	l.ITL.Merge(&other.ITL)
}
