package record

import (
	"encoding/binary"
	"errors"
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

// unpack reads a record over the one before it, whose buffers are reused.
func (d *lineDecoder) unpack(b []byte, rec *Record) error {
	rec.Marks, rec.Events = rec.Marks[:0], rec.Events[:0]
	rec.Labels, rec.Tail, rec.Failure = nil, nil, nil
	p := packer{buf: b, reading: true, lines: d}
	p.record(rec, rec)
	if p.failed || p.at != len(p.buf) {
		return errDigest
	}
	return nil
}

// record packs everything but texts and bodies. What a request has like the one before is left out.
func (p *packer) record(rec, last *Record) (alike bool) {
	alike = !p.reading && rec.like(last)
	labels, tail, failed := len(rec.Labels) > 0, rec.Tail != nil, rec.Failure != nil
	if p.flags(&alike, &labels, &tail, &failed); !alike {
		p.kind(rec)
	}
	difference(p, &rec.Seq, last.Seq)
	difference(p, &rec.Due, last.Due)
	difference(p, &rec.Ready, rec.Due)
	difference(p, &rec.Sent, rec.Ready)
	difference(p, &rec.Written, rec.Sent)
	difference(p, &rec.End, rec.Written)
	number(p, &rec.Slot)
	p.hash(&rec.Prompt)
	number(p, &rec.Size)
	number(p, &rec.Asked)
	number(p, &rec.In.N)
	number(p, &rec.In.Local)
	number(p, &rec.Out.N)
	p.marks(rec)
	p.events(rec)
	if labels {
		p.labels(rec)
	}
	if tail {
		p.tail(rec)
	}
	if failed {
		p.failure(rec)
	}
	return alike
}

// like reports whether a record is of the same kind as another: all that kind packs is the same.
func (r *Record) like(o *Record) bool {
	return r.Stage == o.Stage && r.Phase == o.Phase && r.Target == o.Target && r.Worker == o.Worker &&
		r.Session == o.Session && r.Turn == o.Turn && r.Ends == o.Ends && r.Model == o.Model && r.Call == o.Call &&
		r.Held == o.Held && r.Resent == o.Resent && r.Retries == o.Retries && r.LastTry == o.LastTry &&
		r.Conn == o.Conn && r.Merged == o.Merged && r.Status == o.Status && r.ContentType == o.ContentType && r.RetryAfter == o.RetryAfter &&
		r.Streamed == o.Streamed && r.Unended == o.Unended && r.Sparse == o.Sparse && r.Cut == o.Cut &&
		r.In.Source == o.In.Source && r.In.Claimed == o.In.Claimed && r.Out.Source == o.Out.Source && r.Out.Local == o.Out.Local &&
		r.Out.Claimed == o.Out.Claimed && r.Cached == o.Cached && r.Finish == o.Finish
}

// kind packs the fields that most requests have like the one before.
func (p *packer) kind(rec *Record) {
	p.flags(&rec.Ends, &rec.Conn.Reused, &rec.Streamed, &rec.Unended, &rec.Sparse)
	number(p, &rec.Stage)
	number(p, &rec.Phase)
	number(p, &rec.Target)
	number(p, &rec.Worker)
	p.text(&rec.Session)
	number(p, &rec.Turn)
	p.text(&rec.Model)
	p.text(&rec.Call)
	number(p, &rec.Held)
	number(p, &rec.Resent)
	number(p, &rec.Retries)
	number(p, &rec.LastTry)
	number(p, &rec.Conn.Resolve)
	number(p, &rec.Conn.Connect)
	number(p, &rec.Conn.TLS)
	number(p, &rec.Merged)
	number(p, &rec.Status)
	p.text(&rec.ContentType)
	p.text(&rec.RetryAfter)
	number(p, &rec.Cut)
	number(p, &rec.In.Source)
	number(p, &rec.In.Claimed)
	number(p, &rec.Out.Source)
	number(p, &rec.Out.Local)
	number(p, &rec.Out.Claimed)
	number(p, &rec.Cached)
	p.text(&rec.Finish)
}

// difference packs a number as what it is beyond another, which is little as a rule.
func difference[T ~int64](p *packer, v *T, from T) {
	d := *v - from
	number(p, &d)
	*v = from + d
}

// number packs an integer. Most fit into a byte.
func number[T ~int | ~int64 | ~uint8](p *packer, v *T) {
	switch {
	case !p.reading && -64 <= int64(*v) && int64(*v) < 64:
		p.buf = append(p.buf, byte(int64(*v)<<1^int64(*v)>>63))
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

// text packs a string. One that is there again is not made again.
func (p *packer) text(s *string) {
	n := p.length(len(*s))
	if !p.reading {
		p.buf = append(p.buf, *s...)
		return
	}
	if b := p.buf[p.at : p.at+n]; *s != string(b) {
		*s = string(b)
	}
	p.at += n
}

func (p *packer) labels(rec *Record) {
	n := p.length(len(rec.Labels))
	for i := range n {
		if p.reading {
			rec.Labels = append(rec.Labels, [2]string{})
		}
		p.text(&rec.Labels[i][0])
		p.text(&rec.Labels[i][1])
	}
}

func (p *packer) marks(rec *Record) {
	n := p.length(len(rec.Marks))
	last := Mark{User: rec.Sent}
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
	if p.text(&s); !p.reading {
		return
	}
	if s == "" {
		p.fail()
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
	if p.reading {
		rec.Failure = new(Failure)
	}
	f := rec.Failure
	p.text((*string)(&f.Class))
	number(p, &f.Status)
	p.text(&f.Message)
	number(p, &f.At)
}
