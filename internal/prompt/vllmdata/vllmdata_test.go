package vllmdata

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

// gpt2 is a small tokenizer of GPT-2's kind.
func gpt2(t testing.TB) *token.Pipeline {
	t.Helper()
	in, err := os.Open("../../token/testdata/gpt2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := token.FromJSON("gpt2", data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func wrap(text string) (string, error) { return "<user>" + text + "</user>", nil }

func open(t testing.TB, d plan.Data, seed uint64) *Source {
	t.Helper()
	s, err := New(d, gpt2(t), seed)
	if err == nil {
		err = s.Open(context.Background(), prompt.Use{Wrap: wrap})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The requests of 0.32.0 with the tokenizer of GPT-2, and when they were due, as testdata has them.
func TestRequestsOfTheOriginal(t *testing.T) {
	text, err := os.ReadFile("testdata/original.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Data     plan.VLLM
		File     string
		Seed     uint64
		Requests []struct {
			Prompt any
			Tokens int
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%d %s", i, c.Data.Kind), func(t *testing.T) {
			d := plan.Data{VLLM: c.Data}
			if c.File != "" {
				d.File = filepath.Join("testdata", c.File)
			}
			s := open(t, d, c.Seed)
			if len(s.made) != len(c.Requests) {
				t.Fatalf("%d requests, want %d", len(s.made), len(c.Requests))
			}
			for k, want := range c.Requests {
				p, err := s.Prompt(context.Background(), prompt.Position{I: uint64(k)})
				if err != nil {
					t.Fatal(err)
				}
				got := any(p.Text)
				if len(p.Fields) > 0 {
					if err := json.Unmarshal(p.Fields[0].Value, &got); err != nil {
						t.Fatal(err)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want.Prompt) || p.Output != want.Tokens {
					t.Fatalf("request %d: %d tokens of %.200q, want %d of %.200q", k, p.Output, fmt.Sprint(got), want.Tokens, fmt.Sprint(want.Prompt))
				}
			}
		})
	}
}

func TestConformance(t *testing.T) {
	prompttest.Run(t, prompttest.Case{
		New: func(t *testing.T, seed uint64) prompt.Source {
			v := plan.VLLM{Kind: plan.VLLMRandom, Requests: 500, Input: 12, Output: 8, InputRange: 0.3, OutputRange: 0.5, Prefix: 3}
			return open(t, plan.Data{VLLM: v}, seed)
		},
		Tokenizer: gpt2(t), MinOutput: 4, MaxOutput: 12, Seeded: true,
	})
}

// Times as numpy draws them: at a rate they end at the number of requests ÷ rate.
func TestArrivals(t *testing.T) {
	data := plan.VLLM{Kind: plan.VLLMRandom, Requests: 12, Input: 4, Output: 1, Arrivals: plan.VLLMArrivals{Rate: 30, Burstiness: 0.5}}
	want := []float64{
		0.015947447660862042, 0.0357909705485461, 0.045206378967127835, 0.05525124488868529, 0.10139408682843423, 0.11862628317406612,
		0.11889099455332848, 0.11891243867984984, 0.16200245085258844, 0.38809446280814014, 0.39926616807890397, 0.4,
	}
	for i, due := range open(t, plan.Data{VLLM: data}, 0).due {
		if d := due - time.Duration(want[i]*1e9); d < -2 || d > 2 {
			t.Errorf("request %d is due at %v, want %v s", i, due, want[i])
		}
	}
	for _, c := range []struct {
		a    plan.VLLMArrivals
		want string
	}{
		{plan.VLLMArrivals{Rate: 10}, "[100ms 200ms 300ms]"},
		{plan.VLLMArrivals{Rate: 10, RampTo: 20}, "[100ms 166.666667ms 216.666667ms]"},
		{plan.VLLMArrivals{Rate: 10, RampTo: 40, Exponential: true}, "[100ms 150ms 175ms]"},
		{plan.VLLMArrivals{}, "[0s 0s 0s]"},
	} {
		data.Requests, data.Arrivals = 3, c.a
		if got := fmt.Sprint(open(t, plan.Data{VLLM: data}, 0).due); got != c.want {
			t.Errorf("%+v: %s, want %s", c.a, got, c.want)
		}
	}
}

// differs: vllm-fork-fill
func TestFork(t *testing.T) {
	v := plan.VLLM{Kind: plan.VLLMRandom, Release: plan.VLLMFork, Requests: 6, Input: 64, Output: 16, InputRange: 0.8, OutputRange: 0.8}
	s := open(t, plan.Data{VLLM: v}, 0)
	var outputs []int
	for _, r := range s.made {
		outputs = append(outputs, r.output)
	}
	if !slices.Equal(outputs, []int{13, 15, 14, 16, 12, 12}) { // as numpy draws them with that seed
		t.Errorf("%v", outputs)
	}
	s = open(t, plan.Data{VLLM: v, Template: true}, 0)
	for i, r := range s.made {
		if !strings.HasPrefix(r.text, "<user>") || r.length > 64+3 {
			t.Errorf("request %d has %d tokens: %q", i, r.length, r.text)
		}
	}
}

// The first stage of a rehearsed run repeats the first request, which then has no number.
func TestRehearsal(t *testing.T) {
	s := open(t, plan.Data{VLLM: plan.VLLM{Kind: plan.VLLMRandom, Requests: 3, Input: 4, Output: 1, Rehearsed: true, IDPrefix: "x-"}}, 0)
	warm := prompttest.TakeAt(t, s, prompt.Position{I: 5}, 2)
	main := prompttest.TakeAt(t, s, prompt.Position{Stage: 1}, 3)
	if warm[0].Text != main[0].Text || warm[1].Text != main[0].Text || warm[0].Headers != nil {
		t.Errorf("%+v, then %+v", warm, main)
	}
	for i, p := range main {
		if want := fmt.Sprintf("x-%d", i); p.Headers[0] != [2]string{"x-request-id", want} {
			t.Errorf("%v, want %s", p.Headers, want)
		}
	}
	if _, err := s.Prompt(context.Background(), prompt.Position{Stage: 1, I: 3}); !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
}

func TestBatchesAndPairs(t *testing.T) {
	s := open(t, plan.Data{Batch: 4, VLLM: plan.VLLM{Kind: plan.VLLMRandom, Requests: 10, Input: 6, Output: 1}}, 0)
	var sizes []int
	for _, r := range s.made {
		sizes = append(sizes, len(r.texts))
	}
	if !slices.Equal(sizes, []int{4, 4, 2}) {
		t.Errorf("%v", sizes)
	}
	for pairs, want := range map[bool][]int{true: {4, 4}, false: {3, 3, 2}} {
		s := open(t, plan.Data{Batch: 3, VLLM: plan.VLLM{Kind: plan.VLLMRerank, Requests: 6, Input: 32, Pairs: pairs}}, 0)
		var sizes []int
		for _, r := range s.made {
			sizes = append(sizes, len(r.texts))
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("pairs %v: %v, want %v", pairs, sizes, want)
		}
	}
}

// server tokenizes by words, and puts tokens back as words.
type server struct{ asked, put int }

func (s *server) Tokens(_ context.Context, text string) ([]int32, error) {
	s.asked++
	if s.asked == 0 {
		return nil, errors.New("no such page")
	}
	return make([]int32, len(text)), nil
}

func (s *server) Text(_ context.Context, ids []int32) (string, error) {
	s.put++
	return strings.Repeat("x", len(ids)), nil
}

func TestAlign(t *testing.T) {
	data := plan.Data{VLLM: plan.VLLM{Kind: plan.VLLMRandom, Requests: 3, Input: 9, Output: 1, Align: "m"}}
	for start, want := range map[int]string{0: "3 prompts longer there", -1: "does not tokenize"} {
		s, err := New(data, gpt2(t), 1)
		if err != nil {
			t.Fatal(err)
		}
		by := &server{asked: start}
		if err := s.Open(context.Background(), prompt.Use{Server: by}); err != nil || !strings.Contains(strings.Join(s.Notes(), " "), want) {
			t.Errorf("%v, %v", err, s.Notes())
		}
		if cut := s.made[2].text == strings.Repeat("x", 9); cut != (start == 0) {
			t.Errorf("from %d: %q", start, s.made[2].text)
		}
	}
}

func TestFaults(t *testing.T) {
	for want, d := range map[string]plan.Data{
		"no kind of its requests":      {VLLM: plan.VLLM{Kind: "odd"}},
		"prompts can have 0 tokens":    {VLLM: plan.VLLM{Kind: plan.VLLMRandom, Requests: 1}},
		"3 are more than the 2":        {VLLM: plan.VLLM{Kind: plan.VLLMPrefixes, Requests: 2, Prefixes: 3}},
		"leave no documents":           {VLLM: plan.VLLM{Kind: plan.VLLMRerank, Requests: 1, Input: 8}},
		"be called .jsonl":             {File: "x.json", VLLM: plan.VLLM{Kind: plan.VLLMCustom}},
		"no such file":                 {File: "none.jsonl", VLLM: plan.VLLM{Kind: plan.VLLMCustom}},
		"no text under prompt":         {File: file(t, "a.jsonl", `{"x": 1}`), VLLM: plan.VLLM{Kind: plan.VLLMCustom}},
		"no number under output":       {File: file(t, "b.jsonl", `{"prompt": "a"}`), VLLM: plan.VLLM{Kind: plan.VLLMCustom}},
		"no row that can be sent":      {File: file(t, "c.json", `[{"conversations": [{"value": "a"}, {"value": "b"}]}]`), VLLM: plan.VLLM{Kind: plan.VLLMShareGPT, Requests: 1}},
		"no text under value":          {File: file(t, "d.json", `[{"conversations": [{"x": "a"}, {"value": "b"}]}]`), VLLM: plan.VLLM{Kind: plan.VLLMShareGPT, Requests: 1}},
		"images or video":              {File: file(t, "e.json", `[{"image": "x", "conversations": [{"value": "a"}, {"value": "b"}]}]`), VLLM: plan.VLLM{Kind: plan.VLLMShareGPT, Requests: 1}},
		"no column Model":              {File: file(t, "f.csv", "a,b\n1,2\n"), VLLM: plan.VLLM{Kind: plan.VLLMBurstGPT, Requests: 1}},
		"no numbers of tokens":         {File: file(t, "g.csv", "a,Model,c,d,Response tokens\n1,GPT-4,x,1,5\n"), VLLM: plan.VLLM{Kind: plan.VLLMBurstGPT, Requests: 1}},
		"nothing to read under length": {File: file(t, "h.jsonl", `{"at": 1}`), VLLM: plan.VLLM{Kind: plan.VLLMTimed, Requests: 1, Timed: plan.VLLMTimedRows{Input: "length"}}},
	} {
		s, err := New(d, gpt2(t), 1)
		if err == nil {
			err = s.Open(context.Background(), prompt.Use{Wrap: wrap})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := New(plan.Data{}, token.Words{}, 1); err == nil || !strings.Contains(err.Error(), "no vocabulary") {
		t.Errorf("%v", err)
	}
	s, err := New(plan.Data{File: file(t, "i.jsonl", `{"prompt": "a"}`), VLLM: plan.VLLM{Kind: plan.VLLMCustom, Output: 3}}, gpt2(t), 1)
	if err == nil {
		err = s.Open(context.Background(), prompt.Use{})
	}
	if err == nil || !strings.Contains(err.Error(), "without a chat template") {
		t.Errorf("%v", err)
	}
}

// Files of any content are read or refused.
func FuzzFiles(f *testing.F) {
	f.Add(`[{"conversations": [{"value": "one two three four"}, {"value": "five six seven eight"}]}]`, 0)
	f.Add(`{"prompt": "a", "output_tokens": 4}`, 1)
	f.Add("Timestamp,Model,Request tokens,Response tokens\n1,GPT-4,5,6\n", 2)
	f.Add(`{"timestamp": 1, "input_length": 40, "output_length": 2, "hash_ids": [1, 2, 3]}`, 3)
	kinds := []string{plan.VLLMShareGPT, plan.VLLMCustom, plan.VLLMBurstGPT, plan.VLLMTimed}
	tok := gpt2(f)
	mutate.Fuzz(f, func(t *testing.T, text string, kind int) {
		timed := plan.VLLMTimedRows{Chunk: 16, Second: 1, Timestamp: "timestamp", Input: "input_length", Output: "output_length", Hashes: "hash_ids"}
		v := plan.VLLM{Kind: kinds[uint(kind)%4], Requests: 3, Timed: timed}
		s, err := New(plan.Data{File: file(t, "x.jsonl", text), VLLM: v}, tok, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Open(context.Background(), prompt.Use{Wrap: wrap}); err != nil {
			return
		}
		if due := s.due; len(due) != len(s.made) || !slices.IsSorted(due) {
			t.Errorf("%d requests are due at %v", len(s.made), due)
		}
	})
}

// Draws of rows go on behind those of prompts.
func TestOneGenerator(t *testing.T) {
	s := open(t, plan.Data{VLLM: plan.VLLM{
		Kind: plan.VLLMPrefixes, Requests: 4, Prefixes: 2, Prefix: 3, Input: 3, Output: 1,
		Arrivals: plan.VLLMArrivals{Rate: 5, Burstiness: 1},
	}}, 3)
	fresh := mersenne.NewNumPy(3)
	if first := fresh.Gamma(1); s.due[0] == time.Duration(first/5*1e9) {
		t.Errorf("the times begin anew: %v", s.due)
	}
}
