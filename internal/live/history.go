package live

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// Bin is what a run did between two times.
type Bin struct {
	From, To       time.Duration // on the run's clock
	Stage          int           // at its end
	Sent, Ended    int64
	Failed, Tokens int64
	Kinds          map[record.Class]int64 // of those that failed
	InFlight       int64                  // at its end
	TTFT, ITL      *stat.Histogram
}

// Rate is a count of the bin per second.
func (b *Bin) Rate(n int64) float64 {
	if b.To <= b.From {
		return 0
	}
	return float64(n) / (b.To - b.From).Seconds()
}

// History remembers how a run went, in bins that widen as it gets longer. [NewHistory] makes one.
type History struct {
	most  int
	width time.Duration
	bins  []Bin
	last  *state
}

// state is how far a run has come at a given time.
type state struct {
	at             time.Duration
	sent, ended    int64
	failed, tokens int64
	kinds          map[record.Class]int64
	ttft, itl      stat.Histogram
}

// NewHistory makes an empty History of at most so many bins, an even number.
func NewHistory(most int) *History { return &History{most: most, width: time.Second} }

// Bins are those so far. They may not be changed.
func (h *History) Bins() []Bin { return h.bins }

// Add takes note of how the run goes. It is called more often than once in a bin's width.
func (h *History) Add(p *run.Progress) {
	if h.last == nil {
		h.last = &state{at: p.At}
		if len(p.Times) > 0 {
			h.last.at = min(p.At, p.Times[0].Begin)
		}
	}
	if p.At-h.last.at < h.width*9/10 { // whoever looks once in a width is a little early at times
		return
	}
	now := stateOf(p)
	h.bins = append(h.bins, Bin{
		From: h.last.at, To: now.at, Stage: p.Stage,
		Sent: now.sent - h.last.sent, Ended: now.ended - h.last.ended, Failed: now.failed - h.last.failed, Tokens: now.tokens - h.last.tokens,
		Kinds: since(now.kinds, h.last.kinds), InFlight: p.InFlight, TTFT: now.ttft.Since(&h.last.ttft), ITL: now.itl.Since(&h.last.itl),
	})
	h.last = now
	if len(h.bins) >= h.most {
		h.halve()
	}
}

// since are the counts that came after those of before.
func since(now, before map[record.Class]int64) map[record.Class]int64 {
	out := map[record.Class]int64{}
	for class, n := range now {
		if n > before[class] {
			out[class] = n - before[class]
		}
	}
	return out
}

// stateOf is how far a run has come.
func stateOf(p *run.Progress) *state {
	s := &state{at: p.At, sent: p.Sent, kinds: map[record.Class]int64{}}
	for _, stage := range p.Live.Stages() {
		for i := range stage {
			part := &stage[i]
			s.ended += part.OK.Load() + part.Failed.Load()
			s.failed += part.Failed.Load()
			s.tokens += part.Output.Load()
			for class, n := range part.Failures() {
				s.kinds[class] += n
			}
			s.ttft.Merge(&part.TTFT)
			s.itl.Merge(&part.ITL)
		}
	}
	return s
}

// halve puts each two bins together.
func (h *History) halve() {
	for i := range len(h.bins) / 2 {
		a, b := h.bins[2*i], h.bins[2*i+1]
		b.From = a.From
		b.Sent += a.Sent
		b.Ended += a.Ended
		b.Failed += a.Failed
		for class, n := range a.Kinds {
			b.Kinds[class] += n
		}
		b.Tokens += a.Tokens
		b.TTFT.Merge(a.TTFT)
		b.ITL.Merge(a.ITL)
		h.bins[i] = b
	}
	clear(h.bins[len(h.bins)/2:])
	h.bins = h.bins[:len(h.bins)/2]
	h.width *= 2
}
