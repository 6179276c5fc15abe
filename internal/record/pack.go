package record

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// What a packed request has beside the fields that all have.
const (
	packedKind = 1 << iota // the fields that most requests have like the one before
	packedLabels
	packedTail
	packedFailure
	packedBlur
)

// pack appends a request to b in binary, without texts and bodies: what it has like the one before is
// left out, and times are differences. unpack reads the same fields in the same order. It reports
// whether the request is of the same kind as the one before.
func pack(b []byte, rec, last *Record) (packed []byte, alike bool) {
	var has byte
	if alike = rec.like(last); !alike {
		has |= packedKind
	}
	if len(rec.Labels) > 0 {
		has |= packedLabels
	}
	if rec.Tail != nil {
		has |= packedTail
	}
	if rec.Failure != nil {
		has |= packedFailure
	}
	if slices.ContainsFunc(rec.Marks, func(m Read) bool { return m.Blur != 0 }) {
		has |= packedBlur
	}
	b = append(b, has)
	if !alike {
		b = packKind(b, rec)
	}
	b = binary.AppendVarint(b, rec.Seq-last.Seq)
	b = binary.AppendVarint(b, int64(rec.Due-last.Due))
	b = binary.AppendVarint(b, int64(rec.Ready-rec.Due))
	b = binary.AppendVarint(b, int64(rec.Sent-rec.Ready))
	b = binary.AppendVarint(b, int64(rec.Written-rec.Sent))
	b = binary.AppendVarint(b, int64(rec.End-rec.Written))
	b = binary.AppendVarint(b, int64(rec.Slot))
	b = binary.AppendVarint(b, int64(rec.Size))
	b = binary.AppendVarint(b, int64(rec.RequestedTokens))
	b = binary.AppendVarint(b, int64(rec.In.N))
	b = binary.AppendVarint(b, int64(rec.In.Local))
	b = binary.AppendVarint(b, int64(rec.Out.N))
	b = binary.LittleEndian.AppendUint64(b, rec.Prompt)
	b = packLists(b, rec)
	if has&packedBlur != 0 {
		for i := range rec.Marks {
			b = binary.AppendVarint(b, rec.Marks[i].signedBlur())
		}
	}
	if len(rec.Labels) > 0 {
		b = binary.AppendVarint(b, int64(len(rec.Labels)))
		for _, l := range rec.Labels {
			b = packText(packText(b, l[0]), l[1])
		}
	}
	if rec.Tail != nil { // as the JSON that files have of it: such streams are rare
		b = packText(b, string(appendTail(nil, rec.Tail)))
	}
	if f := rec.Failure; f != nil {
		b = packText(b, string(f.Class))
		b = binary.AppendVarint(b, int64(f.Status))
		b = packText(b, f.Message)
		b = binary.AppendVarint(b, int64(f.At))
	}
	return b, alike
}

// like reports whether a record is of the same kind as another: all that packKind packs is the same.
func (r *Record) like(o *Record) bool {
	return r.Stage == o.Stage && r.Phase == o.Phase && r.Target == o.Target && r.Worker == o.Worker &&
		r.Session == o.Session && r.Turn == o.Turn && r.Ends == o.Ends && r.Model == o.Model && r.Call == o.Call &&
		r.Think == o.Think && r.Held == o.Held && r.Resent == o.Resent && r.Retries == o.Retries && r.LastTry == o.LastTry &&
		r.Conn == o.Conn && r.Status == o.Status && r.ContentType == o.ContentType && r.RetryAfter == o.RetryAfter &&
		r.Streamed == o.Streamed && r.Unterminated == o.Unterminated && r.Sparse == o.Sparse && r.Cut == o.Cut &&
		r.In.Source == o.In.Source && r.In.Claimed == o.In.Claimed && r.In.Expected == o.In.Expected && r.Out.Source == o.Out.Source &&
		r.Out.Local == o.Out.Local &&
		r.Out.Claimed == o.Out.Claimed && r.Out.Expected == o.Out.Expected && r.Cached == o.Cached && r.Finish == o.Finish
}

// packKind appends the fields that most requests have like the one before.
func packKind(b []byte, rec *Record) []byte {
	var bits byte
	for i, f := range [...]bool{rec.Ends, rec.Conn.Reused, rec.Streamed, rec.Unterminated, rec.Sparse} {
		if f {
			bits |= 1 << i
		}
	}
	b = append(b, bits)
	for _, n := range [...]int64{
		int64(rec.Stage), int64(rec.Phase), int64(rec.Target), int64(rec.Worker), int64(rec.Turn), int64(rec.Think), int64(rec.Held),
		int64(rec.Resent), int64(rec.Retries),
		int64(rec.LastTry), int64(rec.Conn.Resolve), int64(rec.Conn.Connect), int64(rec.Conn.TLS), int64(rec.Status), int64(rec.Cut),
		int64(rec.In.Source), int64(rec.In.Claimed), int64(rec.In.Expected), int64(rec.Out.Source), int64(rec.Out.Local),
		int64(rec.Out.Claimed), int64(rec.Out.Expected), int64(rec.Cached),
	} {
		b = binary.AppendVarint(b, n)
	}
	for _, s := range [...]string{rec.Session, rec.Model, rec.Call, rec.ContentType, rec.RetryAfter, rec.Finish} {
		b = packText(b, s)
	}
	return b
}

// packLists appends reads and events. The last read ends the response as a rule.
func packLists(b []byte, rec *Record) []byte {
	b = binary.AppendVarint(b, int64(len(rec.Marks)))
	last := Read{Kernel: rec.End}
	for i := range rec.Marks {
		m := &rec.Marks[i]
		b = binary.AppendVarint(b, int64(m.Off-last.Off))
		b = binary.AppendVarint(b, int64(m.Kernel-last.Kernel))
		b = binary.AppendVarint(b, int64(m.User-m.Kernel))
		last = *m
	}
	b = binary.AppendVarint(b, int64(len(rec.Events)))
	read := 0
	for i := range rec.Events {
		e := &rec.Events[i]
		label := int64(e.Label) << 1
		if e.Merged {
			label |= 1
		}
		b = binary.AppendVarint(b, int64(e.Mark-read))
		b = binary.AppendVarint(b, label)
		b = binary.AppendVarint(b, int64(e.Text))
		b = binary.AppendVarint(b, int64(e.Tokens))
		read = e.Mark
	}
	return b
}

func packText(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }

var errDigest = errors.New("a request in a digest cannot be read: it is damaged, or of another version")

// unpack reads a record over the one before it, whose buffers are reused.
func (d *lineDecoder) unpack(b []byte, rec *Record) error {
	u := unpacker{b: b}
	has := u.byte()
	if has&packedKind != 0 {
		u.kind(rec)
	}
	rec.Seq += u.int()
	rec.Due += u.time()
	rec.Ready = rec.Due + u.time()
	rec.Sent = rec.Ready + u.time()
	rec.Written = rec.Sent + u.time()
	rec.End = rec.Written + u.time()
	rec.Slot = int(u.int())
	rec.Size = int(u.int())
	rec.RequestedTokens = int(u.int())
	rec.In.N = int(u.int())
	rec.In.Local = int(u.int())
	rec.Out.N = int(u.int())
	rec.Prompt = u.hash()
	u.lists(rec)
	if has&packedBlur != 0 {
		for i := range rec.Marks {
			rec.Marks[i].setBlur(u.int())
		}
	}
	rec.Labels, rec.Tail, rec.Failure = nil, nil, nil
	if has&packedLabels != 0 {
		for range u.length() {
			rec.Labels = append(rec.Labels, [2]string{u.text(), u.text()})
		}
	}
	if has&packedTail != 0 {
		if rec.Tail = d.unpackTail(u.text()); rec.Tail == nil {
			u.fail()
		}
	}
	if has&packedFailure != 0 {
		rec.Failure = &Failure{Class: Class(u.text()), Status: int(u.int()), Message: u.text(), At: u.time()}
	}
	if u.failed || len(u.b) > 0 {
		return errDigest
	}
	return nil
}

// unpackTail reads the end of a long stream; nil means it is damaged.
func (d *lineDecoder) unpackTail(s string) *Tail {
	if s == "" {
		return nil
	}
	d.scan.Reset([]byte("{" + s[1:] + "}"))
	d.scan.Object()
	d.scan.Key()
	tail := d.tail()
	if d.scan.Err() != nil {
		return nil
	}
	return tail
}

type unpacker struct {
	b      []byte // what is left
	failed bool
}

// fail ends reading: nothing is left.
func (u *unpacker) fail() { u.b, u.failed = nil, true }

func (u *unpacker) kind(rec *Record) {
	bits := u.byte()
	for i, f := range [...]*bool{&rec.Ends, &rec.Conn.Reused, &rec.Streamed, &rec.Unterminated, &rec.Sparse} {
		*f = bits>>i&1 == 1
	}
	rec.Stage, rec.Phase, rec.Target, rec.Worker, rec.Turn = int(u.int()), Phase(u.int()), int(u.int()), int(u.int()), int(u.int())
	rec.Think, rec.Held, rec.Resent, rec.Retries, rec.LastTry = u.time(), u.time(), int(u.int()), int(u.int()), u.time()
	rec.Conn.Resolve, rec.Conn.Connect, rec.Conn.TLS = u.time(), u.time(), u.time()
	rec.Status, rec.Cut = int(u.int()), int(u.int())
	rec.In.Source, rec.In.Claimed, rec.In.Expected = Source(u.int()), int(u.int()), int(u.int())
	rec.Out.Source, rec.Out.Local, rec.Out.Claimed = Source(u.int()), int(u.int()), int(u.int())
	rec.Out.Expected, rec.Cached = int(u.int()), int(u.int())
	for _, s := range [...]*string{&rec.Session, &rec.Model, &rec.Call, &rec.ContentType, &rec.RetryAfter, &rec.Finish} {
		*s = u.text()
	}
}

func (u *unpacker) lists(rec *Record) {
	rec.Marks, rec.Events = rec.Marks[:0], rec.Events[:0]
	last := Read{Kernel: rec.End}
	for range u.length() {
		last.Off += int(u.int())
		last.Kernel += u.time()
		last.User = last.Kernel + u.time()
		rec.Marks = append(rec.Marks, last)
	}
	read := 0
	for range u.length() {
		read += int(u.int())
		label, text, tokens := u.int(), int(u.int()), int(u.int())
		if read < 0 || read >= len(rec.Marks) || text < 0 {
			u.fail()
			return
		}
		rec.Events = append(rec.Events, Event{Mark: read, Label: EventKind(label >> 1), Text: text, Tokens: tokens, Merged: label&1 == 1})
	}
}

func (u *unpacker) byte() byte {
	if len(u.b) == 0 {
		u.fail()
		return 0
	}
	c := u.b[0]
	u.b = u.b[1:]
	return c
}

// int reads a number. Most fit into a byte.
func (u *unpacker) int() int64 {
	if len(u.b) > 0 && u.b[0] < 0x80 {
		n := int64(u.b[0])
		u.b = u.b[1:]
		return n>>1 ^ -(n & 1)
	}
	return u.long()
}

func (u *unpacker) long() int64 {
	n, size := binary.Varint(u.b)
	if size <= 0 {
		u.fail()
		return 0
	}
	u.b = u.b[size:]
	return n
}

func (u *unpacker) time() time.Duration { return time.Duration(u.int()) }

func (u *unpacker) hash() uint64 {
	if len(u.b) < 8 {
		u.fail()
		return 0
	}
	n := binary.LittleEndian.Uint64(u.b)
	u.b = u.b[8:]
	return n
}

// length reads how many elements follow, of which each takes a byte or more.
func (u *unpacker) length() int {
	n := u.int()
	if n < 0 || n > int64(len(u.b)) {
		u.fail()
		return 0
	}
	return int(n)
}

func (u *unpacker) text() string {
	n := u.length()
	s := string(u.b[:n])
	u.b = u.b[n:]
	return s
}
