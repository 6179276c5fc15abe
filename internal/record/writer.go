package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
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
	kindPower    = "power"
	kindSession  = "session"
	kindEnd      = "end"
	kindWorkers  = "workers"
)

// Writer writes a record file: frames of zstd, one behind the other. Its methods may be
// called concurrently. After an error every call returns that error.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	err error

	ownMu   sync.Mutex
	own     *Encoder // of the lines that are written here
	digests bool     // they have a digest
}

// Create makes a record file. It holds what a model was asked and wrote, and is its owner's to
// read alone.
func Create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// NewWriter starts a record file on w with its header, which is readable in w when
// it returns. An empty Schema in h is filled in.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{w: w}
	out.own = &Encoder{w: out}
	if h.Schema == "" {
		h.Schema = Schema
	}
	if err := errors.Join(out.line(kindHeader, h), out.Flush()); err != nil {
		return nil, err
	}
	return out, nil
}

// Digests has every frame from now on come with a digest. Encoders are given theirs.
func (w *Writer) Digests() {
	w.ownMu.Lock()
	defer w.ownMu.Unlock()
	w.digests = true
}

func (w *Writer) write(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		if _, err := w.w.Write(frame); err != nil {
			w.err = fmt.Errorf("write record file: %w", err)
		}
	}
	return w.err
}

// Frame writes a frame that another Writer's encoder has made.
func (w *Writer) Frame(frame []byte) error { return w.write(frame) }

func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Append writes whole lines made by AppendJSON and keeps nothing of them.
func (w *Writer) Append(lines []byte) error {
	w.ownMu.Lock()
	defer w.ownMu.Unlock()
	return w.own.Append(lines)
}

// Stage writes how a stage went.
func (w *Writer) Stage(m StageSummary) error { return w.line(kindStage, m) }

// Workers writes who sends the requests.
func (w *Writer) Workers(list []WorkerInfo) error { return w.line(kindWorkers, Workers{list}) }

// Health writes a sample of the client's own condition.
func (w *Writer) Health(h Health) error { return w.line(kindHealth, h) }

// Edge writes where a measurement window begins or ends.
func (w *Writer) Edge(e Edge) error { return w.line(kindEdge, e) }

// Probe writes what the servers said of themselves.
func (w *Writer) Probe(p Probe) error { return w.line(kindProbe, p) }

// Figures writes what was said of a stretch of time.
func (w *Writer) Figures(f Figures) error { return w.line(kindFigures, f) }

// Power writes what was read of the power of GPUs.
func (w *Writer) Power(p Power) error { return w.line(kindPower, p) }

// Session writes how a recorded session was played.
func (w *Writer) Session(m SessionSummary) error { return w.line(kindSession, m) }

func (w *Writer) line(kind string, v any) error {
	line, err := appendLine(nil, kind, v)
	if err != nil {
		return err
	}
	w.ownMu.Lock()
	defer w.ownMu.Unlock()
	if w.digests {
		w.own.DigestLine(line)
	}
	return w.own.Append(line)
}

// appendLine adds a value whose JSON form is an object.
func appendLine(dst []byte, kind string, v any) ([]byte, error) {
	object, err := json.Marshal(v)
	if err != nil {
		return dst, fmt.Errorf("encode %s line: %w", kind, err)
	}
	dst = append(append(append(dst, `{"kind":"`...), kind...), '"')
	if len(object) > len("{}") {
		dst = append(dst, ',')
	}
	return append(append(dst, object[1:]...), '\n'), nil
}

// Flush makes all that was written here so far readable by whoever opens the file
// later, even if nothing more is ever written. Encoders have a Flush of their own.
func (w *Writer) Flush() error {
	w.ownMu.Lock()
	defer w.ownMu.Unlock()
	return w.own.Flush()
}

// Close ends the file properly, which tells it from that of a killed run. It does
// not close the underlying writer. Encoders are flushed before.
func (w *Writer) Close() error {
	err := w.failed()
	if errors.Is(err, errClosed) {
		return nil
	}
	if err == nil {
		err = errors.Join(w.line(kindEnd, struct{}{}), w.Flush())
	}
	w.mu.Lock()
	w.err = errClosed
	w.mu.Unlock()
	return err
}
