package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
)

// NewPayload reads the file that d names with read: lines of JSON with the timestamp, the
// session and the length or the text of a request each; what else a line has goes into
// its body. What is wrong with the file is returned as plan.Faults.
func NewPayload(d plan.Data, tok prompt.Tokenizer, seed uint64, texts prompt.Factory, read func(string) ([]byte, error)) (*Source, error) {
	data, err := read(d.File)
	if err != nil {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error(), Hint: "it must be a readable file of requests"}}
	}
	r := &reader{
		data: d, tok: tok,
		input: prompt.NewLengths(d.Input, prompt.Mix(seed^'i')), output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o')),
	}
	if err := r.file(data); err != nil {
		return nil, err
	}
	w, err := blocktext.NewComposer(tok, texts, seed, r.hashed)
	if err != nil {
		return nil, err
	}
	s := &Source{sessions: gather(r.turns, d.Payload.Alone), tok: tok, writer: writer{w}}
	if d.Payload.Alone {
		s.begun = newOrder(r.turns)
	}
	if r.bailian {
		s.notes = []string{d.File + " is a Bailian trace: its timestamps are seconds, a hash is a block of 16 tokens, and every line is a request of its own, with its whole prompt; chat_id, parent_chat_id, turn and type are not sent."}
	}
	return s, nil
}

type reader struct {
	data   plan.Data
	tok    prompt.Tokenizer
	hashed bool // there are lines with hashes
	// bailian: the lines are those of a trace of Alibaba's Bailian.
	bailian bool
	coded   uint64 // lines with neither hashes nor a text
	input   *prompt.Lengths
	output  *prompt.Lengths
	turns   []turn
}

func (r *reader) file(data []byte) error {
	timed, missing := 0, 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		one, err := r.line(line)
		if err != nil {
			return plan.Faults{{Where: fmt.Sprintf("%s:%d", r.data.File, i+1), Text: err.Error()}}
		}
		if one.due >= 0 {
			timed++
		} else if missing == 0 {
			missing = i + 1
		}
		if r.turns = append(r.turns, one); len(r.turns) > mostTurns {
			return tooMany("data.file")
		}
	}
	switch {
	case len(r.turns) == 0:
		return plan.Faults{{Where: r.data.File, Text: "the file has no requests", Hint: "write one JSON object on each line"}}
	case timed == len(r.turns):
		slices.SortStableFunc(r.turns, func(a, b turn) int { return int(a.due - b.due) })
	case timed > 0:
		return plan.Faults{{Where: fmt.Sprintf("%s:%d", r.data.File, missing), Text: "has no timestamp, and other lines have one", Hint: "give every line one, or none"}}
	}
	return nil
}

// row is a line being read.
type row struct {
	turn
	length int
	hashes []int64
	at     json.RawMessage // its timestamp, in the unit of the trace, or nil
}

func (r *reader) line(text []byte) (turn, error) {
	one := row{turn: turn{due: -1, line: len(r.turns)}}
	err := fields(text, func(name string, raw json.RawMessage) error {
		if err := r.field(&one, name, raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err == nil {
		err = r.finishRow(&one)
	}
	if err != nil {
		return one.turn, err
	}
	p := &one.prompt
	if one.length < 0 || p.Output < 0 {
		return one.turn, errors.New("a length is negative")
	}
	number := uint64(len(r.turns))
	if p.Output == 0 {
		p.Output = r.output.At(number)
	}
	if p.Text != "" {
		p.Measure(r.tok)
		return one.turn, nil
	}
	size := block
	if r.bailian {
		size = bailianBlock
	}
	if one.length == 0 && len(one.hashes) > 0 {
		one.length = len(one.hashes) * size
	}
	if one.length == 0 {
		one.length = r.input.At(number)
	}
	if one.length == 0 {
		return one.turn, errors.New("has neither text nor input_length")
	}
	if r.hashed = r.hashed || len(one.hashes) > 0; len(one.hashes) == 0 {
		r.coded++
	}
	one.coded = &blocktext.Coded{Length: one.length, Number: r.coded, Hashes: one.hashes, Block: size}
	return one.turn, one.coded.Fits()
}

// field takes one field of a line. What is none of a trace's goes into the request.
func (r *reader) field(one *row, name string, raw json.RawMessage) (err error) {
	p := &one.prompt
	switch name {
	case "timestamp":
		one.at = raw
	case "delay":
		one.pauses = true
		one.delay, err = milliseconds(raw, ratio(r.data.Payload.DelayRatio))
	case "session_id":
		p.Session = sessionName(raw)
	case "input_length":
		err = json.Unmarshal(raw, &one.length)
	case "output_length":
		err = json.Unmarshal(raw, &p.Output)
	case "text", "text_input":
		if p.Text != "" {
			return errors.New("the line has both text and text_input: keep one of them")
		}
		err = json.Unmarshal(raw, &p.Text)
	case "hash_ids":
		err = json.Unmarshal(raw, &one.hashes)
	default:
		p.Fields = append(p.Fields, prompt.Field{Name: name, Value: raw})
	}
	return err
}

// finishRow finds out whose trace a line, and so all, are of, which says its timestamp's unit.
func (r *reader) finishRow(one *row) (err error) {
	own := func(name string) bool {
		return slices.ContainsFunc(one.prompt.Fields, func(f prompt.Field) bool { return f.Name == name })
	}
	bailian := own("chat_id") && own("parent_chat_id")
	if len(r.turns) > 0 && bailian != r.bailian {
		return errors.New("chat_id and parent_chat_id make a Bailian trace, whose timestamps are seconds, and not all lines have them")
	}
	factor := 1.0
	if r.bailian = bailian; bailian {
		factor = 1000
		one.prompt.Fields = slices.DeleteFunc(one.prompt.Fields, func(f prompt.Field) bool {
			return slices.Contains([]string{"chat_id", "parent_chat_id", "turn", "type"}, f.Name)
		})
	}
	if one.at != nil {
		if one.due, err = milliseconds(one.at, factor); err != nil {
			return fmt.Errorf("timestamp: %w", err)
		}
	}
	return nil
}

// fields gives the members of an object in their order.
func fields(text []byte, take func(name string, raw json.RawMessage) error) error {
	if !json.Valid(text) {
		var v any
		return fmt.Errorf("is not valid JSON: %w", json.Unmarshal(text, &v))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("is not a JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if err := take(fmt.Sprint(key), raw); err != nil {
			return err
		}
	}
	return nil
}

// sessionName is the name of a session: a text, or anything else as it stands.
func sessionName(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return string(raw)
	}
	return name
}

func milliseconds(raw []byte, factor float64) (time.Duration, error) {
	ms, err := strconv.ParseFloat(string(raw), 64)
	const most = 1e12
	if err != nil || ms < 0 || ms*factor > most {
		unit := "milliseconds"
		if factor == 1000 {
			unit = "seconds"
		}
		return 0, fmt.Errorf("%s is not a number of %s", raw, unit)
	}
	return time.Duration(ms * factor * float64(time.Millisecond)), nil
}
