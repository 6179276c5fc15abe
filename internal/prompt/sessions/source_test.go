package sessions

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// words counts and cuts by words.
type words struct{}

func (words) Name() string          { return "words" }
func (words) Count(text string) int { return len(strings.Fields(text)) }

func (words) Cut(text string, n int) (int, bool) {
	fields := strings.Fields(text)
	if len(fields) < n {
		return 0, false
	}
	return len(strings.Join(fields[:n], " ")), true
}

// made are texts of a word that its seed and number tell.
func made(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return &maker{seed: seed, input: prompt.NewLengths(d.Input, seed), output: prompt.NewLengths(d.Output, seed),
		prefix: d.Prefixes.Count > 0}, nil
}

type maker struct {
	seed          uint64
	input, output *prompt.Lengths
	prefix        bool
}

func (m *maker) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	n := m.input.At(at.I)
	text := strings.TrimSuffix(strings.Repeat("w"+string(prompt.NewSalt(plan.SaltRequest, m.seed).Append(nil, at)), n), " ")
	p := prompt.Prompt{Text: text, Output: m.output.At(at.I), Tokens: n, Hash: prompt.HashText(text)}
	if m.prefix {
		p.Text = "prefix " + p.Text
		p.Tokens, p.Hash = n+1, prompt.HashText(p.Text)
	}
	return p, nil
}

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

func payload(t *testing.T, text string, p plan.Payload) (*Source, error) {
	t.Helper()
	d := plan.Data{File: "trace.jsonl", Input: fixed(7), Output: fixed(9), Payload: p}
	return NewPayload(d, words{}, 1, made, func(string) ([]byte, error) { return []byte(text), nil })
}

func TestPrompts(t *testing.T) {
	normal := plan.Length{Dist: plan.DistNormal, Mean: 5, Stddev: 2}
	const lines = `{"input_length": 6, "hash_ids": [1]}` + "\n" + `{"input_length": 5}` + "\n"
	d := plan.Data{File: "trace.jsonl", Input: normal, Output: fixed(3), Sessions: plan.Sessions{Count: 900}}
	for name, make := range map[string]func(seed uint64) (*Source, error){
		"sessions": func(seed uint64) (*Source, error) { return NewSessions(d, words{}, seed, made) },
		"endless": func(seed uint64) (*Source, error) {
			d := d
			d.Sessions = plan.Sessions{Turns: plan.Length{Dist: plan.DistUniform, Min: 1, Max: 4}}
			return NewSessions(d, words{}, seed, made)
		},
		"payload": func(seed uint64) (*Source, error) {
			return NewPayload(d, words{}, seed, made, func(string) ([]byte, error) { return []byte(lines), nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			prompttest.Run(t, prompttest.Case{
				New: func(t *testing.T, seed uint64) prompt.Source {
					s, err := make(seed)
					if err != nil {
						t.Fatal(err)
					}
					return s
				},
				Tokenizer: words{}, MinOutput: 3, MaxOutput: 3, Seeded: true,
			})
		})
	}
}

// play goes through a session as an engine does, and shows each turn.
func play(t *testing.T, p prompt.Prompt, answers ...prompt.Response) string {
	t.Helper()
	var b strings.Builder
	show := func(p *prompt.Prompt) {
		b.WriteString(p.Session + ":")
		if p.Messages == nil {
			b.WriteString(p.Text)
		}
		for _, m := range p.Messages {
			b.WriteString(m.Role[:1] + "=" + m.Content + ",")
		}
	}
	show(&p)
	for _, a := range answers {
		if p.Rest == nil {
			b.WriteString(" end")
			return b.String()
		}
		next, think, err := p.Rest.Next(a)
		if errors.Is(err, io.EOF) {
			b.WriteString(" over")
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(" " + think.String() + " ")
		show(&next)
		p = next
	}
	return b.String()
}

const trace = `{"timestamp": 20, "session_id": "a", "text": "one", "delay": 4, "priority": 2}
{"timestamp": 10, "text_input": "alone", "output_length": 3}

{"timestamp": 30, "session_id": "a", "text": "two"}
`

// Hashes without a length stand for whole blocks.
func TestHashesAlone(t *testing.T) {
	s, err := payload(t, `{"hash_ids": [1, 2, 3]}`, plan.Payload{})
	if err != nil {
		t.Fatal(err)
	}
	if p := prompttest.FirstPrompts(t, s, 1)[0]; p.Tokens != 3*block {
		t.Errorf("%d tokens, want three blocks", p.Tokens)
	}
}

func TestPayload(t *testing.T) {
	s, err := payload(t, trace, plan.Payload{DelayRatio: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), prompt.Use{Chat: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Duration{0, 10 * time.Millisecond}, s.Schedule().List()); diff != "" {
		t.Error(diff)
	}
	list := prompttest.FirstPrompts(t, s, 4)
	ok, failed := prompt.Response{Text: "yes"}, prompt.Response{Failed: true}
	for i, want := range []string{":alone end", "a:one 2ms a:u=one,a=yes,u=two, end", ":alone end", "a#2:one over"} {
		answer := ok
		if i == 3 {
			answer = failed
		}
		if got := play(t, list[i], answer, ok); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if list[0].Output != 3 || list[1].Output != 9 {
		t.Errorf("lengths of answers %d and %d, want 3 and the plan's 9", list[0].Output, list[1].Output)
	}
	if f := list[1].Fields; len(f) != 1 || f[0].Name != "priority" || string(f[0].Value) != "2" {
		t.Errorf("fields %+v", f)
	}
	if turns, err := s.Turns(t.Context()); err != nil || len(turns) != 3 || turns[1].Think != 2*time.Millisecond || turns[2].Prompt.Turn != 1 || turns[2].Prompt.Text != "two" {
		t.Errorf("turns %+v", turns)
	}
}

// Every line for itself, and a conversation as one text.
func TestPayloadWithoutChats(t *testing.T) {
	s, err := payload(t, trace, plan.Payload{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Sessions() != 3 {
		t.Errorf("%d sessions, want 3", s.Sessions())
	}
	if s, err = payload(t, trace, plan.Payload{}); err != nil {
		t.Fatal(err)
	}
	list := prompttest.FirstPrompts(t, s, 2)
	if got, want := play(t, list[1], prompt.Response{Text: "yes"}), "a:one 4ms a:one\nyes\ntwo"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Texts with the same hashes begin alike.
func TestBlocks(t *testing.T) {
	s, err := payload(t, `{"input_length": 600, "hash_ids": [1, 2]}`+"\n"+`{"input_length": 900, "hash_ids": [1, 3]}`+"\n"+`{"input_length": 4}`+"\n{}", plan.Payload{})
	if err != nil {
		t.Fatal(err)
	}
	list := prompttest.FirstPrompts(t, s, 4)
	for i, n := range []int{600, 900, 4, 7} {
		if list[i].Tokens != n {
			t.Errorf("%d tokens, want %d", list[i].Tokens, n)
		}
	}
	a, b := strings.Fields(list[0].Text), strings.Fields(list[1].Text)
	if diff := cmp.Diff(a[:block], b[:block]); diff != "" || a[block] == b[block] {
		t.Errorf("the first %d words differ, or the next do not: %s", block, diff)
	}
}

func TestBadPayloads(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "trace.jsonl: the file has no requests",
		"{}\n[1]":                                "trace.jsonl:2: is not a JSON object",
		`{"text": }`:                             "trace.jsonl:1: is not valid JSON",
		`{"text": 3}`:                            "trace.jsonl:1: text: ",
		`{"text": "a", "text_input": "b"}`:       "has both text and text_input",
		`{"timestamp": -1}`:                      "-1 is not a number of milliseconds",
		`{"input_length": -1}`:                   "a length is negative",
		`{"input_length": 513, "hash_ids": [1]}`: "cover at most 512 tokens",
		`{"timestamp": 1, "text": "a"}` + "\n" + `{}`: "trace.jsonl:2: has no timestamp",
	} {
		if _, err := payload(t, text, plan.Payload{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := NewPayload(plan.Data{File: "none"}, words{}, 1, made, func(string) ([]byte, error) { return nil, os.ErrNotExist })
	if err == nil || !strings.Contains(err.Error(), "data.file") {
		t.Errorf("no file: %v", err)
	}
}

func TestSessions(t *testing.T) {
	d := plan.Data{
		Input: fixed(2), Output: fixed(5), Prefixes: plan.Prefixes{Count: 3, Length: fixed(1)},
		Sessions: plan.Sessions{Count: 2, Turns: fixed(3), Delay: fixed(10), DelayRatio: 1.5},
	}
	s, err := NewSessions(d, words{}, 1, made)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := s.Turns(t.Context())
	if err != nil || len(turns) != 6 || s.Sessions() != 2 || s.Schedule() != nil {
		t.Fatalf("%d turns of %d sessions", len(turns), s.Sessions())
	}
	for i, one := range turns {
		first, last := i%3 == 0, i%3 == 2
		if strings.HasPrefix(one.Prompt.Text, "prefix ") != first || (one.Think == 0) != last || one.Prompt.Turn != i%3 {
			t.Errorf("turn %d: %+v", i, one)
		}
		if !last && one.Think != 15*time.Millisecond {
			t.Errorf("a pause of %s, want 15ms", one.Think)
		}
	}
}

func FuzzPayload(f *testing.F) {
	f.Add(trace)
	f.Add(`{"input_length": 6, "hash_ids": [1], "output_length": 2}`)
	mutate.Fuzz(f, func(t *testing.T, text string) {
		if strings.Contains(text, "length") && len(text) > 200 {
			return // long texts take long
		}
		s, err := NewPayload(plan.Data{File: "f", Input: fixed(1)}, words{}, 1, func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			d.Input.Mean = min(d.Input.Mean, 1000)
			return made(d, tok, seed)
		}, func(string) ([]byte, error) { return []byte(text), nil })
		if err != nil {
			return
		}
		for _, p := range prompttest.FirstPrompts(t, s, s.Sessions()) {
			for p.Rest != nil {
				if p, _, err = p.Rest.Next(prompt.Response{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.Schedule().List()
	})
}
