package dialect

import (
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// quantity is what a column of a bucket holds.
type quantity int

// The columns. Times are in nanoseconds or, where they are quotients, in picoseconds.
const (
	delayColumn quantity = iota
	latencyColumn
	ntpotColumn
	ntpotOfTokens // of responses with tokens, where ntpotColumn has those without
	tpotColumn
	ttftColumn
	itlColumn
	sizeColumn
	promptColumn
	clientColumn
	serverColumn
	failedLatencyColumn
	failedPromptColumn
	wastedColumn
	imageCount
	imagePixels
	imageBytes
	imageAspect
	videoCount
	videoFrames
	videoPixels
	videoBytes
	videoAspect
	audioCount
	audioLength
	audioBytes
	columns
)

// scale is what a column's numbers are divided by to get the report's.
func (q quantity) scale() float64 {
	switch q {
	case delayColumn, latencyColumn, ttftColumn, itlColumn, failedLatencyColumn, wastedColumn, audioLength:
		return 1e9
	case ntpotColumn, ntpotOfTokens, tpotColumn:
		return picoseconds
	case imageAspect, videoAspect:
		return aspects
	}
	return 1
}

const (
	picoseconds = 1e12
	aspects     = 1e9
)

// bucket is the requests of one adapter in one stage.
type bucket struct {
	columns [columns]*stat.Column
	sum     Summary // its counts alone

	firstStart, lastStart, lastEnd time.Duration // of all
	okStart, okEnd                 time.Duration // of the successes

	failures         failures
	wasted           time.Duration // on attempts that were not answered
	good, goodTokens int64
	applicable, met  map[string]int64
}

func newBucket(pool *stat.Pool) *bucket {
	b := &bucket{applicable: map[string]int64{}, met: map[string]int64{}, failures: failures{}}
	for i := range b.columns {
		b.columns[i] = pool.Column()
	}
	return b
}

func (b *bucket) put(q quantity, v int64) { b.columns[q].Append(v, stat.First) }

// toInteger is a number as a column holds it.
func toInteger(v, scale float64) int64 {
	return int64(math.RoundToEven(math.Min(v*scale, stat.MaxSample)))
}

func (b *bucket) add(o *Options, rec *record.Record, v *Values) {
	if b.sum.Count == 0 {
		b.firstStart, b.lastStart, b.lastEnd = v.Start, v.Start, v.End
	}
	b.sum.Count++
	b.firstStart, b.lastStart, b.lastEnd = min(b.firstStart, v.Start), max(b.lastStart, v.Start), max(b.lastEnd, v.End)
	b.put(delayColumn, int64(v.Delay))
	if r := &b.sum.Retries; v.Retries > 0 {
		r.Requests++
		r.Attempts += int64(v.Retries)
		if v.Recovered {
			r.Recovered++
		}
		b.wasted += v.Wasted
		b.put(wastedColumn, int64(v.Wasted))
	}
	if rec.Failure != nil {
		b.fail(o, rec, v)
		return
	}
	if b.sum.OK == 0 {
		b.okStart, b.okEnd = v.Start, v.End
	}
	b.sum.OK++
	b.okStart, b.okEnd = min(b.okStart, v.Start), max(b.okEnd, v.End)
	b.put(latencyColumn, int64(v.Latency()))
	if t, ok := v.NTPOT(o.Faithful); ok {
		b.put(ntpotColumn, toInteger(t, picoseconds))
		if o.Faithful && v.Out > 0 {
			b.put(ntpotOfTokens, toInteger(t, picoseconds))
		}
	}
	if t, ok := v.TPOT(); ok {
		b.put(tpotColumn, toInteger(t, picoseconds))
	}
	if v.TTFT != None {
		b.put(ttftColumn, int64(v.TTFT))
	}
	for i := 1; i < len(v.TokenTimes); i++ {
		b.put(itlColumn, int64(v.TokenTimes[i]-v.TokenTimes[i-1]))
	}
	if v.Tail != nil {
		v.Tail.Gaps.Each(func(values []int64) {
			for _, gap := range values {
				b.put(itlColumn, gap)
			}
		})
	}
	b.tokens(rec, v)
	if rec.Size > 0 {
		b.put(sizeColumn, int64(rec.Size))
	}
	b.media(o, rec)
	b.judge(o, rec, v)
}

func (b *bucket) tokens(rec *record.Record, v *Values) {
	s := &b.sum
	s.Prompt.Total += int64(v.In)
	s.Prompt.Cached += int64(max(rec.Cached, 0))
	s.Out += int64(v.Out)
	s.ServerTotal += int64(v.Server)
	b.put(promptColumn, int64(v.In))
	b.put(clientColumn, int64(v.Client))
	b.put(serverColumn, int64(v.Server))
	if v.Mismatch {
		s.Mismatches++
	}
	if !v.ServerIn {
		s.ClientIn++
	}
	if !v.ServerOut {
		s.ClientOut++
	}
}

func (b *bucket) fail(o *Options, rec *record.Record, v *Values) {
	b.sum.Failed++
	b.sum.FailedPrompt.Total += int64(v.In)
	if !o.Faithful {
		b.sum.FailedPrompt.Cached += int64(max(rec.Cached, 0))
	}
	b.put(failedLatencyColumn, int64(v.Latency()))
	b.put(failedPromptColumn, int64(v.In))
	var sessions []string
	if rec.Session != "" {
		sessions = []string{rec.Session}
	}
	b.failures.put(Label(rec.Failure), Said(rec.Failure), sessions, o.MaxMessages)
}

// judge counts a success that keeps to every objective. A time that a response cannot have, such as
// between the tokens of one, it cannot miss, unlike in the original.
func (b *bucket) judge(o *Options, rec *record.Record, v *Values) {
	good := true
	for name, limit := range o.Goodput {
		if _, carried := o.Headers[name]; carried && len(v.TokenTimes) == 0 && (!rec.Streamed || o.tokenEvents(rec) == 0) {
			asked := false // objectives in headers are those of streams with tokens
			if limit, asked = o.Constraints[name]; !asked {
				continue
			}
		}
		t, ok := v.objective(name)
		if !ok && !o.Faithful && rec.Streamed && v.Out < 2 && name != TTFT {
			continue
		}
		b.applicable[name]++
		if ok && t <= limit {
			b.met[name]++
		} else {
			good = false
		}
	}
	if good {
		b.good++
		b.goodTokens += int64(v.In + v.Out)
	}
}

// objective is one of the times of objectives, in seconds; false: the request does not have it.
func (v *Values) objective(name string) (float64, bool) {
	switch name {
	case TTFT:
		return v.TTFT.Seconds(), v.TTFT != None
	case TPOT:
		return v.TPOT()
	case ITL:
		return v.ITL()
	case NTPOT:
		return v.NTPOT(true)
	default:
		return v.Latency().Seconds(), true
	}
}
