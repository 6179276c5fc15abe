package sweep_test

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

// The time over which requests were due has a gap for each of them; those of the warm-up are left out.
func TestSpan(t *testing.T) {
	l := sweep.NewLog()
	l.Begin(3)
	add := func(stage int, phase record.Phase, due time.Duration) {
		l.Add(&record.Record{Stage: stage, Phase: phase, Due: due, Sent: due, End: due + 5})
	}
	add(3, record.Warmup, 0)
	add(3, record.Measured, 30)
	if got := l.Span(); got != 0 {
		t.Errorf("of one request: %d", got)
	}
	add(2, record.Measured, 400) // another stage's
	add(3, record.Measured, 10)
	add(3, record.Measured, 20)
	if got := l.Span(); got != 30 {
		t.Errorf("of requests due at 10, 20 and 30: %d, want 30", got)
	}
}

// A stream whose events are all in its tail opened with the first of those.
func TestSampleOfATail(t *testing.T) {
	rec := &record.Record{Sent: 1, End: 90, Streamed: true, Tail: &record.Tail{Events: 7, First: 20, Last: 80}}
	if s := sweep.SampleOf(rec); s.First != 20 || s.End != 80 || s.Responses != 7 {
		t.Errorf("%+v", s)
	}
	rec.Marks, rec.Events = []record.Read{{Kernel: 10}}, []record.Event{{Tokens: 1}}
	if s := sweep.SampleOf(rec); s.First != 10 || s.End != 80 || s.Responses != 8 {
		t.Errorf("behind an event: %+v", s)
	}
}
