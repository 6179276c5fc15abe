package profileexport

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Writer writes a file request by request, so that a long run need not be in memory.
type Writer struct {
	out   *bufio.Writer
	doc   Document
	count int
	line  []byte
	err   error
}

// NewWriter begins a file with its first experiment. Of doc only what stands beside the
// experiments is used.
func NewWriter(w io.Writer, doc Document, load Load) *Writer {
	out := &Writer{out: bufio.NewWriterSize(w, 256<<10), doc: doc}
	out.line = append(out.line, `{"experiments":[`...)
	out.begin(load)
	return out
}

// Next ends the experiment, whose windows have these bounds, and begins another.
func (w *Writer) Next(windows []uint64, load Load) {
	w.end(windows)
	w.line = append(w.line, ',')
	w.begin(load)
}

func (w *Writer) begin(load Load) {
	w.count = 0
	w.line = fmt.Appendf(w.line, `{"experiment":{"mode":%s,"value":%s},"requests":[`, quoted(load.Mode), load.number())
	w.flush()
}

func (w *Writer) end(windows []uint64) {
	w.line = append(appendNumbers(append(w.line, `],"window_boundaries":`...), windows), '}')
}

// number is the value as Perf Analyzer writes it: a rate always with a fraction.
func (l Load) number() string {
	text := strconv.FormatFloat(l.Value, 'f', -1, 64)
	if l.Mode != "concurrency" && !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (w *Writer) flush() {
	if w.err == nil {
		_, w.err = w.out.Write(w.line)
	}
	w.line = w.line[:0]
}

// Add writes one request.
func (w *Writer) Add(r *Request) {
	if w.count > 0 {
		w.line = append(w.line, ',')
	}
	w.count++
	w.line = fmt.Appendf(w.line, `{"timestamp":%d`, r.Timestamp)
	if r.SequenceID != 0 {
		w.line = fmt.Appendf(w.line, `,"sequence_id":%d`, r.SequenceID)
	}
	w.line = r.Inputs.append(append(w.line, `,"request_inputs":`...))
	w.line = appendNumbers(append(w.line, `,"response_timestamps":`...), r.Moments)
	w.line = append(w.line, `,"response_outputs":[`...)
	for i, fields := range r.Responses {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = fields.append(w.line)
	}
	w.line = append(w.line, ']')
	if r.Error != "" {
		w.line = fmt.Appendf(w.line, `,"error":%s`, quoted(r.Error))
	}
	w.line = append(w.line, '}')
	w.flush()
}

// Failed ends the experiment's requests: those that are added after it came to no answer.
func (w *Writer) Failed() {
	w.count = 0
	w.line = append(w.line, `],"failed_requests":[`...)
}

func appendNumbers(dst []byte, list []uint64) []byte {
	dst = append(dst, '[')
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, n, 10)
	}
	return append(dst, ']')
}

// Close ends the file. Windows are the bounds between measurements.
func (w *Writer) Close(windows []uint64) error {
	w.end(windows)
	w.line = fmt.Appendf(w.line, `],"version":%s,"service_kind":%s,"endpoint":%s}`, quoted(w.doc.Version), quoted(w.doc.ServiceKind), quoted(w.doc.Endpoint))
	w.flush()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("writing the profile export: %w", w.err)
	}
	return nil
}
