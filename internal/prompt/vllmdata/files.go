package vllmdata

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
	"github.com/inferometer/inferometer/internal/lib/pyhash"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// The lengths in tokens that a conversation is taken with.
const (
	leastTokens = 4
	mostPrompt  = 1024
	mostTokens  = 2048
)

// mostLength bounds the lengths that a file can ask for.
const mostLength = 10_000_000

// rowsOf reads the rows of the file that are wanted, in an order that the seed gives.
func rowsOf[R any](ctx context.Context, s *Source, read func(rows.Row) (r R, wanted bool, err error), columns ...string) ([]R, error) {
	in, err := rows.Open(prompt.Files(s.data), s.data.File, columns...)
	if err != nil {
		return nil, fault("%v", err)
	}
	defer in.Close()
	var all []R
	for {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fault("%v", err)
		}
		r, wanted, err := read(row)
		if err != nil {
			return nil, err
		}
		if wanted {
			all = append(all, r)
		}
	}
	if !s.vllm.Ordered {
		mersenne.NewPython(s.seed).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all, nil
}

func fault(format string, args ...any) error {
	return plan.Faults{{Path: "data.file", Text: strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")}}
}

// fill repeats requests at random until there are as many as asked for.
func (s *Source) fill() {
	have, draws := len(s.made), mersenne.NewPython(s.seed)
	if have == 0 || s.vllm.Short {
		return
	}
	for len(s.made) < s.vllm.Requests {
		r := s.made[draws.Below(have)]
		r.number = len(s.made)
		s.made = append(s.made, r)
	}
}

// shareGPT takes the first two turns of conversations.
func (s *Source) shareGPT(ctx context.Context) error {
	all, err := rowsOf(ctx, s, func(row rows.Row) (turns [2]string, wanted bool, _ error) {
		list, _ := row["conversations"].([]any)
		for i := range min(len(list), len(turns)) {
			turn, _ := list[i].(map[string]any)
			text, ok := turn["value"].(string)
			if !ok {
				return turns, false, fault("%s: a turn of a conversation has no text under value", s.data.File)
			}
			turns[i] = text
		}
		if len(list) >= len(turns) && (row["image"] != nil || row["video"] != nil) {
			return turns, false, fault("%s holds images or video, which are not supported", s.data.File)
		}
		return turns, len(list) >= len(turns), nil
	}, "conversations", "image", "video")
	if err != nil {
		return err
	}
	for _, turns := range all {
		if len(s.made) >= s.vllm.Requests {
			break
		}
		r := request{text: turns[0], length: len(s.code.Encode(turns[0], true)), output: s.vllm.Output, number: len(s.made)}
		if r.output == 0 {
			r.output = len(s.code.Encode(turns[1], true))
		}
		short := r.length < leastTokens || s.vllm.Output == 0 && r.output < leastTokens
		if !short && r.length <= mostPrompt && r.length+r.output <= mostTokens {
			s.made = append(s.made, r)
		}
	}
	s.fill()
	return nil
}

// custom takes the prompts of lines, with the model's template around them.
func (s *Source) custom(ctx context.Context) error {
	if !strings.HasSuffix(s.data.File, ".jsonl") {
		return fault("%s must be JSON lines, and be called .jsonl", s.data.File)
	}
	type line struct {
		text   string
		output any
	}
	all, err := rowsOf(ctx, s, func(row rows.Row) (line, bool, error) {
		text, ok := row["prompt"].(string)
		if !ok {
			return line{}, false, fault("%s: a line has no text under prompt", s.data.File)
		}
		return line{text, row["output_tokens"]}, true, nil
	}, "prompt", "output_tokens")
	if err != nil {
		return err
	}
	if s.vllm.Requests == 0 {
		s.vllm.Requests = len(all)
	}
	if !s.vllm.Bare && s.wrap == nil {
		return plan.Faults{{Path: "data.vllm_bench.bare", Text: "the tokenizer " + s.tok.Name() + " comes without a chat template", Hint: "name the tokenizer of a chat model, or send prompts as they are"}}
	}
	for _, l := range all[:min(len(all), s.vllm.Requests)] {
		r := request{text: l.text, output: s.vllm.Output, number: len(s.made)}
		if r.output == 0 {
			n, ok := l.output.(float64)
			if text, is := l.output.(string); is {
				number, err := strconv.Atoi(strings.TrimSpace(text))
				n, ok = float64(number), err == nil
			}
			if !ok || n < 0 || n > mostLength {
				return fault("%s: a line has no number under output_tokens", s.data.File)
			}
			r.output = int(n)
		}
		if !s.vllm.Bare {
			if r.text, err = s.wrap(l.text); err != nil {
				return fmt.Errorf("putting the chat template around a prompt: %w", err)
			}
		}
		r.length = len(s.code.Encode(r.text, true))
		s.made = append(s.made, r)
	}
	s.fill()
	return nil
}

// burstGPT takes the lengths of GPT-4's rows that had a response.
func (s *Source) burstGPT(context.Context) error {
	text, err := prompt.Files(s.data).ReadFile(s.data.File)
	if err != nil {
		return fault("%v", err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(lines) < 2 {
		return fault("%s is no table with a head: %v", s.data.File, err)
	}
	model, answer := slices.Index(lines[0], "Model"), slices.Index(lines[0], "Response tokens")
	if model < 0 || answer < 0 {
		return fault("%s has no column Model or Response tokens", s.data.File)
	}
	const input, output = 2, 3 // columns, whatever they are called
	var all [][2]int
	for _, line := range lines[1:] {
		n, err := strconv.ParseFloat(line[answer], 64)
		if line[model] != "GPT-4" || err != nil || n <= 0 {
			continue
		}
		in, err := strconv.ParseFloat(line[input], 64)
		out, also := strconv.ParseFloat(line[output], 64)
		if err != nil || also != nil || !(in >= 0 && in <= mostLength && out >= 0 && out <= mostLength) {
			return fault("%s: the third and the fourth column of a row are no numbers of tokens", s.data.File)
		}
		all = append(all, [2]int{int(in), int(out)})
	}
	draws, order := mersenne.NewNumPy(uint32(s.seed)), make([]int, 0, s.vllm.Requests)
	if s.vllm.Requests <= len(all) {
		order = draws.Permutation(len(all))[:s.vllm.Requests]
	}
	for len(order) < s.vllm.Requests && len(all) > 0 {
		order = append(order, draws.Below(len(all)))
	}
	for i, at := range order {
		ids := make([]int32, all[at][0])
		for k := range ids {
			ids[k] = int32((i + k) % s.vocab.BaseSize())
		}
		s.made = append(s.made, request{text: s.code.Decode(ids, false), length: len(ids), output: all[at][1], number: i})
	}
	return nil
}

// timed takes the rows of a trace, whose prompts are tokens that hashes stand for.
func (s *Source) timed(context.Context) error {
	text, err := prompt.Files(s.data).ReadFile(s.data.File)
	if err != nil {
		return fault("%v", err)
	}
	t := &s.vllm.Timed
	known := map[string][]int32{}
	for line := range strings.Lines(string(text)) {
		if len(s.made) >= s.vllm.Requests {
			break
		}
		var row map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return fault("%s: row %d: %v", s.data.File, len(s.made)+1, err)
		}
		var length, output, at float64
		var hashes []int64
		for _, f := range []struct {
			name string
			to   any
		}{{t.Input, &length}, {t.Output, &output}, {t.Timestamp, &at}, {t.Hashes, &hashes}} {
			value := row[f.name]
			if value == nil && f.to == any(&hashes) {
				continue
			}
			if value == nil || json.Unmarshal(value, f.to) != nil {
				return fault("%s: row %d has nothing to read under %s", s.data.File, len(s.made)+1, f.name)
			}
		}
		r := request{ids: []int32{}, output: int(output), number: len(s.made), due: time.Duration(at * t.Second * float64(time.Second))}
		for left := int(length); len(hashes) > 0 && left > 0; hashes = hashes[1:] {
			n := min(left, max(t.Chunk, 1))
			key := fmt.Sprintf("%d:%d", hashes[0], n)
			if known[key] == nil {
				known[key] = s.chunk(key, n)
			}
			r.ids = append(r.ids, known[key]...)
			left -= n
		}
		r.length = len(r.ids)
		s.made = append(s.made, r)
	}
	return nil
}

// chunk draws the tokens that a key stands for.
func (s *Source) chunk(key string, n int) []int32 {
	draws, from := mersenne.NewPython(pyhash.Text(key, s.vllm.Timed.HashSeed)&math.MaxUint32), s.vocab.Ordinary()
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = from[int(draws.Float()*float64(len(from)))]
	}
	return ids
}
