package http1

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func TestEventsOfARead(t *testing.T) {
	const sse, lines = "text/event-stream; charset=utf-8", "application/x-ndjson"
	for _, tt := range []struct {
		kind, before, read string
		alone, last        bool
	}{
		{sse, "", "data: a\n\n", true, true},
		{sse, "", "event: x\ndata: a\n\n", true, true},
		{sse, "", "event: x\r\ndata: a\r\n\r\n", true, true},
		{sse, "", "data: a\n\n\n", true, true},
		{sse, "data: a\n", "\n", true, true},
		{sse, "data: a\n\nda", "ta: b\n\n", true, true},
		{sse, "data: a\n", "\ndata: b\n\n", false, true},
		{sse, "", "data: a\n\ndata: b\n\n", false, true},
		{sse, "", "data: a\n\ndata: b\n", false, false},
		{sse, "", "data: a\n\nda", false, false},
		{sse, "", "data: a\n\ndata: b\n\ndata: c", false, false},
		{sse, "", "data: a\n", true, false},
		{sse, "", "data: a", true, false},
		{sse, "data: a\n\n", "", true, true},
		{lines, "", "{}\n", true, true},
		{lines, "{", "}\n", true, true},
		{lines, "", "{}\n{}\n", false, true},
		{lines, "", "{}\n{", false, false},
		{lines, "", "{", true, false},
	} {
		alone, last := events([]byte(tt.before+tt.read), len(tt.before), tt.kind)
		if alone != tt.alone || last != tt.last {
			t.Errorf("%q behind %q: alone %v, last %v; want %v, %v", tt.read, tt.before, alone, last, tt.alone, tt.last)
		}
	}
}

// Pieces of one read are looked at together, whose first byte counts for the first read of an answer.
func TestArrivedInPieces(t *testing.T) {
	const blur = time.Millisecond
	at := func(ms time.Duration) timedconn.Stamp {
		return timedconn.Stamp{Kernel: ms * time.Millisecond, User: ms*time.Millisecond + 5, Blur: blur}
	}
	for _, tt := range []struct {
		name   string
		reads  []string // of one stamp each; pieces are parted by |
		single bool
		behind bool
		want   []record.Read // what they come to: Blur and Loose
	}{
		{"one event a read", []string{"data: a\n\n", "data: b\n\n"}, false, false, []record.Read{{Blur: blur}, {}}},
		{"one segment", []string{"data: a\n\n", "data: b\n\ndata: c\n\n"}, true, false, []record.Read{{}, {}}},
		{"two pieces", []string{"", "data: a\n\n|data: b\n\n"}, false, false, []record.Read{{Blur: blur}, {Blur: blur}}},
		{"a piece of an event", []string{"", "data: a\n\n|da", "ta: b\n\n"}, false, false, []record.Read{{Blur: blur}, {Blur: blur, Loose: true}, {}}},
		{"an event in pieces", []string{"", "data:| a\n|\n"}, false, false, []record.Read{{Blur: blur}, {}}},
		{"something behind", []string{"", "data: a\n\n"}, false, true, []record.Read{{Blur: blur, Loose: true}, {Blur: blur, Loose: true}}},
	} {
		rec := &record.Exchange{}
		rec.Streamed = true
		for i, read := range tt.reads {
			for _, piece := range strings.Split(read, "|") {
				rec.Body = append(rec.Body, piece...)
				Arrived(rec, rec.Body, "text/event-stream", at(time.Duration(10*i+10)), tt.behind, func() bool { return tt.single })
			}
		}
		if len(rec.Marks) != len(tt.want) {
			t.Fatalf("%s: %d marks, want %d", tt.name, len(rec.Marks), len(tt.want))
		}
		for i, m := range rec.Marks {
			if m.Blur != tt.want[i].Blur || m.Loose != tt.want[i].Loose {
				t.Errorf("%s: read %d: %+v, want %+v", tt.name, i, m, tt.want[i])
			}
		}
	}
}

func TestCoarse(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 0, 1: 10 * time.Microsecond, 10_000: 10 * time.Microsecond, 10_001: 20 * time.Microsecond, 300_000: 500 * time.Microsecond,
		500_001: 600 * time.Microsecond, 1_010_000: 1100 * time.Microsecond, 9_950_000: 10 * time.Millisecond,
		12_300_001: 13 * time.Millisecond, 1234 * time.Millisecond: 1300 * time.Millisecond,
	} {
		if got := coarse(d); got != want || got < d {
			t.Errorf("%v becomes %v, want %v", d, got, want)
		}
	}
}

// When a read returned is kept in whole microseconds behind its stamp, which stays as it is.
func TestReturned(t *testing.T) {
	for at, want := range map[timedconn.Stamp]time.Duration{
		{Kernel: 1_234_567, User: 1_234_567}: 1_234_567,
		{Kernel: 1_234_567, User: 1_235_066}: 1_234_567,
		{Kernel: 1_234_567, User: 1_235_068}: 1_235_567,
		{Kernel: 1_234_567, User: 9_234_999}: 9_234_567,
		{Kernel: record.Never, User: 1_234}:  1_234,
	} {
		rec := &record.Exchange{}
		Mark(rec, []byte("x"), at)
		Mark(rec, []byte("xy"), at) // the rest of what one read brought
		if m := rec.Marks; len(m) != 1 || m[0].User != want || m[0].Kernel != at.Kernel || m[0].Off != 2 {
			t.Errorf("%+v: %+v, want %v", at, m, want)
		}
	}
}
