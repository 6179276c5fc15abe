package talks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// block is how many tokens a hash of a payload file stands for.
const block = 512

// NewPayload reads the file that d names with read: lines of JSON with the moment, the
// session and the length or the text of a request each; what else a line has goes into
// its body. What is wrong with the file is returned as plan.Faults.
func NewPayload(d plan.Data, tok prompt.Tokenizer, seed uint64, texts Texts, read func(string) ([]byte, error)) (*Source, error) {
	data, err := read(d.File)
	if err != nil {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error(), Hint: "it must be a readable file of requests"}}
	}
	r := &reader{
		data: d, tok: tok, seed: seed, texts: texts, blocks: map[int64]string{},
		input: prompt.NewLengths(d.Input, prompt.Mix(seed^'i')), output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o')),
	}
	if err := r.file(data); err != nil {
		return nil, err
	}
	return &Source{talks: gather(r.turns, d.Payload.Alone), tok: tok, alone: d.Payload.Alone}, nil
}

// cutter is a tokenizer that can end a text after an exact number of tokens.
type cutter interface {
	Cut(text string, n int) (int, bool)
}

// reader reads a payload file.
type reader struct {
	data   plan.Data
	tok    prompt.Tokenizer
	seed   uint64
	texts  Texts
	blocks map[int64]string // texts by their hash
	made   uint64
	input  *prompt.Lengths
	output *prompt.Lengths
	turns  []turn
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
		return plan.Faults{{Where: r.data.File, Text: "there is no request in the file", Hint: "write one JSON object on each line"}}
	case timed == len(r.turns):
		slices.SortStableFunc(r.turns, func(a, b turn) int { return int(a.due - b.due) })
	case timed > 0:
		return plan.Faults{{Where: fmt.Sprintf("%s:%d", r.data.File, missing), Text: "has no timestamp, and other lines have one", Hint: "give every line one, or none"}}
	}
	return nil
}

// line takes one request.
func (r *reader) line(text []byte) (turn, error) {
	one := turn{due: -1}
	length := 0
	var hashes []int64
	p := &one.prompt
	err := fields(text, func(name string, raw json.RawMessage) (err error) {
		switch name {
		case "timestamp":
			one.due, err = milliseconds(raw, 1)
		case "delay":
			one.delay, err = milliseconds(raw, ratio(r.data.Payload.DelayRatio))
		case "session_id":
			p.Session = sessionName(raw)
		case "input_length":
			err = json.Unmarshal(raw, &length)
		case "output_length":
			err = json.Unmarshal(raw, &p.Output)
		case "text", "text_input":
			if p.Text != "" {
				return errors.New("has both text and text_input: keep one of them")
			}
			err = json.Unmarshal(raw, &p.Text)
		case "hash_ids":
			err = json.Unmarshal(raw, &hashes)
		default:
			p.Fields = append(p.Fields, prompt.Field{Name: name, Value: raw})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return one, err
	}
	if length < 0 || p.Output < 0 {
		return one, errors.New("a length is negative")
	}
	number := uint64(len(r.turns))
	if p.Output == 0 {
		p.Output = r.output.At(number)
	}
	if p.Text == "" {
		if length == 0 && len(hashes) > 0 {
			length = len(hashes) * block
		}
		if length == 0 {
			length = r.input.At(number)
		}
		if length == 0 {
			return one, errors.New("has neither text nor input_length")
		}
		if p.Text, err = r.write(length, hashes); err != nil {
			return one, err
		}
	}
	measure(p, r.tok)
	return one, nil
}

// fields gives the members of an object in their order.
func fields(text []byte, take func(name string, raw json.RawMessage) error) error {
	if !json.Valid(text) {
		var v any
		return fmt.Errorf("is not valid JSON: %w", json.Unmarshal(text, &v))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("is no JSON object")
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
		return 0, fmt.Errorf("%s is not a number of milliseconds", raw)
	}
	return time.Duration(ms * factor * float64(time.Millisecond)), nil
}

// write makes a text of a length in tokens. Texts with the same hashes begin alike.
func (r *reader) write(length int, hashes []int64) (string, error) {
	if len(hashes) == 0 {
		r.made++
		return r.piece(length, prompt.Mix(r.seed^r.made<<20))
	}
	if length > len(hashes)*block {
		return "", fmt.Errorf("input_length is %d, and %d hash_ids stand for %d tokens at most", length, len(hashes), len(hashes)*block)
	}
	var parts []string
	for _, h := range hashes {
		if r.blocks[h] == "" {
			text, err := r.piece(block, prompt.Mix(uint64(h)^r.seed))
			if err != nil {
				return "", err
			}
			r.blocks[h] = text
		}
		parts = append(parts, r.blocks[h])
	}
	text := strings.Join(parts, " ")
	tok, ok := r.tok.(cutter)
	if !ok {
		return "", fmt.Errorf("the tokenizer %q cannot cut text to a number of tokens", r.tok.Name())
	}
	end, ok := tok.Cut(text, length)
	if !ok {
		return "", fmt.Errorf("no text of exactly %d tokens can be made of its blocks", length)
	}
	return text[:end], nil
}

// piece is a text of its own.
func (r *reader) piece(length int, seed uint64) (string, error) {
	s, err := r.texts(plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: float64(length)}}, r.tok, seed)
	if err != nil {
		return "", err
	}
	p, err := s.Next(context.Background())
	return p.Text, err
}
