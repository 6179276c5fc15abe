package random

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

func gpt2(t testing.TB) *token.Pipeline {
	t.Helper()
	e, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const trace = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,37,4\n2023-11-16 18:15:46.83,39,9\n2023-11-16 18:15:50.98,8,5\n"

func with(text string) func(string) ([]byte, error) {
	return func(string) ([]byte, error) { return []byte(text), nil }
}

// lexicons are made once for each tokenizer.
var lexicons sync.Map

func source(t *testing.T, d plan.Data, tok prompt.Tokenizer, seed uint64) *Source {
	t.Helper()
	known, ok := lexicons.Load(tok.Name())
	if !ok {
		l, err := lexicon.New(tok)
		if err != nil {
			t.Fatal(err)
		}
		known, _ = lexicons.LoadOrStore(tok.Name(), l)
	}
	s, err := newSource(d, known.(*lexicon.Lexicon), seed, with(trace))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	normal := plan.Length{Dist: plan.DistNormal, Mean: 60, Stddev: 30}
	out := plan.Length{Dist: plan.DistUniform, Min: 4, Max: 9}
	for name, d := range map[string]plan.Data{
		"normal":        {Input: normal, Output: out},
		"pool":          {Input: normal, Output: out, Prompts: 10},
		"salted":        {Input: normal, Output: out, Salt: plan.SaltRequest},
		"salted pool":   {Input: normal, Output: out, Prompts: 10, Salt: plan.SaltRequest},
		"stage salt":    {Input: normal, Output: out, Salt: plan.SaltStage},
		"single tokens": {Input: plan.Length{Dist: plan.DistFixed, Mean: 1}, Output: out},
		"trace":         {Trace: plan.Trace{Lengths: "trace.csv"}},
	} {
		for _, tok := range []prompt.Tokenizer{token.Words{}, gpt2(t)} {
			t.Run(name+"/"+tok.Name(), func(t *testing.T) {
				prompttest.Run(t, prompttest.Case{
					New:       func(t *testing.T, seed uint64) prompt.Source { return source(t, d, tok, seed) },
					Tokenizer: tok, MinOutput: 4, MaxOutput: 9, Seeded: true,
				})
			})
		}
	}
}

func TestLengthsOfATrace(t *testing.T) {
	s := source(t, plan.Data{Trace: plan.Trace{Lengths: "trace.csv"}}, gpt2(t), 1)
	for stage := range 2 {
		s.SetStage(stage)
		for i, p := range prompttest.TakeAt(t, s, prompt.Position{Stage: uint64(stage)}, 7) {
			in, out := []int{37, 39, 8}[i%3], []int{4, 9, 5}[i%3]
			if p.Tokens != in || p.Output != out {
				t.Errorf("request %d of stage %d has %d and %d tokens, want %d and %d", i, stage, p.Tokens, p.Output, in, out)
			}
		}
	}
	for name, read := range map[string]func(string) ([]byte, error){
		"data.trace.lengths": func(string) ([]byte, error) { return nil, os.ErrNotExist },
		"trace.csv:1":        with("1,2"),
	} {
		_, err := New(plan.Data{Trace: plan.Trace{Lengths: "trace.csv"}}, token.Words{}, 1, read)
		var faults plan.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

func wrap(text string) (string, error) {
	return "<|user|>\n" + strings.TrimSpace(text) + "\n<|assistant|>\n", nil
}

func TestTemplate(t *testing.T) {
	tok := gpt2(t)
	d := plan.Data{Input: plan.Length{Dist: plan.DistUniform, Min: 20, Max: 60}, Template: true}
	for _, chat := range []bool{false, true} {
		s := source(t, d, tok, 1)
		if err := s.Open(context.Background(), prompt.Use{Chat: chat, Wrap: wrap}); err != nil {
			t.Fatal(err)
		}
		for _, p := range prompttest.FirstPrompts(t, s, 50) {
			whole := p.Text
			if chat {
				whole, _ = wrap(p.Text)
			}
			if n := tok.Count(whole); n != p.Tokens || n < 20 || n > 60 || strings.Contains(p.Text, "<|user|>") == chat {
				t.Errorf("a prompt of %d tokens has %d (chat %v): %q", p.Tokens, n, chat, p.Text)
			}
		}
	}
	s := source(t, d, tok, 1)
	if err := s.Open(context.Background(), prompt.Use{}); err == nil || !strings.Contains(err.Error(), "data.template") {
		t.Errorf("no template: %v", err)
	}
	d.Input = plan.Length{Dist: plan.DistFixed, Mean: 5}
	s = source(t, d, tok, 1)
	if err := s.Open(context.Background(), prompt.Use{Wrap: wrap}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(context.Background(), prompt.Position{}); err == nil || !strings.Contains(err.Error(), "leaves no room") {
		t.Errorf("a prompt shorter than its template: %v", err)
	}
}

type mute struct{}

func (mute) Name() string     { return "mute" }
func (mute) Count(string) int { return 1 }

func TestTokenizerMustCut(t *testing.T) {
	if _, err := New(plan.Data{}, mute{}, 1, nil); err == nil || !strings.Contains(err.Error(), "mute") {
		t.Errorf("%v", err)
	}
}

// A trace that is gone through once ends every stage.
func TestOnce(t *testing.T) {
	s := source(t, plan.Data{Trace: plan.Trace{Lengths: "trace.csv", Once: true}}, token.Words{}, 1)
	for stage := range uint64(2) {
		if p := prompttest.TakeAt(t, s, prompt.Position{Stage: stage}, 3); p[2].Tokens != 8 || p[2].Output != 5 {
			t.Errorf("stage %d: %+v", stage, p[2])
		}
		if _, err := s.Prompt(context.Background(), prompt.Position{Stage: stage, I: 3}); !errors.Is(err, io.EOF) {
			t.Errorf("stage %d goes on: %v", stage, err)
		}
	}
}

// Lengths that are drawn ahead come again in every stage, with other words.
func TestAhead(t *testing.T) {
	uniform := plan.Length{Dist: plan.DistUniform, Min: 10, Max: 60}
	s := source(t, plan.Data{Input: uniform, Output: uniform, Ahead: plan.Ahead{Input: 9, Output: 9}}, token.Words{}, 5)
	first, second := prompttest.FirstPrompts(t, s, 8), prompttest.TakeAt(t, s, prompt.Position{Stage: 1}, 8)
	for i := range first {
		if a, b := &first[i], &second[i]; a.Tokens != b.Tokens || a.Output != b.Output || a.Text == b.Text {
			t.Errorf("prompt %d: %d and %d tokens in the first stage, %d and %d in the second", i, a.Tokens, a.Output, b.Tokens, b.Output)
		}
	}
	if first[0].Tokens == first[2].Tokens && first[0].Tokens == first[3].Tokens {
		t.Error("all are as long")
	}
}

// special is a tokenizer of words that puts two special tokens around a text.
type special struct{ token.Words }

func (special) Name() string { return "special" }

func (s special) Encode(text string, special bool) []int32 {
	n := s.Count(text)
	if special {
		n += 2
	}
	return make([]int32, n)
}

// Special tokens are counted where the plan wants the length of all that the model sees.
func TestSpecialTokens(t *testing.T) {
	for counted, want := range map[string]int{"": 20, plan.CountPrompt: 18} {
		d := plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: 20}, Counted: counted}
		if p := prompttest.FirstPrompts(t, source(t, d, special{}, 1), 1)[0]; p.Tokens != want || len(strings.Fields(p.Text)) != want {
			t.Errorf("%q: %d tokens, want %d: %q", counted, p.Tokens, want, p.Text)
		}
	}
}
