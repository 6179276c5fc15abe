package record

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// unknownDelay stands for a null in read_delay until the columns are joined.
const unknownDelay = time.Duration(math.MinInt64)

// columns counts what each column of a line held, to find those that do not match.
type columns struct {
	bytes, at, delay, blur              int
	labels, reads, text, tokens, merged int
}

// column reads one column of reads or events. Stamps and offsets stay differences
// until join.
func (d *lineDecoder) column(key []byte, rec *Record) bool {
	s, n := &d.scan, &d.columns
	switch string(key) {
	case "read_bytes":
		for n.bytes = d.open(); s.More(); n.bytes++ {
			d.mark(rec, n.bytes).Off = int(s.Int())
		}
	case "read_at":
		for n.at = d.open(); s.More(); n.at++ {
			d.mark(rec, n.at).User = time.Duration(s.Int())
		}
	case "read_delay":
		for n.delay = d.open(); s.More(); n.delay++ {
			m := d.mark(rec, n.delay)
			if m.Kernel = unknownDelay; !s.Null() {
				m.Kernel = time.Duration(s.Int())
			}
		}
	case "read_blur":
		for n.blur = d.open(); s.More(); n.blur++ {
			d.mark(rec, n.blur).setBlur(s.Int())
		}
	case "event_label":
		d.labels(rec)
	case "event_read":
		for n.reads = d.open(); s.More(); n.reads++ {
			d.event(rec, n.reads).Mark = int(s.Int())
		}
	case "event_text":
		for n.text = d.open(); s.More(); n.text++ {
			d.event(rec, n.text).Text = int(s.Int())
		}
	case "event_tokens":
		for n.tokens = d.open(); s.More(); n.tokens++ {
			e := d.event(rec, n.tokens)
			if e.Tokens = -1; !s.Null() {
				e.Tokens = int(s.Int())
			}
		}
	case "event_merged":
		for n.merged = d.open(); s.More(); n.merged++ {
			d.event(rec, n.merged).Merged = s.Int() != 0
		}
	default:
		return false
	}
	return true
}

// open enters an array and returns the index of its first element.
func (d *lineDecoder) open() int {
	d.scan.Array()
	return 0
}

// labels reads the column of labels, a string with one letter for each event.
func (d *lineDecoder) labels(rec *Record) {
	letters := d.scan.Quoted()
	d.columns.labels = len(letters)
	for i, c := range letters {
		label := strings.IndexByte(labelLetters, c)
		if label < 0 {
			d.scan.Fail("letters of event labels")
			return
		}
		if d.event(rec, i).Label = EventKind(label); d.scan.Err() != nil {
			return
		}
	}
}

// mark returns the i-th mark, made if it is the next one.
func (d *lineDecoder) mark(rec *Record, i int) *Read {
	if i == len(rec.Marks) {
		d.bound(rec)
		rec.Marks = append(rec.Marks, Read{})
	}
	return &rec.Marks[i]
}

// event returns the i-th event, made if it is the next one.
func (d *lineDecoder) event(rec *Record, i int) *Event {
	if i == len(rec.Events) {
		d.bound(rec)
		rec.Events = append(rec.Events, Event{})
	}
	return &rec.Events[i]
}

// bound ends reading where a record's reads and events take more memory than they may.
func (d *lineDecoder) bound(rec *Record) {
	if d.most > 0 && int64(len(rec.Marks))*markBytes+int64(len(rec.Events))*eventBytes > d.most {
		d.scan.Fail(fmt.Sprintf("a record of at most %d bytes (limits.record of the plan.yaml)", d.most))
	}
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
		if n.delay == 0 || m.Kernel == unknownDelay {
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
