// Package profileexport reads and writes profile_export.json, the file in which Perf
// Analyzer keeps every request of a run with the time and the content of each
// response.
package profileexport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/truncate"
)

// The kinds of service that this package knows.
const (
	OpenAI = "openai"
	Triton = "triton"
)

// Document is a whole file.
type Document struct {
	Experiments []Experiment `json:"experiments"`
	Version     string       `json:"version"`
	ServiceKind string       `json:"service_kind"`
	Endpoint    string       `json:"endpoint"`
	Any         bool         `json:"-"` // requests and responses may be without text
}

// Experiment is what was measured under one load.
type Experiment struct {
	Load     Load      `json:"experiment"`
	Requests []Request `json:"requests"`
	Windows  []uint64  `json:"window_boundaries"`
	// Failed are requests without a response. Perf Analyzer ends at the first and writes no file.
	Failed []Request `json:"failed_requests,omitempty"`
}

// All are the requests, and then those that failed.
func (e *Experiment) All() iter.Seq2[int, *Request] {
	return func(yield func(int, *Request) bool) {
		for i := range len(e.Requests) + len(e.Failed) {
			if i < len(e.Requests) && !yield(i, &e.Requests[i]) || i >= len(e.Requests) && !yield(i, &e.Failed[i-len(e.Requests)]) {
				return
			}
		}
	}
}

// Load is "concurrency" with an integer or "request_rate" with any.
type Load struct {
	Mode  string  `json:"mode"`
	Value float64 `json:"value"`
}

// Request is one request. Moments are nanoseconds since 1970.
type Request struct {
	Timestamp  uint64   `json:"timestamp"`
	SequenceID uint64   `json:"sequence_id"`
	Inputs     Fields   `json:"request_inputs"`
	Moments    []uint64 `json:"response_timestamps"`
	Responses  []Fields `json:"response_outputs"`
	Error      string   `json:"error,omitempty"` // why it failed; empty: it did not
}

// Fields are named values in the order they stand in the file.
type Fields []Field

// Field is a named value, as JSON.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Text makes a field of a text.
func Text(name, text string) Field { return Field{name, quoted(text)} }

// Get finds a value, or nil.
func (f Fields) Get(name string) json.RawMessage {
	if i := slices.IndexFunc(f, func(x Field) bool { return x.Name == name }); i >= 0 {
		return f[i].Value
	}
	return nil
}

// Text is the value of a field that is a text; false: it is none.
func (f Fields) Text(name string) (string, bool) {
	var s string
	raw := f.Get(name)
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// UnmarshalJSON reads an object and keeps its order.
func (f *Fields) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open == nil { // null
		return nil
	}
	if open != json.Delim('{') {
		return fmt.Errorf("not an object: %s", short(text))
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*f = append(*f, Field{fmt.Sprint(key), value})
	}
	return nil
}

// MarshalJSON writes the fields as an object.
func (f Fields) MarshalJSON() ([]byte, error) { return f.append(nil), nil }

func (f Fields) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range f {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, "%s:%s", quoted(f[i].Name), f[i].Value)
	}
	return append(dst, '}')
}

// Read reads a file and makes sure that it can be used.
func Read(r io.Reader) (*Document, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the profile export: %w", err)
	}
	d := new(Document)
	if err := json.Unmarshal(data, d); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			return nil, fmt.Errorf("reading the profile export: line %d, byte %d: %w", line, syntax.Offset, err)
		}
		return nil, fmt.Errorf("reading the profile export: %w", err)
	}
	return d, d.check()
}

// check finds what no later step could make sense of.
func (d *Document) check() error {
	if len(d.Experiments) == 0 {
		return errors.New("reading the profile export: it has no experiments: is this a profile_export.json from Perf Analyzer?")
	}
	for i := range d.Experiments {
		e := &d.Experiments[i]
		for j, r := range e.All() {
			if len(r.Moments) != len(r.Responses) {
				return fmt.Errorf("reading the profile export: experiments[%d].requests[%d] has %d responses and %d timestamps", i, j, len(r.Responses), len(r.Moments))
			}
		}
	}
	return nil
}

// quoted is a text as JSON, with no more escapes than needed.
func quoted(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func short(text []byte) string { return strconv.Quote(truncate.Text(string(text), 40)) }

// Averages are the two figures of a file on language models: how long the first response
// takes, and how far responses lie apart.
type Averages struct {
	Requests int // that were answered
	Gaps     int // between two adjacent responses of a request, of all requests
	first    uint64
	gaps     uint64
}

// Averages are those of the requests of one experiment.
func (e *Experiment) Averages() Averages {
	var a Averages
	for _, r := range e.Requests {
		if len(r.Moments) == 0 {
			continue
		}
		a.Requests++
		a.first += since(r.Moments[0], r.Timestamp)
		for i := 1; i < len(r.Moments); i++ {
			a.Gaps++
			a.gaps += since(r.Moments[i], r.Moments[i-1])
		}
	}
	return a
}

// since is the time between two times; times in the wrong order are one.
func since(after, before uint64) uint64 { return after - min(after, before) }

// First is the mean time from a request to its first response, in seconds.
func (a *Averages) First() float64 { return float64(a.first) / float64(a.Requests) / 1e9 }

// Gap is the mean time between two adjacent responses, in seconds. There must be a gap.
func (a *Averages) Gap() float64 { return float64(a.gaps) / float64(a.Gaps) / 1e9 }
