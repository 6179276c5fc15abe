package decode

import (
	"time"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
)

// eventSize is about what an event of a stream takes, on the way and in a record: a
// stream that may hold so many bytes keeps so many events one by one.
const eventSize = 256

// folding is the state of events that are no longer kept one by one.
type folding struct {
	on   bool
	most int           // bytes of text, and eventSize times the events, that are kept
	head int           // marks that kept events point to
	last time.Duration // stamp of the last event with tokens; Never: there was none
	blur time.Duration // how long before that it can have come
}

// Fold makes it keep about so many bytes of the stream and fold what follows.
func (s *Events) Fold(most int) {
	s.fold = folding{on: true, most: most, last: record.Never}
	s.rec.Tail = &record.Tail{Tokens: -1, First: record.Never, Last: record.Never, Visible: record.Never}
}

func (s *Events) full() bool { return s.fold.on && len(s.list) >= max(s.fold.most/eventSize, 1) }

// Bound gives as much of a stream's text as is kept.
func (s *Events) Bound(text []byte) []byte {
	if !s.fold.on || len(text) <= s.fold.most {
		return text
	}
	s.rec.Tail.Text += int64(len(text) - s.fold.most)
	return text[:s.fold.most]
}

// addFolded counts an event that is complete at offset end of the response.
func (s *Events) addFolded(end int, label record.EventKind, tokens int) {
	f, t, marks := &s.fold, s.rec.Tail, s.rec.Marks
	if f.head == 0 {
		s.startTail()
	}
	m := s.mark
	for m < len(marks)-1 && marks[m].Off < end {
		m++
	}
	s.mark = m
	if !label.IsToken() || tokens == 0 {
		t.Others++
		return
	}
	at, blur := marks[m].Time(), marks[m].BlurOf(end == marks[m].Off)
	s.Tokens++
	if t.Events++; t.Events == 1 {
		t.First, t.FirstBlur = at, blur
	}
	if f.last != record.Never {
		gap := at - f.last
		t.Gap(int64(gap), max(0, int64(gap-blur)), int64(gap+f.blur))
	}
	if t.Visible == record.Never && label == record.Content {
		t.Visible, t.VisibleBlur = at, blur
	}
	f.last, f.blur, t.Last, t.LastBlur = at, blur, at, blur
}

// startTail takes over from the events that are kept.
func (s *Events) startTail() {
	f, marks := &s.fold, s.rec.Marks
	f.head = s.mark + 1
	s.mark = max(s.mark, 0)
	for i := range s.list {
		if e := &s.list[i]; e.Label.IsToken() && e.Tokens != 0 {
			f.last, f.blur = marks[e.Mark].Time(), marks[e.Mark].BlurOf(!e.Merged)
		}
	}
}

// foldMarks gives up reads that ended before offset end, but for those of events and the last.
func (s *Events) foldMarks(end int) {
	f, t := &s.fold, s.rec.Tail
	if f.head == 0 {
		return
	}
	marks := s.rec.Marks
	k := f.head
	for ; k < len(marks)-1 && marks[k].Off <= end; k++ {
		t.Reads++
		if marks[k].Kernel != record.Never {
			t.Delays.Add(int64(marks[k].User - marks[k].Kernel))
		}
	}
	s.rec.Marks = append(marks[:f.head], marks[k:]...)
	s.mark = max(s.mark-(k-f.head), f.head-1)
}

func (r *StreamDecoder) read(take func(e *sse.Event), unterminated bool) (done int) {
	var scan sse.Scanner
	scan.Reset(r.rec.Body)
	e := &r.event
	for *e = (sse.Event{}); scan.Next(e) && (unterminated || !e.Unterminated); {
		done = e.End
		e.Start += r.rec.Folded
		e.End += r.rec.Folded
		take(e)
	}
	return done
}

// Longest is endpoint.Decoder's for server-sent events. Another response ends where it is looked
// at.
func Longest(rec *record.Record, from int) (length, end int) {
	if !Streams(rec) {
		return 0, len(rec.Body)
	}
	var scan sse.Scanner
	scan.Reset(rec.Body[from:])
	var e sse.Event // outside the loop, which would copy it
	for scan.Next(&e) {
		if length = max(length, e.End-e.Start); !e.Unterminated {
			end = e.End
		}
	}
	return length, from + end
}

// Streams reports whether a response in flight can be read in pieces: it is no document or page.
func Streams(rec *record.Record) bool {
	for _, c := range rec.Body {
		switch c {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			continue
		}
		return c != '{' && c != '<' && c != '['
	}
	return false
}
