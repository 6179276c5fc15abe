package record

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// columns are what is known of the columns of a line while it is read.
type columns struct {
	lengths
	list [64]int64 // elements that are being read
}

// lengths are how many elements each column held, to find those that do not match.
type lengths struct {
	bytes, at, delay, blur              int
	labels, reads, text, tokens, merged int
}

// unknown stands for a null among integers. Of read_delay it does so until the columns are joined.
const unknown = math.MinInt64

// columnMembers are the columns of reads and events. Stamps and offsets stay differences until join.
var columnMembers = []jsonscan.Member[lineDecoder]{
	{Name: "read_bytes", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.bytes = d.ints(false, func(first int, list []int64) {
			to := d.marks(first, len(list))
			for i := range to {
				to[i].Off = int(list[i])
			}
		})
	}},
	{Name: "read_at", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.at = d.ints(false, func(first int, list []int64) {
			to := d.marks(first, len(list))
			for i := range to {
				to[i].User = time.Duration(list[i])
			}
		})
	}},
	{Name: "read_blur", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.blur = d.ints(false, func(first int, list []int64) {
			to := d.marks(first, len(list))
			for i := range to {
				to[i].setBlur(list[i])
			}
		})
	}},
	{Name: "read_delay", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.delay = d.ints(true, func(first int, list []int64) {
			to := d.marks(first, len(list))
			for i := range to {
				to[i].Kernel = time.Duration(list[i])
			}
		})
	}},
	{Name: "event_label", Read: readEventLabels},
	{Name: "event_read", Read: func(s *scanner, d *lineDecoder) {
		d.columns.reads = d.ints(false, func(first int, list []int64) {
			to := d.events(first, len(list))
			for i := range to {
				to[i].Mark = int(list[i])
			}
		})
		d.replies.remember(s, d, "status", replyKeys)
	}},
	{Name: "event_text", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.text = d.ints(false, func(first int, list []int64) {
			to := d.events(first, len(list))
			for i := range to {
				to[i].Text = int(list[i])
			}
		})
	}},
	{Name: "event_tokens", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.tokens = d.ints(true, func(first int, list []int64) {
			to := d.events(first, len(list))
			for i := range to {
				if to[i].Tokens = int(list[i]); list[i] == unknown {
					to[i].Tokens = -1
				}
			}
		})
	}},
	{Name: "event_merged", Read: func(_ *scanner, d *lineDecoder) {
		d.columns.merged = d.ints(false, func(first int, list []int64) {
			to := d.events(first, len(list))
			for i := range to {
				to[i].Merged = list[i] != 0
			}
		})
	}},
}

// ints reads an array of integers, hands them on a few at a time with the index of the first, and
// gives their number. With nulls, a null is handed on as unknown.
func (d *lineDecoder) ints(nulls bool, column func(first int, list []int64)) int {
	s, list, n := &d.scan, d.columns.list[:], 0
	if one, ok := s.OnlyInt(); ok { // as of what did not come as a stream
		list[0] = one
		column(0, list[:1])
		return 1
	}
	s.Array()
	for {
		k, left := s.Ints(list)
		if k > 0 {
			column(n, list[:k])
			n += k
		}
		switch {
		case left:
			return n
		case k == len(list):
			continue
		case !s.More():
			return n
		}
		if list[0] = unknown; !nulls || !s.Null() {
			list[0] = s.Int()
		}
		column(n, list[:1])
		n++
	}
}

// readEventLabels reads the column of labels, a string with one letter for each event.
func readEventLabels(s *scanner, d *lineDecoder) {
	letters := s.Quoted()
	d.columns.labels = len(letters)
	events := d.events(0, len(letters))
	for i := range events {
		label := labelOf[letters[i]]
		if label == 0 {
			s.Fail("letters of event labels")
			return
		}
		events[i].Label = EventKind(label - 1)
	}
}

// marks are n marks from the first one on, made where they are not there; none where that is too many.
func (d *lineDecoder) marks(first, n int) []Read {
	rec := d.rec
	if more := first + n - len(rec.Marks); more > 0 && d.fits(len(rec.Marks)+more, len(rec.Events)) {
		rec.Marks = slices.Grow(rec.Marks, more)[:first+n]
		clear(rec.Marks[first+n-more:])
	}
	if first+n > len(rec.Marks) {
		return nil
	}
	return rec.Marks[first : first+n]
}

// events are n events from the first one on, made where they are not there; none where that is too many.
func (d *lineDecoder) events(first, n int) []Event {
	rec := d.rec
	if more := first + n - len(rec.Events); more > 0 && d.fits(len(rec.Marks), len(rec.Events)+more) {
		rec.Events = slices.Grow(rec.Events, more)[:first+n]
		clear(rec.Events[first+n-more:])
	}
	if first+n > len(rec.Events) {
		return nil
	}
	return rec.Events[first : first+n]
}

// fits reports whether a record may have so many reads and events, and ends reading where they take
// more memory than they may.
func (d *lineDecoder) fits(marks, events int) bool {
	if d.most > 0 && int64(marks)*markBytes+int64(events)*eventBytes > d.most {
		d.scan.Fail(fmt.Sprintf("a record of at most %d bytes (limits.record of the plan.yaml)", d.most))
		return false
	}
	return true
}

// What a read and an event take in memory.
const (
	markBytes  = 40
	eventBytes = 40
)

// join turns the differences in the columns into marks and events, and sees to it
// that no event points at a read or at text that is not there.
func (d *lineDecoder) join(rec *Record) error {
	n := &d.columns
	reads, events := len(rec.Marks), len(rec.Events)
	if n.bytes != reads || n.at != reads || (n.delay != reads && n.delay != 0) || (n.blur != reads && n.blur != 0) {
		return fmt.Errorf("columns read_bytes, read_at, read_delay and read_blur have %d, %d, %d and %d elements, not the same number", n.bytes, n.at, n.delay, n.blur)
	}
	if n.labels != events || n.reads != events || n.text != events ||
		(n.tokens != events && n.tokens != 0) || (n.merged != events && n.merged != 0) {
		return fmt.Errorf("columns event_label, event_read, event_text, event_tokens and event_merged have %d, %d, %d, %d and %d elements, not the same number",
			n.labels, n.reads, n.text, n.tokens, n.merged)
	}
	off, at := 0, base(rec.Sent)
	for i := range rec.Marks {
		m := &rec.Marks[i]
		off += m.Off
		at += m.User
		if m.Off < 0 || off < 0 {
			return fmt.Errorf("read %d has %d bytes", i, m.Off)
		}
		m.Off, m.User = off, at
		if n.delay == 0 || m.Kernel == unknown {
			m.Kernel = Never
		} else {
			m.Kernel = at - m.Kernel
		}
	}
	return d.joinEvents(rec)
}

func (d *lineDecoder) joinEvents(rec *Record) error {
	read, text := 0, 0
	for i := range rec.Events {
		e := &rec.Events[i]
		read += e.Mark
		if read < 0 || read >= len(rec.Marks) {
			return fmt.Errorf("event %d points at read %d of %d", i, read, len(rec.Marks))
		}
		if rec.Tail != nil && rec.Tail.Text > 0 { // the text is kept up to a limit, which an event may go beyond
			e.Text = min(e.Text, len(rec.Text)-text)
		}
		text += e.Text
		if e.Text < 0 || text < 0 || text > len(rec.Text) {
			return fmt.Errorf("event %d has %d bytes of text, more than there are", i, e.Text)
		}
		e.Mark = read
		if d.columns.tokens == 0 {
			e.Tokens = usual(e.Label)
		}
	}
	if d.columns.merged == 0 {
		for i := range rec.Events {
			rec.Events[i].Merged = sharesRead(rec.Events, i)
		}
	}
	return nil
}
