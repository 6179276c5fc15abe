package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A digest is what a record file says, for a process that works out metrics of what others have
// recorded: lines as they are, but for requests, which are in binary, without texts and bodies, and
// without what they have like the request before. It is written and read in a fraction of the time
// that lines of JSON take, and travels in front of its frame, as a frame that readers of zstd skip.
const (
	digestMagic  = 0x184D2A5D // of a frame to be skipped
	digestHeader = 4 + 4 + 8  // magic, length of the rest, latest end of a request
)

type digester struct {
	buf    []byte // behind room for the header; empty: there is none
	latest time.Duration
	last   Record // the request before, without its lists
}

func (d *digester) request(rec *Record) {
	d.begin()
	d.latest = max(d.latest, rec.End)
	at := len(d.buf)
	buf, alike := pack(append(d.buf, 0, 0, 0, 0, 0), rec, &d.last) // room for the length, and what no line begins with
	binary.LittleEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	d.buf = buf
	if !alike {
		d.last = *rec
		d.last.Marks, d.last.Events, d.last.Labels, d.last.Body, d.last.Text, d.last.RequestBody, d.last.Raw = nil, nil, nil, nil, nil, nil, nil
	}
	d.last.Seq, d.last.Due = rec.Seq, rec.Due
}

// line adds a line that is not a request's.
func (d *digester) line(line []byte) {
	d.begin()
	d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(len(line)))
	d.buf = append(d.buf, line...)
}

func (d *digester) begin() {
	if len(d.buf) == 0 {
		d.buf = append(d.buf, make([]byte, digestHeader)...)
	}
}

// before puts the digest in front of its frame, and begins another.
func (d *digester) before(frame []byte) []byte {
	if len(d.buf) == 0 {
		return frame
	}
	binary.LittleEndian.PutUint32(d.buf, digestMagic)
	binary.LittleEndian.PutUint32(d.buf[4:], uint32(len(d.buf)-8))
	binary.LittleEndian.PutUint64(d.buf[8:], uint64(d.latest))
	whole := append(d.buf, frame...)
	*d = digester{buf: whole[:0]}
	return whole
}

// FrameSummary is what travels in front of a frame.
type FrameSummary struct {
	Latest  time.Duration // end of a request in it; 0: it has none
	entries []byte
}

// SplitDigest takes a frame and its digest apart.
func SplitDigest(b []byte) (d FrameSummary, frame []byte, err error) {
	if len(b) < digestHeader || binary.LittleEndian.Uint32(b) != digestMagic {
		return d, b, errors.New("a frame of records comes without its digest")
	}
	end := 8 + int64(binary.LittleEndian.Uint32(b[4:]))
	if end < digestHeader || end > int64(len(b)) {
		return d, b, fmt.Errorf("the digest of a frame has %d bytes, and there are %d", end, len(b))
	}
	return FrameSummary{Latest: time.Duration(binary.LittleEndian.Uint64(b[8:])), entries: b[digestHeader:end]}, b[end:], nil
}

// DigestReader reads the digests of one file, one after the other.
type DigestReader struct {
	parser
	request Record
}

// Read hands the lines of a digest to f, which changes nothing in them.
func (r *DigestReader) Read(d FrameSummary, f func(Line) error) error {
	r.request = Record{Marks: r.request.Marks, Events: r.request.Events}
	for rest := d.entries; len(rest) > 0; {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return errors.New("a digest ends in the middle of an entry")
		}
		n := binary.LittleEndian.Uint32(rest)
		entry := rest[4 : 4+n]
		rest = rest[4+n:]
		line, err := r.entry(entry)
		if err == nil && line != (Line{}) {
			err = f(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *DigestReader) entry(entry []byte) (Line, error) {
	if len(entry) == 0 || entry[0] != 0 {
		return r.parse(entry)
	}
	if err := r.lines.unpack(entry[1:], &r.request); err != nil {
		return Line{}, err
	}
	r.open.end(r.request.Seq, r.request.End)
	return Line{Request: &r.request}, nil
}

// End hands the requests to f whose ends were not in the digests, as failed ones.
func (r *DigestReader) End(f func(*Record) error) error {
	r.open.finish()
	for {
		rec, ok := r.open.next(ErrTruncated)
		if !ok {
			return nil
		}
		if err := f(rec); err != nil {
			return err
		}
	}
}
