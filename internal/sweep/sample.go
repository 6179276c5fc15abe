// Package sweep is about measuring a server at one level of load after the other:
// which levels there are, where the windows of a level lie, when a level is stable,
// and what its windows say.
//
// A request belongs to the window in which it ends, and it ends with its last
// response. Windows follow one another without a gap, and the load
// goes on between them.
package sweep

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Sample is what windows need to know of a request.
type Sample struct {
	Due     time.Duration
	Sent    time.Duration
	Written time.Duration
	Start   time.Duration // first byte of the response
	First   time.Duration // first response
	End     time.Duration // last response; where there is none, the last byte
	Closed  time.Duration // last byte

	Responses int // 0: the stream ended without one, and there is no latency
	Failed    bool
	Warmup    bool
	Ends      bool // it is the last request of a sequence
}

// SampleOf reads a decoded record.
func SampleOf(rec *record.Record) Sample {
	s := Sample{
		Due: rec.Due, Sent: rec.Sent, Written: rec.Written, Start: rec.End, First: rec.End, End: rec.End, Closed: rec.End,
		Failed: rec.Failure != nil || rec.Sent == record.Never, Warmup: rec.Phase == record.Warmup,
		Ends: rec.Ends,
	}
	if len(rec.Marks) > 0 {
		s.Start = rec.Marks[0].Time()
	}
	opened := false
	for i := range rec.Events {
		e := &rec.Events[i]
		if uint(e.Mark) >= uint(len(rec.Marks)) {
			continue
		}
		at := rec.Marks[e.Mark].Time()
		if !opened && e.Label != record.Comment {
			s.First, opened = at, true
		}
		if isResponse(e.Label) {
			s.End = at
			s.Responses++
		}
	}
	if t := rec.Tail; t != nil && t.Events > 0 {
		if !opened {
			s.First = t.First
		}
		s.End = t.Last
		s.Responses += int(t.Events)
	}
	if s.Responses == 0 && !s.Failed && (len(rec.Events) == 0 || !rec.Streamed) {
		s.Responses = 1 // a response that is not made of events
	}
	return s
}

// isResponse reports whether an event is a response: one without text is one too, a sign
// that the stream goes on or is over is none.
func isResponse(l record.EventKind) bool { return l != record.Done && l != record.Comment }

// counts reports whether windows count the request as measured.
func (s *Sample) counts() bool { return !s.Failed && !s.Warmup }

// latency is from the time of sending to the last response.
func (s *Sample) latency() time.Duration { return s.End - s.Sent }
