package sse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// plainEvent is an event in a form that is easy to write down and to compare.
type plainEvent struct {
	Type, ID, Retry, Data                  string
	HasData, Comment, Joined, Unterminated bool
	Start, End                             int
}

func events(body []byte) []plainEvent {
	var s Scanner
	s.Reset(body)
	var list []plainEvent
	var e Event
	for s.Next(&e) {
		list = append(list, plainEvent{
			string(e.Type), string(e.ID), string(e.Retry), string(e.Data),
			e.HasData, e.Comment, e.Joined, e.Unterminated, e.Start, e.End,
		})
	}
	return list
}

func TestFraming(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	for _, c := range []struct {
		name, body string
		want       []plainEvent
	}{
		{"empty", "", nil},
		{"LF", "data: a\n\ndata: b\n\n", []plainEvent{{Data: "a", HasData: true, End: 9}, {Data: "b", HasData: true, Start: 9, End: 18}}},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []plainEvent{{Data: "a", HasData: true, End: 11}, {Data: "b", HasData: true, Start: 11, End: 22}}},
		{"CR", "data: a\r\rdata: b\r\r", []plainEvent{{Data: "a", HasData: true, End: 9}, {Data: "b", HasData: true, Start: 9, End: 18}}},
		{"mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", []plainEvent{
			{Data: "a", HasData: true, End: 10}, {Data: "b", HasData: true, Start: 10, End: 20}, {Data: "c", HasData: true, Start: 20, End: 30}}},
		{"no space", "data:a\n\n", []plainEvent{{Data: "a", HasData: true, End: 8}}},
		{"two spaces", "data:  a\n\n", []plainEvent{{Data: " a", HasData: true, End: 10}}},
		{"empty data", "data:\n\n", []plainEvent{{HasData: true, End: 7}}},
		{"data without colon", "data\n\n", []plainEvent{{HasData: true, End: 6}}},
		{"many lines", "data: a\ndata:b\ndata\n\n", []plainEvent{{Data: "a\nb\n", HasData: true, Joined: true, End: 21}}},
		{"two empty lines of data", "data\ndata\n\n", []plainEvent{{Data: "\n", HasData: true, Joined: true, End: 11}}},
		{"comment", ": ping\n\n:\n\n", []plainEvent{{Comment: true, End: 8}, {Comment: true, Start: 8, End: 11}}},
		{"comment inside", ":x\ndata: a\n:y\n\n", []plainEvent{{Data: "a", HasData: true, Comment: true, End: 15}}},
		{"fields", "event: error\nid: 7\nretry: 100\ndata: a\n\n", []plainEvent{{Type: "error", ID: "7", Retry: "100", Data: "a", HasData: true, End: 39}}},
		{"bad retry and id", "retry: 1s\nid: a\x00b\ndata: a\n\n", []plainEvent{{Data: "a", HasData: true, End: 27}}},
		{"no data", "retry: 5\n\n", []plainEvent{{Retry: "5", End: 10}}},
		{"unknown field", "datum: x\n\n", []plainEvent{{End: 10}}},
		{"upper case is another name", "DATA: x\n\n", []plainEvent{{End: 9}}},
		{"blank lines between", "\n\r\n\rdata: a\n\n\n\n", []plainEvent{{Data: "a", HasData: true, Start: 4, End: 13}}},
		{"byte-order mark", bom + "data: a\n\n", []plainEvent{{Data: "a", HasData: true, Start: 3, End: 12}}},
		{"second byte-order mark", bom + bom + "data: a\n\n", []plainEvent{{Start: 3, End: 15}}},
		{"no blank line", "data: a\n", []plainEvent{{Data: "a", HasData: true, Unterminated: true, End: 8}}},
		{"no newline", "data: a", []plainEvent{{Data: "a", HasData: true, Unterminated: true, End: 7}}},
		{"cut in a name", "data: a\n\ndat", []plainEvent{{Data: "a", HasData: true, End: 9}, {Unterminated: true, Start: 9, End: 12}}},
		{"colons in data", "data: {\"a\":1}\n\n", []plainEvent{{Data: `{"a":1}`, HasData: true, End: 15}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, events([]byte(c.body))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// reference is the standard's own description, taken one byte at a time as a
// client of a live stream would.
type reference struct {
	list       []plainEvent
	line       []byte
	now        plainEvent
	open       bool // something of an event has been seen
	data       []string
	pos        int
	afterCR    bool
	dispatched bool // the CR before closed an event, so a LF still belongs to it
}

func (r *reference) feed(c byte) {
	at := r.pos
	r.pos++
	if c == '\n' && r.afterCR {
		r.afterCR = false
		if r.dispatched {
			r.list[len(r.list)-1].End = r.pos
		}
		return
	}
	r.afterCR = c == '\r'
	r.dispatched = false
	if c != '\n' && c != '\r' {
		if !r.open && len(r.line) == 0 {
			r.now.Start = at
		}
		r.line = append(r.line, c)
		return
	}
	if len(r.line) > 0 {
		r.take()
	} else if r.open {
		r.dispatch()
		r.dispatched = true
	}
}

func (r *reference) take() {
	line := string(r.line)
	r.line = r.line[:0]
	r.open = true
	if strings.HasPrefix(line, ":") {
		r.now.Comment = true
		return
	}
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "data":
		r.data = append(r.data, value)
	case "event":
		r.now.Type = value
	case "id":
		if !strings.Contains(value, "\x00") {
			r.now.ID = value
		}
	case "retry":
		if value != "" && strings.Trim(value, "0123456789") == "" {
			r.now.Retry = value
		}
	}
}

func (r *reference) dispatch() {
	r.now.HasData = len(r.data) > 0
	r.now.Joined = len(r.data) > 1
	r.now.Data = strings.Join(r.data, "\n")
	r.now.End = r.pos
	r.list = append(r.list, r.now)
	r.now, r.open, r.data = plainEvent{}, false, nil
}

func (r *reference) end() []plainEvent {
	if len(r.line) > 0 {
		r.take()
	}
	if r.open {
		r.now.Unterminated = true
		r.dispatch()
	}
	return r.list
}

func FuzzScanner(f *testing.F) {
	for _, body := range []string{"data: a\r\n\r\ndata: b\n\n: c\n\n", "\xef\xbb\xbfevent: e\rdata\r\r\n\n", "data:x\n\rdata: y\r\r\rid: 1\nretry: 2", "\r\n\n\r:\n"} {
		f.Add([]byte(body))
	}
	mutate.Fuzz(f, func(t *testing.T, body []byte) {
		var r reference
		rest := body
		if strings.HasPrefix(string(body), "\xef\xbb\xbf") {
			rest, r.pos = body[3:], 3
		}
		for _, c := range rest {
			r.feed(c)
		}
		if diff := cmp.Diff(r.end(), events(body)); diff != "" {
			t.Errorf("%q: %s", body, diff)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	body := []byte(strings.Repeat("data: {\"a\":\"b\"}\n\n", 100))
	var s Scanner
	var e Event
	n := 0
	allocs := testing.AllocsPerRun(20, func() {
		s.Reset(body)
		for n = 0; s.Next(&e); n++ {
		}
	})
	if allocs != 0 || n != 100 {
		t.Errorf("%v allocations for %d events", allocs, n)
	}
}

func BenchmarkScanner(b *testing.B) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		b.Run(name, func(b *testing.B) {
			body := []byte(strings.Repeat("data: "+strings.Repeat("x", 222-8)+end+end, 512))
			b.SetBytes(int64(len(body)))
			var s Scanner
			var e Event
			n := 0
			for b.Loop() {
				s.Reset(body)
				for s.Next(&e) {
					n++
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func ExampleScanner() {
	var s Scanner
	s.Reset([]byte(": hello\n\nevent: note\ndata: one\ndata: two\n\n"))
	for e := (Event{}); s.Next(&e); {
		fmt.Printf("%q %q %v\n", e.Type, e.Data, e.Comment)
	}
	// Output:
	// "" "" true
	// "note" "one\ntwo" false
}
