package record

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/inferometer/inferometer/internal/lib/frames"
)

// ErrTruncated says that a record file stops in the middle, as that of a killed
// run does. All lines before it have been read.
var ErrTruncated = errors.New("record file ends in the middle: its run was killed or is still going on")

var errClosed = errors.New("record file is closed")

// maxLine bounds one line, so that a file of nonsense does not eat all memory.
const maxLine = 1 << 30

// readBytes is how much of a file is read at a time.
const readBytes = 256 << 10

// zstdMagic begins every zstd frame.
const zstdMagic = "\x28\xb5\x2f\xfd"

// Line is one line of a record file: exactly one of its fields is set.
type Line struct {
	Header  *Header
	Request *Record // valid until the next call of Next
	Stage   *StageSummary
	Health  *Health
	Edge    *Edge
	Probe   *Probe
	Figures *Figures
	Power   *Power
	Session *SessionSummary
	Workers *Workers
}

// Reader reads a record file line by line. It takes zstd and plain JSON lines,
// with or without a header, so that parts of a file can be read too.
type Reader struct {
	src  io.Reader
	z    *frames.Decompressor // that src is; nil: it is none
	file io.Closer            // that src reads; nil: it belongs to somebody else
	most int64                // bytes of a line

	atOnce int // bytes that are read at a time

	// spare takes the lines that have been handed out, when the buffer is nearly full of them, and gives
	// another buffer in their place; nil: what is read next is put over them.
	spare func(lines []byte) []byte

	buf        []byte // read and not yet handed out: buf[start:]
	start      int
	searched   int // bytes of buf[start:] known to hold no newline
	end        error
	lineNumber int
	failed     error

	parser
}

type parser struct {
	lines   lineDecoder
	rec     Record
	open    open
	openEnd bool // a header was read, and no end line yet

	besides bool    // requests are passed over
	bounds  *Bounds // of the numbers in lines, or nil
}

// NewReader reads lines from r.
func NewReader(r io.Reader) (*Reader, error) { return newReader(r, "") }

// newReader is NewReader, but for frames of which pass is in front: those are not read.
func newReader(r io.Reader, pass string) (*Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	out := &Reader{src: in, most: maxLine, atOnce: readBytes}
	if magic, _ := in.Peek(len(zstdMagic)); string(magic) == zstdMagic {
		z, err := frames.NewDecompressor(in, runtime.GOMAXPROCS(0), pass)
		if err != nil {
			return nil, fmt.Errorf("read record file: %w", err)
		}
		out.src, out.z = z, z
	}
	return out, nil
}

// Close ends reading.
func (r *Reader) Close() {
	if r.z != nil {
		r.z.Close()
	}
	if r.file != nil {
		r.file.Close()
	}
	r.failed, r.open = errClosed, open{}
}

// Next returns the next line. It ends with io.EOF, or with ErrTruncated where the
// file stops in the middle; ahead of those come the requests that were in flight there,
// which have failed with CutOff. Any other error names the line at fault. After an error
// it returns that error again.
func (r *Reader) Next() (Line, error) {
	if r.failed == nil {
		line, err := r.next()
		if err == nil {
			return line, nil
		}
		r.failed = err
		if errors.Is(err, io.EOF) || errors.Is(err, ErrTruncated) {
			r.open.finish()
		}
	}
	if rec, ok := r.open.next(r.failed); ok {
		return Line{Request: rec}, nil
	}
	return Line{}, r.failed
}

// next returns the next line that is not about requests in flight.
func (r *Reader) next() (Line, error) {
	for {
		text, err := r.line()
		if err != nil {
			return Line{}, err
		}
		line, err := r.parse(text)
		if err != nil {
			return Line{}, fmt.Errorf("line %d: %w", r.lineNumber, err)
		}
		if line != (Line{}) {
			return line, nil
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	for {
		rest := r.buf[r.start:]
		if i := bytes.IndexByte(rest[r.searched:], '\n'); i >= 0 {
			i += r.searched
			r.start += i + 1
			r.searched = 0
			r.lineNumber++
			return rest[:i], nil
		}
		r.searched = len(rest)
		if r.end != nil {
			return nil, r.finish(rest)
		}
		if int64(len(rest)) > r.most {
			return nil, fmt.Errorf("line %d is longer than %d bytes: it is not a record file, or limits.record of its plan.yaml must be raised", r.lineNumber+1, r.most)
		}
		r.fill()
	}
}

// finish says how the file ended, given what stands after the last newline.
func (r *Reader) finish(rest []byte) error {
	switch {
	case errors.Is(r.end, io.EOF) && len(rest) == 0 && !r.openEnd:
		return io.EOF
	case errors.Is(r.end, io.EOF) || errors.Is(r.end, io.ErrUnexpectedEOF):
		return ErrTruncated
	}
	return fmt.Errorf("read record file after line %d: %w", r.lineNumber, r.end)
}

// fill reads more bytes behind those that are left, growing the buffer for a line
// that does not fit.
func (r *Reader) fill() {
	switch {
	case r.start == 0:
	case r.spare == nil:
		r.buf = r.buf[:copy(r.buf, r.buf[r.start:])]
		r.start = 0
	case len(r.buf) > cap(r.buf)/2:
		r.buf = append(r.spare(r.buf[:r.start]), r.buf[r.start:]...)
		r.start = 0
	}
	if len(r.buf) == cap(r.buf) {
		bigger := make([]byte, len(r.buf), min(max(int64(r.atOnce), 2*int64(cap(r.buf))), max(r.most, int64(len(r.buf)))+1))
		copy(bigger, r.buf)
		r.buf = bigger
	}
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	r.end = err
}

// parse reads a line of any kind. Those about requests in flight are for the reader
// itself, and give an empty Line.
func (r *parser) parse(text []byte) (Line, error) {
	kind, err := kindOf(text)
	if err != nil {
		return Line{}, err
	}
	if r.besides && (kind == kindRequest || kind == kindBegun || kind == kindUnderway) {
		return Line{}, nil
	}
	switch kind {
	case kindRequest:
		err := r.lines.decode(text, &r.rec)
		if err == nil {
			err = r.bounds.request(&r.rec)
		}
		r.open.end(r.rec.Seq, r.rec.End)
		return Line{Request: &r.rec}, err
	case kindBegun:
		rec := new(Record)
		err := r.lines.decode(text, rec)
		if err == nil {
			err = r.bounds.request(rec)
		}
		r.open.begin(rec)
		return Line{}, err
	case kindUnderway:
		u := new(underway)
		if err := json.Unmarshal(text, u); err != nil {
			return Line{}, err
		}
		return Line{}, r.open.restore(u)
	case kindHeader:
		h := new(Header)
		err := json.Unmarshal(text, h)
		if err == nil && h.Schema != Schema {
			err = fmt.Errorf("the file's schema is %q, this program reads %q: report it with the version that wrote it (%s)", h.Schema, Schema, cmp.Or(h.Version, "it does not say which"))
		}
		r.openEnd = true
		return Line{Header: h}, err
	case kindEnd:
		r.openEnd = false
		return Line{}, nil
	}
	var line Line
	var into any
	switch kind {
	case kindStage:
		line.Stage = new(StageSummary)
		into = line.Stage
	case kindHealth:
		line.Health = &Health{Standstill: Never} // older files do not say
		into = line.Health
	case kindEdge:
		line.Edge = new(Edge)
		into = line.Edge
	case kindProbe:
		line.Probe = new(Probe)
		into = line.Probe
	case kindFigures:
		line.Figures = new(Figures)
		into = line.Figures
	case kindPower:
		line.Power = new(Power)
		into = line.Power
	case kindSession:
		line.Session = new(SessionSummary)
		into = line.Session
	case kindWorkers:
		line.Workers = new(Workers)
		into = line.Workers
	default:
		return Line{}, fmt.Errorf("unknown kind of line %q", kind)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return line, err
	}
	return line, r.bounds.line(&line)
}

// kindOf reads the kind from the start of a line. Written by hand for those of which there are many.
func kindOf(text []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(text, []byte(`{"kind":"`)); ok {
		for _, kind := range [...]string{kindRequest, kindBegun, kindUnderway} {
			if len(rest) > len(kind)+1 && string(rest[:len(kind)]) == kind && rest[len(kind)] == '"' && rest[len(kind)+1] == ',' {
				return kind, nil
			}
		}
	}
	var line struct{ Kind string }
	if err := json.Unmarshal(text, &line); err != nil {
		return "", err
	}
	return line.Kind, nil
}
