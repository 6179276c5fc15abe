package record

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	// frame is how much is compressed into one frame, and so how far back the compressor
	// looks for repetitions: more costs memory and gains little, because what repeats in
	// records is near.
	frame = 512 << 10
	// piece is how much is compressed at a time. Compressing keeps its core until it is
	// done, and whoever has a request to send from that core waits: a piece takes a tenth
	// of a millisecond.
	piece = 16 << 10
)

// requestsMark stands in front of a frame of lines about requests alone, so that who wants the others
// need not decompress it. It is a frame that readers of zstd pass over.
const requestsMark = "\x5e\x2a\x4d\x18\x00\x00\x00\x00"

// Encoder compresses lines for a record file, in frames that can be read for themselves.
// Several that write to one file do not wait for one another. Each is used from one goroutine
// at a time.
type Encoder struct {
	w     *Writer
	mark  string        // in front of each frame
	z     *zstd.Encoder // nil: not made yet
	out   bytes.Buffer  // the frame so far
	fresh int           // bytes that z holds uncompressed
	size  int           // bytes in the frame, before compression

	digest digester // of the frame
}

// Encoder makes one more for the file, for lines about requests.
func (w *Writer) Encoder() *Encoder { return &Encoder{w: w, mark: requestsMark} }

// Digest adds a request to the digest of the frame under way. Its line is to be appended before
// the frame is flushed.
func (e *Encoder) Digest(rec *Record) { e.digest.request(rec) }

// DigestLine does the same with a line that is not a request's.
func (e *Encoder) DigestLine(line []byte) { e.digest.line(line) }

// Append compresses whole lines made by AppendJSON and keeps nothing of them.
func (e *Encoder) Append(lines []byte) error {
	err := e.w.failed()
	if err == nil && e.z == nil {
		e.out.WriteString(e.mark)
		e.z, err = zstd.NewWriter(&e.out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(frame))
	}
	for len(lines) > 0 && err == nil {
		n := min(len(lines), piece-e.fresh)
		_, err = e.z.Write(lines[:n])
		lines, e.fresh, e.size = lines[n:], e.fresh+n, e.size+n
		if err == nil && e.fresh == piece {
			err = e.z.Flush()
			e.fresh = 0
		}
	}
	if err != nil {
		e.digest = digester{} // of a frame that will never be
		return fmt.Errorf("compress records: %w", err)
	}
	if e.size >= frame {
		return e.Flush()
	}
	return nil
}

// Flush ends the frame and hands it to the file.
func (e *Encoder) Flush() error {
	if e.size == 0 {
		return e.w.failed()
	}
	e.fresh, e.size = 0, 0
	if err := e.z.Close(); err != nil {
		return fmt.Errorf("compress records: %w", err)
	}
	err := e.w.write(e.digest.before(e.out.Bytes()))
	if e.out.Reset(); e.out.Cap() > 2*frame { // a line was larger than a frame
		e.out = bytes.Buffer{}
	}
	e.out.WriteString(e.mark)
	e.z.Reset(&e.out)
	return err
}
