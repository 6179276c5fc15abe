package sessions

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
)

// traceRow is a request of a trace.
type traceRow struct {
	due           time.Duration // on the trace's own clock
	input, output int           // tokens
	text          string        // the prompt, where the trace has it; else empty
	hashes        []int64       // of the prompt's blocks; none: it shares nothing
	session       string
	failed        bool // it was recorded as a failure, and is left out
}

// traceForm is how the lines of a trace are read.
type traceForm struct {
	name  string
	block int // tokens of a hash; 0: lines have none
	// due is the time of a line, and nothing else of it; row is all of it.
	due func(line []byte) (time.Duration, error)
	row func(line []byte) (traceRow, error)
	// head reports whether the first line names columns.
	head bool
}

// Trace formats whose files hold a request on each line.
var errNoObject = errors.New("is not a JSON object on one line")

// traceForms are the formats that are read here, but for tables, whose columns the head names.
func jsonForms() []traceForm {
	return []traceForm{
		{name: plan.TraceMooncake, block: block, due: jsonDue(1e6), row: jsonTrace(1e6)},
		{name: plan.TraceBailian, block: bailianBlock, due: jsonDue(1e9), row: jsonTrace(1e9)},
		{name: plan.TraceTimed, block: bailianBlock, due: jsonDue(1e9), row: jsonTrace(1e9)},
	}
}

// recogniseTrace tells a format from the first lines of a file; the one that the user names is held against them. The
// error says what they have instead.
func recogniseTrace(named string, lines [][]byte) (traceForm, error) {
	if len(lines) == 0 {
		return traceForm{}, errors.New("has no lines")
	}
	if !bytes.HasPrefix(lines[0], []byte("{")) {
		return tableForm(named, string(lines[0]))
	}
	found, err := jsonKind(lines)
	if err != nil {
		return traceForm{}, err
	}
	if named != "" && named != found {
		both := []string{plan.TraceMooncake, plan.TraceTimed}
		if !slices.Contains(both, named) || !slices.Contains(both, found) {
			return traceForm{}, fmt.Errorf("has lines of a %s trace, not of %s", found, named)
		}
		found = named // they have the same fields
	}
	forms := jsonForms()
	return forms[slices.IndexFunc(forms, func(f traceForm) bool { return f.name == found })], nil
}

// jsonKind goes by the fields of the first line, and by what the hashes of the lines would have to stand for.
func jsonKind(lines [][]byte) (string, error) {
	var first map[string]json.RawMessage
	if json.Unmarshal(lines[0], &first) != nil {
		return "", errNoObject
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return first[n] == nil })
	}
	switch {
	case has("chat_id", "parent_chat_id", "timestamp"):
		return plan.TraceBailian, nil
	case has("timestamp") && (has("input_length") || has("text_input") || has("hash_ids")):
		row := jsonTrace(1)
		fine := 0
		for _, line := range lines {
			if r, err := row(line); err == nil && len(r.hashes) > 0 &&
				(&coded{length: r.input, hashes: r.hashes, block: bailianBlock}).fits() == nil &&
				(&coded{length: r.input, hashes: r.hashes, block: block}).fits() != nil {
				fine++
			}
		}
		if fine > 0 {
			return plan.TraceTimed, nil
		}
		return plan.TraceMooncake, nil
	}
	return "", fmt.Errorf("has lines with %s, which are of no trace that is known", strings.Join(sortedNames(first), ", "))
}

func sortedNames(fields map[string]json.RawMessage) []string {
	const most = 8
	var names []string
	for name := range fields {
		names = append(names, strconv.Quote(name))
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return names
}

var timestampKey = []byte(`"timestamp"`)

// jsonDue reads the timestamp of a line and nothing else: a trace may have millions of them.
func jsonDue(unit float64) func([]byte) (time.Duration, error) {
	return func(line []byte) (time.Duration, error) {
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
		return moment(string(rest[:end]), unit)
	}
}

// mostTrace bounds timestamps: they may be counted from 1970.
const mostTrace = 9e18

func moment(text string, unit float64) (time.Duration, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && float64(n)*unit < mostTrace {
		return time.Duration(n) * time.Duration(unit), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x*unit < mostTrace) {
		return 0, fmt.Errorf("the timestamp %s is not a number of %s", text, map[float64]string{1e6: "milliseconds", 1e9: "seconds"}[unit])
	}
	return time.Duration(math.Round(x * unit)), nil
}

func jsonTrace(unit float64) func([]byte) (traceRow, error) {
	due := jsonDue(unit)
	return func(line []byte) (traceRow, error) {
		var v struct {
			Input   *int            `json:"input_length"`
			Output  int             `json:"output_length"`
			Text    string          `json:"text_input"`
			Hashes  []int64         `json:"hash_ids"`
			Session json.RawMessage `json:"session_id"`
		}
		if err := json.Unmarshal(line, &v); err != nil {
			return traceRow{}, fmt.Errorf("is not a line of that trace: %w", err)
		}
		at, err := due(line)
		if err != nil {
			return traceRow{}, err
		}
		r := traceRow{due: at, output: v.Output, text: v.Text, hashes: v.Hashes}
		if len(v.Session) > 0 {
			r.session = sessionName(v.Session)
		}
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
}

// tableForm is that of a file whose first line names its columns: BurstGPT's two, or Azure's.
func tableForm(named, head string) (traceForm, error) {
	columns := strings.Split(strings.TrimSuffix(strings.TrimPrefix(head, "\ufeff"), "\r"), ",")
	at := func(name string) int {
		return slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(strings.Trim(strings.TrimSpace(c), `"`), name) })
	}
	t := table{when: at("timestamp"), input: at("request tokens"), output: at("response tokens"), session: at("session id"), columns: len(columns)}
	f := traceForm{name: plan.TraceBurstGPT, head: true}
	t.clock = func(text string) (time.Duration, error) { return moment(text, 1e9) }
	if t.input < 0 {
		t.input, t.output = at("contexttokens"), at("generatedtokens")
		f.name, t.clock = plan.TraceAzure, azureTime
	}
	if t.when < 0 || t.input < 0 || t.output < 0 {
		return f, fmt.Errorf("begins with %s, which does not name the columns of a trace that is known", truncate.Quote(strings.TrimSpace(head)))
	}
	if named != "" && named != f.name {
		return f, fmt.Errorf("has the columns of a %s trace, not of %s", f.name, named)
	}
	f.due, f.row = t.due, t.row
	return f, nil
}

// table is where the columns of a trace are; -1: there is none.
type table struct {
	when, input, output, session, columns int
	clock                                 func(text string) (time.Duration, error)
}

func (t *table) cell(line []byte, i int) string {
	for range i {
		_, rest, ok := bytes.Cut(line, []byte(","))
		if !ok {
			return ""
		}
		line = rest
	}
	cell, _, _ := bytes.Cut(line, []byte(","))
	return string(bytes.Trim(cell, "\" \t\r"))
}

func (t *table) due(line []byte) (time.Duration, error) { return t.clock(t.cell(line, t.when)) }

// row reads a line. One of BurstGPT without a response is a request that failed.
func (t *table) row(line []byte) (r traceRow, err error) {
	if n := bytes.Count(line, []byte(",")) + 1; n != t.columns {
		return r, fmt.Errorf("has %d columns, and the first line has %d", n, t.columns)
	}
	if r.due, err = t.due(line); err != nil {
		return r, err
	}
	for column, to := range map[int]*int{t.input: &r.input, t.output: &r.output} {
		text := strings.TrimSuffix(t.cell(line, column), ".0")
		if *to, err = strconv.Atoi(text); err != nil || *to < 0 {
			return r, fmt.Errorf("%q is not a number of tokens", text)
		}
	}
	r.failed = r.input == 0 || r.output == 0
	if t.session >= 0 {
		r.session = t.cell(line, t.session)
	}
	return r, nil
}

// azureTime is a time of Azure's traces, with any number of digits in its fraction, with a zone or in UTC without.
func azureTime(text string) (time.Duration, error) {
	text = strings.Replace(text, "T", " ", 1)
	for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return time.Duration(at.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 2023-11-16 18:15:46.6805900", text)
}
