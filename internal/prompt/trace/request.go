package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
)

// Tokens that a hash stands for.
const (
	mooncakeBlock = 512
	bailianBlock  = 16
)

// request is a line that is a request of its own.
type request struct {
	due           time.Duration // on the trace's own clock
	input, output int           // tokens
	text          string        // the prompt, where the trace has it; else empty
	hashes        []int64       // of the prompt's blocks; none: it shares nothing
	session       string
	failed        bool // it was recorded as a failure, and is left out
}

// coded is its text, the n-th.
func (r *request) coded(block int, n uint64) *blocktext.Coded {
	return &blocktext.Coded{Length: r.input, Number: n, Hashes: r.hashes, Block: block}
}

func (r *request) fits(block int) error { return r.coded(block, 0).Fits() }

// requestForm is how the lines of a trace of requests are read.
type requestForm struct {
	layout
	// due is the time of a line, and nothing else of it; row is all of it.
	due func(line []byte) (time.Duration, error)
	row func(line []byte) (request, error)
	// head reports whether the first line names columns.
	head bool
}

// formOf is the form of a layout, of a table with its first line.
func formOf(l layout, head string) requestForm {
	if l.unit > 0 {
		return requestForm{
			layout: l, due: func(line []byte) (time.Duration, error) { return parseTimestamp(line, l.unit) },
			row: func(line []byte) (request, error) { return parseRequest(line, l.unit) },
		}
	}
	t, _ := tableOf(head)
	return requestForm{layout: l, head: true, due: t.due, row: t.row}
}

var timestampKey = []byte(`"timestamp"`)

// parseTimestamp reads the timestamp of a line and nothing else: a trace may have millions of them.
func parseTimestamp(line []byte, unit float64) (time.Duration, error) {
	_, rest, ok := bytes.Cut(line, timestampKey)
	rest = bytes.TrimLeft(rest, " \t")
	if !ok || len(rest) == 0 || rest[0] != ':' {
		return 0, errors.New("has no timestamp")
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	end := bytes.IndexAny(rest, ",} \t")
	if end < 0 {
		end = len(rest)
	}
	return moment(rest[:end], unit)
}

// mostTrace bounds timestamps: they may be counted from 1970.
const mostTrace = 9e18

func moment(text []byte, unit float64) (time.Duration, error) {
	if n, ok := digits(text); ok && float64(n)*unit < mostTrace {
		return time.Duration(n) * time.Duration(unit), nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(x >= 0 && x*unit < mostTrace) {
		return 0, fmt.Errorf("the timestamp %s is not a number of %s", text, map[float64]string{1e6: "milliseconds", 1e9: "seconds"}[unit])
	}
	return time.Duration(math.Round(x * unit)), nil
}

// digits reads a whole number, as most timestamps are, without a text of its own.
func digits(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func parseRequest(line []byte, unit float64) (request, error) {
	var v struct {
		Input   *int            `json:"input_length"`
		Output  int             `json:"output_length"`
		Text    string          `json:"text_input"`
		Hashes  []int64         `json:"hash_ids"`
		Session json.RawMessage `json:"session_id"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return request{}, fmt.Errorf("is not a line of that trace: %w", err)
	}
	at, err := parseTimestamp(line, unit)
	if err != nil {
		return request{}, err
	}
	r := request{due: at, output: v.Output, text: v.Text, hashes: v.Hashes, session: plain(v.Session)}
	switch {
	case v.Input != nil:
		r.input = *v.Input
	case v.Text == "":
		return r, errors.New("has no input_length")
	}
	if r.input < 0 || r.output < 0 || v.Text == "" && r.input == 0 {
		return r, fmt.Errorf("has lengths of %d and %d tokens", r.input, r.output)
	}
	return r, nil
}

// plain is a value as a text: a text itself, or anything else as it stands.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// table is where the columns of a trace are; -1: there is none.
type table struct {
	when, input, output, session, columns int
	clock                                 func(text []byte) (time.Duration, error)
}

func tableLayout(head string) (layout, error) {
	t, name := tableOf(head)
	if t.when < 0 || t.input < 0 || t.output < 0 {
		return layout{}, fmt.Errorf("begins with %s, which does not name the columns of a trace that is known", truncate.Quote(strings.TrimSpace(head)))
	}
	return layout{name: name}, nil
}

// tableOf is that of a file whose first line names its columns: BurstGPT's two, or Azure's.
func tableOf(head string) (*table, string) {
	columns := strings.Split(strings.TrimSuffix(strings.TrimPrefix(head, "\ufeff"), "\r"), ",")
	at := func(name string) int {
		return slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(strings.Trim(strings.TrimSpace(c), `"`), name) })
	}
	t := &table{when: at("timestamp"), input: at("request tokens"), output: at("response tokens"), session: at("session id"), columns: len(columns)}
	t.clock = func(text []byte) (time.Duration, error) { return moment(text, 1e9) }
	if t.input >= 0 {
		return t, plan.TraceBurstGPT
	}
	t.input, t.output, t.clock = at("contexttokens"), at("generatedtokens"), azureTime
	return t, plan.TraceAzure
}

func cell(line []byte, i int) []byte {
	for range i {
		_, rest, ok := bytes.Cut(line, []byte(","))
		if !ok {
			return nil
		}
		line = rest
	}
	one, _, _ := bytes.Cut(line, []byte(","))
	return bytes.Trim(one, "\" \t\r")
}

func (t *table) due(line []byte) (time.Duration, error) { return t.clock(cell(line, t.when)) }

// row reads a line. One of BurstGPT without a response is a request that failed.
func (t *table) row(line []byte) (r request, err error) {
	if n := bytes.Count(line, []byte(",")) + 1; n != t.columns {
		return r, fmt.Errorf("has %d columns, and the first line has %d", n, t.columns)
	}
	if r.due, err = t.due(line); err != nil {
		return r, err
	}
	for column, to := range map[int]*int{t.input: &r.input, t.output: &r.output} {
		text := strings.TrimSuffix(string(cell(line, column)), ".0")
		if *to, err = strconv.Atoi(text); err != nil || *to < 0 {
			return r, fmt.Errorf("%q is not a number of tokens", text)
		}
	}
	r.failed = r.input == 0 || r.output == 0
	if t.session >= 0 {
		r.session = string(cell(line, t.session))
	}
	return r, nil
}

// azureTime is a time of Azure's traces, with any number of digits in its fraction, with a zone or in UTC without.
func azureTime(text []byte) (time.Duration, error) {
	whole := strings.Replace(string(text), "T", " ", 1)
	for _, form := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(form, whole); err == nil {
			return time.Duration(at.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 2023-11-16 18:15:46.6805900", text)
}
