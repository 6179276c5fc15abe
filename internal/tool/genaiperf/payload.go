package genaiperf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/synthetic"
)

// turn is one request of a payload file or of a session.
type turn struct {
	text    string
	output  int
	session string
	due     time.Duration // negative: none
	delay   time.Duration // before it goes, after the answer to the turn before
	extra   object        // fields of its own
}

// block is how many tokens a hash of a payload file stands for.
const block = 512

// payloadTurns reads a payload file: lines of JSON with the moment, the session and
// the length or the text of a request each; what else a line has goes into its body.
func (t *tool) payloadTurns(ctx context.Context, name string) ([]turn, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--input-file payload: %w", err)
	}
	maker := &writer{t: t, blocks: map[int64]string{}}
	var turns []turn
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		one, err := t.payloadTurn(ctx, line, maker)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		turns = append(turns, one)
	}
	if len(turns) == 0 {
		return nil, fmt.Errorf("%s: there is no request in the file", name)
	}
	return turns, nil
}

func (t *tool) payloadTurn(ctx context.Context, line []byte, maker *writer) (turn, error) {
	one := turn{due: -1}
	var fields profileFields
	if err := json.Unmarshal(line, &fields); err != nil {
		return one, err
	}
	length := 0
	var hashes []int64
	for _, f := range fields {
		var err error
		switch f.name {
		case "timestamp":
			one.due, err = milliseconds(f.raw, 1)
		case "delay":
			one.delay, err = milliseconds(f.raw, t.set.DelayRatio)
		case "session_id":
			one.session = strings.Trim(string(f.raw), `"`)
		case "input_length":
			err = json.Unmarshal(f.raw, &length)
		case "output_length":
			err = json.Unmarshal(f.raw, &one.output)
		case "text", "text_input":
			if one.text != "" {
				return one, fmt.Errorf("has both text and text_input: keep one of them")
			}
			err = json.Unmarshal(f.raw, &one.text)
		case "hash_ids":
			err = json.Unmarshal(f.raw, &hashes)
		default:
			one.extra.set(f.name, f.raw)
		}
		if err != nil {
			return one, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if length < 0 || one.output < 0 {
		return one, fmt.Errorf("a length is negative")
	}
	if one.text == "" {
		var err error
		if one.text, err = maker.write(ctx, length, hashes); err != nil {
			return one, err
		}
	}
	return one, nil
}

// profileFields are the members of an object in their order.
type profileFields []struct {
	name string
	raw  json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *profileFields) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("is no JSON object")
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
		*p = append(*p, struct {
			name string
			raw  json.RawMessage
		}{fmt.Sprint(key), raw})
	}
	return nil
}

func milliseconds(raw []byte, factor float64) (time.Duration, error) {
	ms, err := strconv.ParseFloat(string(raw), 64)
	const most = 1e12
	if err != nil || ms < 0 || ms > most {
		return 0, fmt.Errorf("%s is not a number of milliseconds", raw)
	}
	return time.Duration(ms * factor * float64(time.Millisecond)), nil
}

// writer makes texts of a length in tokens. Texts with the same hashes begin alike.
type writer struct {
	t      *tool
	blocks map[int64]string
	made   uint64
}

func (w *writer) write(ctx context.Context, length int, hashes []int64) (string, error) {
	if length == 0 {
		length = w.t.set.InputMean
	}
	if len(hashes) == 0 {
		w.made++
		return w.piece(ctx, length, prompt.Mix(w.t.plan.Seed^w.made<<20))
	}
	if length > len(hashes)*block {
		return "", fmt.Errorf("input_length is %d, and %d hash_ids stand for %d tokens at most", length, len(hashes), len(hashes)*block)
	}
	var parts []string
	for _, h := range hashes {
		if w.blocks[h] == "" {
			text, err := w.piece(ctx, block, prompt.Mix(uint64(h)^w.t.plan.Seed))
			if err != nil {
				return "", err
			}
			w.blocks[h] = text
		}
		parts = append(parts, w.blocks[h])
	}
	text := strings.Join(parts, " ")
	end, ok := w.t.tok.Cut(text, length)
	if !ok {
		return "", fmt.Errorf("no text of exactly %d tokens can be made of its blocks", length)
	}
	return text[:end], nil
}

// piece is a text of its own.
func (w *writer) piece(ctx context.Context, length int, seed uint64) (string, error) {
	d := plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: float64(length)}}
	s, err := synthetic.New(d, w.t.tok, seed)
	if err != nil {
		return "", err
	}
	p, err := s.Next(ctx)
	return p.Text, err
}

// sessionTurns makes the turns of synthetic sessions.
func (t *tool) sessionTurns(ctx context.Context) ([]turn, error) {
	count := prompt.NewLengths(normal(t.set.TurnsMean, t.set.TurnsStddev), prompt.Mix(t.plan.Seed^'t'))
	pause := prompt.NewLengths(normal(t.set.TurnDelayMean, t.set.TurnDelayStddev), prompt.Mix(t.plan.Seed^'d'))
	made, err := synthetic.New(plan.Data{Input: t.plan.Data.Input, Output: t.plan.Data.Output}, t.tok, t.plan.Seed)
	if err != nil {
		return nil, err
	}
	var turns []turn
	for i := range t.set.Sessions {
		for k := range max(count.At(uint64(i)), 1) {
			p, err := made.Next(ctx)
			if err != nil {
				return nil, err
			}
			one := turn{text: p.Text, output: p.Output, session: strconv.Itoa(i), due: -1}
			if k > 0 && t.set.TurnDelayMean > 0 {
				one.delay = time.Duration(float64(pause.At(uint64(len(turns))))*t.set.DelayRatio) * time.Millisecond
			}
			turns = append(turns, one)
		}
		if len(turns) > mostEntries {
			return nil, fmt.Errorf("%d turns are more than this front end keeps (%d): ask for fewer", len(turns), mostEntries)
		}
	}
	return turns, nil
}

func normal(mean, stddev float64) plan.Length {
	if stddev == 0 {
		return plan.Length{Dist: plan.DistFixed, Mean: mean}
	}
	return plan.Length{Dist: plan.DistNormal, Mean: mean, Stddev: stddev}
}

// makeTurns makes the entries of a payload file or of sessions, and the source that
// hands each of them out once.
func (t *tool) makeTurns(turns []turn) error {
	if t.set.FixedSchedule {
		for i := range turns {
			if turns[i].due < 0 {
				return fmt.Errorf("--fixed-schedule: request %d of the payload file has no timestamp", i+1)
			}
		}
		slices.SortStableFunc(turns, func(a, b turn) int { return int(a.due - b.due) })
	}
	bySession := map[string]int{}
	for _, one := range turns {
		e, err := t.turnEntry(&one, nil, t.set.Models[0])
		if err != nil {
			return err
		}
		if one.session == "" {
			t.talks = append(t.talks, talk{first: e, due: one.due})
			continue
		}
		at, known := bySession[one.session]
		if !known {
			bySession[one.session] = len(t.talks)
			t.talks = append(t.talks, talk{first: e, due: one.due, session: one.session})
			continue
		}
		t.talks[at].rest = append(t.talks[at].rest, one)
		t.entries = append(t.entries, e) // as inputs.json has it: without what was said before
	}
	firsts := make([]entry, len(t.talks))
	for i := range t.talks {
		firsts[i] = t.talks[i].first
	}
	t.entries = append(firsts, t.entries...)
	return nil
}

// turnEntry is the request of a turn, with all that was said before it.
func (t *tool) turnEntry(one *turn, said []prompt.Message, model string) (entry, error) {
	p := prompt.Prompt{Text: one.text, Output: one.output, Session: one.session}
	if p.Output == 0 {
		p.Output = int(t.plan.Data.Output.Mean)
	}
	if len(said) > 0 {
		p.Messages = append(slices.Clone(said), prompt.Message{Role: "user", Content: one.text})
	}
	e, err := t.entryWith(p, model, one.extra)
	e.session, e.delay = one.session, one.delay
	return e, err
}

// talk is a session, or a request that is none.
type talk struct {
	first   entry
	rest    []turn
	due     time.Duration
	session string
}

// once hands out each talk once.
type once struct {
	t    *tool
	next int
}

// Next implements prompt.Source.
func (o *once) Next(context.Context) (prompt.Prompt, error) {
	if o.next == len(o.t.talks) {
		return prompt.Prompt{}, io.EOF
	}
	k := &o.t.talks[o.next]
	o.next++
	p := k.first.prompt
	if len(k.rest) > 0 {
		p.Rest = &dialogue{t: o.t, rest: k.rest, said: []prompt.Message{{Role: "user", Content: k.first.text}}}
	}
	return p, nil
}

// Schedule implements prompt.Scheduler.
func (o *once) Schedule() []time.Duration {
	var list []time.Duration
	for _, k := range o.t.talks {
		if k.due < 0 {
			return nil
		}
		list = append(list, k.due-o.t.talks[0].due)
	}
	return list
}

// dialogue is a session under way.
type dialogue struct {
	t    *tool
	rest []turn
	said []prompt.Message
	turn int
}

// Next implements prompt.Conversation.
func (d *dialogue) Next(a prompt.Answer) (prompt.Prompt, time.Duration, error) {
	if len(d.rest) == 0 || a.Failed {
		return prompt.Prompt{}, 0, io.EOF
	}
	one := d.rest[0]
	d.rest = d.rest[1:]
	d.said = append(d.said, prompt.Message{Role: "assistant", Content: a.Text})
	e, err := d.t.turnEntry(&one, d.said, d.t.set.Models[0])
	if err != nil {
		return prompt.Prompt{}, 0, err
	}
	d.said = append(d.said, prompt.Message{Role: "user", Content: one.text})
	d.turn++
	e.prompt.Turn = d.turn
	d.t.remember(e)
	if len(d.rest) > 0 {
		e.prompt.Rest = d
	}
	return e.prompt, one.delay, nil
}

// remember keeps a request that was made during the run, for the profile export.
func (t *tool) remember(e entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.later = append(t.later, e)
}
