package aiperf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/pyjson"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// line is one request, in both forms.
type line struct {
	Metadata struct {
		Conversation string `json:"conversation_id"`
		Turn         int    `json:"turn_index"`
		Credit       int64  `json:"credit_issued_ns"`
		Start        int64  `json:"request_start_ns"`
		End          int64  `json:"request_end_ns"`
		Phase        string `json:"benchmark_phase"`
		PhaseName    string `json:"phase_name"`
		Cancelled    bool   `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Value json.RawMessage `json:"value"`
		Unit  string          `json:"unit"`
	} `json:"metrics"`
	Error *struct {
		Code    *int   `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	exchange
}

func (l *line) name() string {
	if l.Metadata.PhaseName != "" {
		return l.Metadata.PhaseName
	}
	return l.Metadata.Phase
}

func (l *line) warmup() bool { return l.Metadata.Phase == "warmup" }

// ms is the value of a metric as a time; false: it has none.
func (l *line) ms(tag string) (time.Duration, bool) {
	var v float64
	m, ok := l.Metrics[tag]
	if !ok || json.Unmarshal(m.Value, &v) != nil || string(m.Value) == "null" {
		return 0, false
	}
	return importer.Seconds(v * toSeconds(m.Unit)), true
}

// count is the value of a metric as a number of tokens; -1: it has none.
func (l *line) count(tag string) int {
	var v float64
	m, ok := l.Metrics[tag]
	if !ok || json.Unmarshal(m.Value, &v) != nil || string(m.Value) == "null" {
		return -1
	}
	return int(min(max(v, 0), 1e9))
}

func toSeconds(unit string) float64 {
	switch unit {
	case "ns":
		return 1e-9
	case "us":
		return 1e-6
	case "sec", "s":
		return 1
	}
	return 1e-3
}

// gaps are those between chunks; nil means they are not there.
func (l *line) gaps() []time.Duration {
	m := l.Metrics["inter_chunk_latency"]
	var values []float64
	if json.Unmarshal(m.Value, &values) != nil {
		return nil
	}
	list := make([]time.Duration, 0, len(values))
	for _, v := range values {
		list = append(list, max(importer.Seconds(v*toSeconds(m.Unit)), 0))
	}
	return list
}

func (l *line) request(base int64, raw, server bool) *importer.Request {
	sent := time.Duration(l.Metadata.Start - base)
	r := &importer.Request{
		Warmup: l.warmup(), Session: l.Metadata.Conversation, Turn: max(l.Metadata.Turn, 0), Due: sent, Sent: sent,
		End: time.Duration(max(l.Metadata.End, l.Metadata.Start) - base),
		In:  l.count("input_sequence_length"), Out: l.count("output_sequence_length"), Cached: l.count("usage_prompt_cache_read_tokens"), Counted: record.FromTokenizer,
	}
	if server {
		r.Counted = record.FromServer
	}
	if n := l.count("error_isl"); r.In < 0 {
		r.In = n
	}
	switch {
	case l.Error != nil:
		code := 0
		if l.Error.Code != nil {
			code = *l.Error.Code
		}
		r.Failure = importer.Failure(code, l.Error.Type, l.Error.Message, r.End)
	case l.Metadata.Cancelled:
		r.Failure = importer.Failure(0, "cancelled", "cancelled", r.End)
	case raw:
		l.fill(r)
	default:
		l.stream(r)
	}
	if r.Failure != nil && l.Metadata.Cancelled {
		r.Failure.Class = record.Cancelled
	}
	return r
}

// stream fills in when the parts of the response came.
func (l *line) stream(r *importer.Request) {
	if latency, ok := l.ms("request_latency"); ok {
		r.End = r.Sent + latency
	}
	first, ok := l.ms("time_to_first_token")
	if !ok {
		return
	}
	r.Streamed = true
	at := r.Sent + first
	r.Events = []time.Duration{at}
	gaps := l.gaps()
	for _, g := range gaps {
		at += g
		r.Events = append(r.Events, at)
	}
	if gaps == nil && r.Out > 1 && r.End > at {
		r.Events, r.Sparse = append(r.Events, r.End), true
	}
	r.Each = len(r.Events) == r.Out
	visible, ok := l.ms("time_to_first_output_token")
	for r.Visible < len(r.Events) && (!ok || r.Events[r.Visible] < r.Sent+visible-time.Microsecond) && l.Metrics["reasoning_token_count"].Value != nil {
		r.Visible++
	}
}

// mostLine bounds a line: a request with all its chunks.
const mostLine = 256 << 20

// each reads a file line by line, which may be of any length.
func each(name string, f func(*line) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	for n := 1; ; n++ {
		text, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l line
		if err == nil {
			d := pyjson.NewDecoder(bytes.NewReader(text))
			err = d.Value(&l)
		}
		if err == nil && l.Metadata.Start <= 0 {
			err = errors.New("it has no request_start_ns")
		}
		if err == nil {
			err = f(&l)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
}

// readLine reads a line; io.EOF: there is none.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			return text, nil
		case errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(text) > mostLine:
			return nil, fmt.Errorf("it is longer than %d MiB", mostLine>>20)
		}
	}
}

// part is what the first look at a file finds of one measured phase.
type part struct {
	file       int
	name       string
	n          int64
	begin, end []int64 // of its requests
}

// survey looks at all requests once.
type survey struct {
	parts  []part
	starts []int64 // of all requests, in the order of the files
	base   int64
	stream bool
	chunks bool // that some lack
	raw    bool
}

func (s *survey) read(i int, src source) error {
	from := len(s.parts)
	return each(src.records, func(l *line) error {
		s.starts = append(s.starts, l.Metadata.Start)
		if s.base == 0 || l.Metadata.Start < s.base {
			s.base = l.Metadata.Start
		}
		if l.Error == nil && !src.raw {
			_, streamed := l.ms("time_to_first_token")
			s.stream = s.stream || streamed
			s.chunks = s.chunks || streamed && l.gaps() == nil && l.count("output_sequence_length") > 1
		}
		s.stream, s.raw = s.stream || src.raw && l.streamed(), s.raw || src.raw
		if l.warmup() {
			return nil
		}
		k := slices.IndexFunc(s.parts[from:], func(p part) bool { return p.name == l.name() }) + from
		if k < from {
			k = len(s.parts)
			s.parts = append(s.parts, part{file: i, name: l.name()})
		}
		p := &s.parts[k]
		p.n++
		p.begin, p.end = append(p.begin, l.Metadata.Start), append(p.end, max(l.Metadata.End, l.Metadata.Start))
		return nil
	})
}

// stageOf is the place of the part that a request belongs to: warm-up belongs to the part
// behind it.
func (s *survey) stageOf(file int, l *line) int {
	first := -1
	for k := range s.parts {
		if s.parts[k].file != file {
			continue
		}
		if s.parts[k].name == l.name() {
			return k
		}
		if first < 0 {
			first = k
		}
	}
	return first
}

// most is how many requests were in flight at once.
func (p *part) most() int {
	slices.Sort(p.begin)
	slices.Sort(p.end)
	most, k := 0, 0
	for i, b := range p.begin {
		for k < len(p.end) && p.end[k] <= b {
			k++
		}
		most = max(most, i+1-k)
	}
	return max(most, 1)
}

// stages are the loads of the parts; known is false where it is what they came to.
func (s *survey) stages(configs []config) (list []plan.Stage, known bool) {
	known = true
	for i := range s.parts {
		p := &s.parts[i]
		most := p.most() // which sorts begin
		st, ok := configs[p.file].stage(p.name, p.n, most, time.Duration(p.begin[len(p.begin)-1]-p.begin[0]))
		list, known = append(list, st), known && ok
	}
	return list, known
}
