package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A digest is what a record file says, for a process that works out metrics of what others have
// recorded: lines as they are, but for requests, which are in binary and without texts and bodies.
// A digest is written and read in a fraction of the time that lines of JSON take. It travels in
// front of its frame, as a frame that readers of zstd skip.
const (
	digestMagic  = 0x184D2A5D // of a frame to be skipped
	digestHeader = 4 + 4 + 8  // magic, length of the rest, latest end of a request
)

// AppendDigest appends a request to a digest.
func AppendDigest(dst []byte, rec *Record) []byte {
	at := len(dst)
	p := packer{buf: append(dst, 0, 0, 0, 0, 0)} // room for the length, and what no line begins with
	p.record(rec)
	binary.LittleEndian.PutUint32(p.buf[at:], uint32(len(p.buf)-at-4))
	return p.buf
}

// AppendDigestLine appends a line that is not a request's to a digest.
func AppendDigestLine(dst, line []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(line)))
	return append(dst, line...)
}

// sealDigest makes a frame of a digest that was put behind room for a header.
func sealDigest(digest []byte, latest time.Duration) {
	binary.LittleEndian.PutUint32(digest, digestMagic)
	binary.LittleEndian.PutUint32(digest[4:], uint32(len(digest)-8))
	binary.LittleEndian.PutUint64(digest[8:], uint64(latest))
}

// Digest is what travels in front of a frame.
type Digest struct {
	Latest  time.Duration // end of a request in it; 0: it has none
	entries []byte
}

// SplitDigest takes a frame and its digest apart.
func SplitDigest(b []byte) (d Digest, frame []byte, err error) {
	if len(b) < digestHeader || binary.LittleEndian.Uint32(b) != digestMagic {
		return d, b, errors.New("a frame of records comes without its digest")
	}
	end := 8 + int64(binary.LittleEndian.Uint32(b[4:]))
	if end < digestHeader || end > int64(len(b)) {
		return d, b, fmt.Errorf("the digest of a frame has %d bytes, and there are %d", end, len(b))
	}
	return Digest{Latest: time.Duration(binary.LittleEndian.Uint64(b[8:])), entries: b[digestHeader:end]}, b[end:], nil
}

// DigestReader reads the digests of one file, one after the other.
type DigestReader struct{ parser }

// Read hands the lines of a digest to f.
func (r *DigestReader) Read(d Digest, f func(Line) error) error {
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
	if err := r.lines.unpack(entry[1:], &r.rec); err != nil {
		return Line{}, err
	}
	r.open.end(&r.rec)
	return Line{Request: &r.rec}, nil
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
