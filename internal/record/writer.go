package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The kinds of lines, as a line's first field names them.
const (
	kindHeader   = "header"
	kindRequest  = "request"
	kindBegun    = "begun"
	kindUnderway = "underway"
	kindStage    = "stage"
	kindHealth   = "health"
	kindEdge     = "edge"
	kindProbe    = "probe"
	kindFigures  = "figures"
	kindSession  = "session"
)

// window is how far back the compressor looks for repetitions: more costs memory
// and gains little, because what repeats in records is near.
const window = 1 << 20

// piece is how much is compressed at a time. Compressing keeps its core until it is
// done, and whoever has a request to send from that core waits: a piece takes a tenth
// of a millisecond.
const piece = 16 << 10

// Writer writes a record file. Its methods may be called from many goroutines.
// After an error every call returns that error.
type Writer struct {
	mu    sync.Mutex
	z     *zstd.Encoder
	fresh int // bytes that z holds uncompressed
	err   error
}

// NewWriter starts a record file on w with its header, which is readable in w when
// it returns. An empty Schema in h is filled in.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("start record file: %w", err)
	}
	if h.Schema == "" {
		h.Schema = Schema
	}
	out := &Writer{z: z}
	if err := out.line(kindHeader, h); err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return out, nil
}

// Append writes whole lines made by AppendJSON and keeps nothing of them.
func (w *Writer) Append(lines []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(lines) > 0 && w.err == nil {
		n := min(len(lines), piece-w.fresh)
		_, err := w.z.Write(lines[:n])
		lines, w.fresh = lines[n:], w.fresh+n
		if err == nil && w.fresh == piece {
			err = w.z.Flush()
			w.fresh = 0
		}
		if err != nil {
			w.err = fmt.Errorf("write record file: %w", err)
		}
	}
	return w.err
}

// Stage writes how a stage went.
func (w *Writer) Stage(m StageMark) error { return w.line(kindStage, m) }

// Health writes a sample of the client's own condition.
func (w *Writer) Health(h Health) error { return w.line(kindHealth, h) }

// Edge writes where a measurement window begins or ends.
func (w *Writer) Edge(e Edge) error { return w.line(kindEdge, e) }

// Probe writes what the servers said of themselves.
func (w *Writer) Probe(p Probe) error { return w.line(kindProbe, p) }

// Figures writes what was said of a stretch of time.
func (w *Writer) Figures(f Figures) error { return w.line(kindFigures, f) }

// Session writes how a recorded session was played.
func (w *Writer) Session(m SessionMark) error { return w.line(kindSession, m) }

// line writes a value whose JSON form is a non-empty object.
func (w *Writer) line(kind string, v any) error {
	object, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s line: %w", kind, err)
	}
	line := append([]byte(`{"kind":"`+kind+`",`), object[1:]...)
	return w.Append(append(line, '\n'))
}

// Flush makes all that was written so far readable by whoever opens the file
// later, even if nothing more is ever written.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.fresh = 0
	if err := w.z.Flush(); err != nil {
		w.err = fmt.Errorf("flush record file: %w", err)
	}
	return w.err
}

// Close ends the file properly, which tells it from that of a killed run. It does
// not close the underlying writer.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(w.err, errClosed) {
		return nil
	}
	err := w.err
	if cerr := w.z.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("end record file: %w", cerr)
	}
	w.err = errClosed
	return err
}
