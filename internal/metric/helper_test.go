package metric

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

const msec = time.Millisecond

// token is an event of a made-up stream: when it came, and with how many tokens.
type token struct {
	at     time.Duration
	tokens int
	label  record.EventKind
	merged bool
}

// streamed makes the record of a stream that was due and sent at a moment.
func streamed(sent time.Duration, events ...token) *record.Record {
	rec := &record.Record{Due: sent, Ready: sent, Sent: sent, Written: sent, Streamed: true, Status: 200, Cached: -1}
	n := 0
	for i, e := range events {
		if i == 0 || e.at != events[i-1].at {
			rec.Marks = append(rec.Marks, record.Read{Kernel: e.at, User: e.at + 10*time.Microsecond})
		}
		rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks) - 1, Label: e.label, Tokens: e.tokens, Merged: e.merged})
		if e.label.IsToken() && e.tokens > 0 {
			n += e.tokens
		}
		rec.End = e.at
	}
	rec.Out = record.Tokens{N: n, Source: record.FromServer, Local: -1}
	rec.In = record.Tokens{N: 100, Source: record.FromServer, Local: -1}
	return rec
}

// evenly makes a stream of n tokens, one each gap, the first after ttft.
func evenly(sent, ttft, gap time.Duration, n int) *record.Record {
	var events []token
	for i := range n {
		events = append(events, token{at: sent + ttft + time.Duration(i)*gap, tokens: 1})
	}
	return streamed(sent, events...)
}

func failed(rec *record.Record, class record.Class, status int, msg string) *record.Record {
	rec.Failure = &record.Failure{Class: class, Status: status, Message: msg, At: rec.End}
	return rec
}

func mustFold(t testing.TB, opts Options) *Aggregator {
	t.Helper()
	f, err := NewFold(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func summarize(t testing.TB, f *Aggregator) []StageStats {
	t.Helper()
	st, err := f.Summarize(stat.Linear)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// fixed gives the same steady window to every stage.
func fixed(from, to time.Duration) func(int) record.StageTimes {
	return func(int) record.StageTimes { return record.StageTimes{WarmupEnd: from, SendEnd: to} }
}
