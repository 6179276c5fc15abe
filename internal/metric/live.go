package metric

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// LiveStats is what a view of a run that is going on shows, stage by stage. One goroutine's Fold writes
// it and any may read it; a reader merges those of all.
type LiveStats struct {
	stages atomic.Pointer[[]*LiveStage] // replaced as stages begin
}

// LiveStage is what a stage has come to so far: its measured part and its warm-up.
type LiveStage [2]LivePart

// LivePart is what has ended of a stage's measured part, or of its warm-up. Latencies are in
// nanoseconds, of requests that went well.
type LivePart struct {
	OK, Failed, Good atomic.Int64   // good ones meet all objectives; counted in the measured part
	UserCancelled    atomic.Int64   // whose users went away: neither OK nor Failed
	Input, Output    atomic.Int64   // tokens of requests that went well
	TTFT, Latency    stat.Histogram // from Sent
	TTFTFromDue      stat.Histogram
	LatencyFromDue   stat.Histogram
	ITL              stat.Histogram // per token where that is known, else per event

	mu      sync.Mutex
	classes map[record.Class]int64 // of failures
}

// Ended is how many requests have ended.
func (p *LivePart) Ended() int64 { return p.OK.Load() + p.Failed.Load() + p.UserCancelled.Load() }

// Failures are the failures by class.
func (p *LivePart) Failures() map[record.Class]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.classes)
}

// Stages are the stages that a request has ended of, and those before them.
func (l *LiveStats) Stages() []*LiveStage {
	if list := l.stages.Load(); list != nil {
		return *list
	}
	return nil
}

// Part is part of a stage; an empty one where nothing of it has ended.
func (l *LiveStats) Part(stage int, phase record.Phase) *LivePart {
	if list := l.Stages(); stage >= 0 && stage < len(list) {
		return &list[stage][phase]
	}
	return new(LivePart)
}

// stage is the i-th stage, made at its first request. One goroutine at a time calls it.
func (l *LiveStats) stage(i int) *LiveStage {
	if i >= len(l.Stages()) {
		l.grow(i + 1)
	}
	return l.Stages()[i]
}

func (l *LiveStats) grow(n int) {
	more := make([]*LiveStage, n)
	for k := copy(more, l.Stages()); k < n; k++ {
		more[k] = new(LiveStage)
	}
	l.stages.Store(&more)
}

func (l *LiveStats) add(r *Request, good bool) {
	p := &l.stage(r.Stage)[r.Phase]
	if r.Failure.Left() {
		p.UserCancelled.Add(1)
		return
	}
	if r.Failure != nil {
		p.fail(r.Failure.Class, 1)
		p.Failed.Add(1)
		return
	}
	p.OK.Add(1)
	if good {
		p.Good.Add(1)
	}
	if r.Tokens > 0 {
		p.Output.Add(int64(r.Tokens))
	}
	if r.In.Source != record.Uncounted {
		p.Input.Add(int64(r.In.N))
	}
	span(&p.TTFT, r.Sent, r.First)
	span(&p.TTFTFromDue, r.Due, r.First)
	span(&p.Latency, r.Sent, r.End)
	span(&p.LatencyFromDue, r.Due, r.End)
	gaps := r.perToken
	if len(gaps) == 0 {
		gaps = r.gaps
	}
	p.ITL.AddAll(gaps)
	if tail := r.tailGaps(); tail != nil {
		tail.Each(p.ITL.AddAll)
	}
}

// span counts the time between two stamps, where both are known.
func span(h *stat.Histogram, from, to time.Duration) {
	if v, ok := since(from, to); ok {
		h.Add(v)
	}
}

func (p *LivePart) fail(class record.Class, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.classes == nil {
		p.classes = map[record.Class]int64{}
	}
	p.classes[class] += n
}

// MergeLive puts together what several have counted. The first stages are those of begin, if any.
func MergeLive(begin []*LiveStage, all []*LiveStats) *LiveStats {
	sum, n := new(LiveStats), len(begin)
	read := make([][]*LiveStage, len(all)) // once: a stage may begin meanwhile, for which there would be no room
	for i, l := range all {
		read[i] = l.Stages()
		n = max(n, len(read[i]))
	}
	sum.grow(n)
	stages := sum.Stages()
	copy(stages, begin)
	for _, list := range read {
		for i, s := range list {
			if i < len(begin) {
				continue
			}
			for phase := range s {
				stages[i][phase].merge(&s[phase])
			}
		}
	}
	return sum
}

func (p *LivePart) merge(other *LivePart) {
	p.OK.Add(other.OK.Load())
	p.Failed.Add(other.Failed.Load())
	p.UserCancelled.Add(other.UserCancelled.Load())
	p.Good.Add(other.Good.Load())
	p.Input.Add(other.Input.Load())
	p.Output.Add(other.Output.Load())
	p.TTFT.Merge(&other.TTFT)
	p.TTFTFromDue.Merge(&other.TTFTFromDue)
	p.Latency.Merge(&other.Latency)
	p.LatencyFromDue.Merge(&other.LatencyFromDue)
	p.ITL.Merge(&other.ITL)
	for class, n := range other.Failures() {
		p.fail(class, n)
	}
}
