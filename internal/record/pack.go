package record

import (
	"encoding/binary"
	"errors"
	"time"
)

// packer writes the fields of a record in binary, or reads them: one list of fields serves both.
type packer struct {
	buf     []byte // what was written, or is to be read
	at      int    // up to where it was read
	reading bool
	failed  bool
	lines   *lineDecoder // in reading
}

var errDigest = errors.New("a request in a digest cannot be read: it is damaged, or of another version")

// unpack reads a record, whose buffers are reused.
func (d *lineDecoder) unpack(b []byte, rec *Record) error {
	*rec = Record{Marks: rec.Marks[:0], Events: rec.Events[:0], Text: rec.Text[:0], Body: rec.Body[:0], RequestBody: rec.RequestBody[:0]}
	p := packer{buf: b, reading: true, lines: d}
	p.record(rec)
	if p.failed || p.at != len(p.buf) {
		return errDigest
	}
	return nil
}

// record packs everything but texts and bodies.
func (p *packer) record(rec *Record) {
	number(p, &rec.Seq)
	number(p, &rec.Stage)
	number(p, &rec.Phase)
	number(p, &rec.Slot)
	number(p, &rec.Target)
	number(p, &rec.Worker)
	p.hash(&rec.Prompt)
	p.text(&rec.Session, ofSession)
	number(p, &rec.Turn)
	p.flags(&rec.Ends, &rec.Conn.Reused, &rec.Streamed, &rec.Unended, &rec.Sparse)
	p.text(&rec.Model, ofModel)
	p.text(&rec.Call, unrepeated)
	p.labels(rec)
	p.moments(&rec.Due, &rec.Ready, &rec.Sent, &rec.Written, &rec.End)
	number(p, &rec.Held)
	number(p, &rec.Resent)
	number(p, &rec.Retries)
	number(p, &rec.LastTry)
	number(p, &rec.Conn.Resolve)
	number(p, &rec.Conn.Connect)
	number(p, &rec.Conn.TLS)
	number(p, &rec.Merged)
	number(p, &rec.Size)
	number(p, &rec.Status)
	p.text(&rec.ContentType, ofContentType)
	p.text(&rec.RetryAfter, ofRetryAfter)
	number(p, &rec.Folded)
	number(p, &rec.Cut)
	p.tokens(&rec.In)
	p.tokens(&rec.Out)
	number(p, &rec.Asked)
	number(p, &rec.Cached)
	p.text(&rec.Finish, ofFinish)
	p.marks(rec)
	p.events(rec)
	p.tail(rec)
	p.failure(rec)
}

// number packs an integer. Most fit into a byte.
func number[T ~int | ~int64 | ~uint8](p *packer, v *T) {
	switch {
	case !p.reading:
		p.buf = binary.AppendVarint(p.buf, int64(*v))
	case p.at < len(p.buf) && p.buf[p.at] < 0x80:
		b := int64(p.buf[p.at])
		*v = T(b>>1 ^ -(b & 1))
		p.at++
	default:
		n, size := binary.Varint(p.buf[p.at:])
		if size <= 0 {
			p.fail()
			return
		}
		*v = T(n)
		p.at += size
	}
}

// fail ends reading: nothing is left.
func (p *packer) fail() { p.failed, p.at = true, len(p.buf) }

// length packs how many elements follow, of which each takes a byte or more.
func (p *packer) length(n int) int {
	if number(p, &n); n < 0 || p.reading && n > len(p.buf)-p.at {
		p.fail()
		return 0
	}
	return n
}

// moments packs moments as differences, most of which are small.
func (p *packer) moments(list ...*time.Duration) {
	var last time.Duration
	for _, t := range list {
		since := *t - last
		number(p, &since)
		last += since
		*t = last
	}
}

func (p *packer) hash(v *uint64) {
	switch {
	case !p.reading:
		p.buf = binary.LittleEndian.AppendUint64(p.buf, *v)
	case len(p.buf)-p.at < 8:
		p.fail()
	default:
		*v = binary.LittleEndian.Uint64(p.buf[p.at:])
		p.at += 8
	}
}

func (p *packer) flags(list ...*bool) {
	var bits uint8
	for i, f := range list {
		if *f {
			bits |= 1 << i
		}
	}
	number(p, &bits)
	for i, f := range list {
		*f = bits>>i&1 == 1
	}
}

// text packs a string, which is likely to be the last one of its kind again.
func (p *packer) text(s *string, of int) {
	n := p.length(len(*s))
	if !p.reading {
		p.buf = append(p.buf, *s...)
		return
	}
	b := p.buf[p.at : p.at+n]
	p.at += n
	if of == unrepeated {
		*s = string(b)
	} else {
		*s = repeated(&p.lines.repeats[of], b)
	}
}

func (p *packer) labels(rec *Record) {
	n := p.length(len(rec.Labels))
	for i := range n {
		if p.reading {
			rec.Labels = append(rec.Labels, [2]string{})
		}
		p.text(&rec.Labels[i][0], unrepeated)
		p.text(&rec.Labels[i][1], unrepeated)
	}
}

func (p *packer) tokens(t *Tokens) {
	number(p, &t.N)
	number(p, &t.Source)
	number(p, &t.Local)
	number(p, &t.Claimed)
}

func (p *packer) marks(rec *Record) {
	n := p.length(len(rec.Marks))
	var last Mark
	for i := range n {
		if p.reading {
			rec.Marks = append(rec.Marks, Mark{})
		}
		m := &rec.Marks[i]
		off, at, delay := m.Off-last.Off, m.User-last.User, m.User-m.Kernel
		number(p, &off)
		number(p, &at)
		number(p, &delay)
		last.Off += off
		last.User += at
		m.Off, m.User, m.Kernel = last.Off, last.User, last.User-delay
	}
}

func (p *packer) events(rec *Record) {
	n := p.length(len(rec.Events))
	last := 0
	for i := range n {
		if p.reading {
			rec.Events = append(rec.Events, Event{})
		}
		e := &rec.Events[i]
		since := e.Mark - last
		number(p, &since)
		number(p, &e.Label)
		number(p, &e.Text)
		number(p, &e.Tokens)
		p.flags(&e.Merged)
		last += since
		if e.Mark = last; last < 0 || last >= len(rec.Marks) || e.Text < 0 {
			p.fail()
			return
		}
	}
}

// tail packs what is kept of a stream that was too long as the JSON that files have of it: such
// streams are rare.
func (p *packer) tail(rec *Record) {
	s := string(appendTail(nil, rec.Tail))
	if p.text(&s, unrepeated); !p.reading || s == "" {
		return
	}
	scan := &p.lines.scan
	scan.Reset([]byte("{" + s[1:] + "}"))
	scan.Object()
	scan.Key()
	if rec.Tail = p.lines.tail(); scan.Err() != nil {
		p.failed = true
	}
}

func (p *packer) failure(rec *Record) {
	has := rec.Failure != nil
	if p.flags(&has); !has {
		return
	}
	if p.reading {
		rec.Failure = new(Failure)
	}
	f := rec.Failure
	p.text((*string)(&f.Class), unrepeated)
	number(p, &f.Status)
	p.text(&f.Message, unrepeated)
	number(p, &f.At)
}
