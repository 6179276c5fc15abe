package conversations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

func tokenizers(t *testing.T) []prompt.Tokenizer {
	t.Helper()
	e, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	return []prompt.Tokenizer{token.Words{}, e}
}

// lexicons are made once for each tokenizer.
var lexicons sync.Map

func source(t *testing.T, c plan.Conversations, tok prompt.Tokenizer, seed uint64, chat bool) *Source {
	t.Helper()
	known, ok := lexicons.Load(tok.Name())
	if !ok {
		l, err := lexicon.New(tok)
		if err != nil {
			t.Fatal(err)
		}
		known, _ = lexicons.LoadOrStore(tok.Name(), l)
	}
	s, err := newSource(plan.Data{Output: fixed(7), Conversations: c}, known.(*lexicon.Lexicon), seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background(), prompt.Use{Chat: chat}); err != nil {
		t.Fatal(err)
	}
	return s
}

// turn carries the request of a place out.
func turn(t *testing.T, s *Source, stage, i int, a prompt.Response) prompt.Prompt {
	t.Helper()
	given := prompttest.TakeAt(t, s, prompt.Position{Stage: uint64(stage), I: uint64(i)}, 1)[0]
	if err := given.Late.Await(context.Background()); err != nil {
		t.Fatal(err)
	}
	p, err := given.Late.Prompt()
	if err != nil || p.Session != given.Session || p.Session == "" {
		t.Fatalf("%+v, dealt to %q: %v", p, given.Session, err)
	}
	given.Late.End(a)
	return p
}

// said is a prompt as one text, whose count must be what the prompt says.
func said(t *testing.T, p prompt.Prompt, tok prompt.Tokenizer) string {
	t.Helper()
	texts, count := []string{p.Text}, tok.Count(p.Text)
	for _, m := range p.Messages {
		texts = append(texts, m.Content)
		count += tok.Count(m.Content)
	}
	if p.Tokens != count {
		t.Errorf("turn %d says it has %d tokens and has %d", p.Turn, p.Tokens, count)
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

func TestTurns(t *testing.T) {
	c := plan.Conversations{Count: 2, SharedPrompt: 40, DynamicPrompt: fixed(10), Turns: fixed(3), Input: fixed(6)}
	for _, tok := range tokenizers(t) {
		for _, chat := range []bool{true, false} {
			s := source(t, c, tok, 1, chat)
			var list [2][]string
			var sessions [2][]string
			for i := range 8 { // three turns and one of the next conversation, of both slots
				p := turn(t, s, 0, i, prompt.Response{Text: " An answer."})
				list[i%2] = append(list[i%2], said(t, p, tok))
				sessions[i%2] = append(sessions[i%2], p.Session)
				if p.Output != 7 || p.Turn != i/2%3 || (p.Messages != nil) != chat {
					t.Errorf("request %d: %+v", i, p)
				}
				if p.Turn == 0 && p.Tokens != 56 {
					t.Errorf("a first turn has %d tokens in place of 56", p.Tokens)
				}
			}
			for k, texts := range list {
				if !strings.HasPrefix(texts[1], texts[0]) || !strings.HasPrefix(texts[2], texts[1]) || strings.Count(texts[2], "An answer.") != 2 {
					t.Errorf("slot %d: turns do not go on from those before: %q", k, texts)
				}
				if texts[3] == texts[0] || sessions[k][0] != fmt.Sprintf("conv_%d", k) || sessions[k][3] != fmt.Sprintf("slot_%d_convo_1", k) || sessions[k][1] != sessions[k][0] {
					t.Errorf("slot %d does not begin anew: %q", k, sessions[k])
				}
			}
			a, b := list[0][0], list[1][0]
			end, _ := s.lex.Tokenizer().Cut(a, 40)
			if a == b || a[:end] != b[:end] || list[0][3][:end] != a[:end] {
				t.Errorf("what is shared is not:\n%s\n%s", a, b)
			}
			s.SetStage(1)
			next := turn(t, s, 1, 0, prompt.Response{})
			if said(t, next, tok)[:end] == a[:end] {
				t.Error("the next stage finds the shared prompt of this one in the cache")
			}
			if next.Session != "slot_0_convo_1" {
				t.Errorf("a stage begins with %s", next.Session)
			}
		}
	}
}

func TestSeed(t *testing.T) {
	c := plan.Conversations{Count: 3, SharedPrompt: 5, Turns: plan.Length{Dist: plan.DistUniform, Min: 1, Max: 4},
		Input: plan.Length{Dist: plan.DistUniform, Min: 2, Max: 9}}
	all := func(seed uint64, stages ...int) (out []uint64) {
		s := source(t, c, token.Words{}, seed, true)
		for _, stage := range stages {
			s.SetStage(stage)
			out = nil
			for i := range 30 {
				out = append(out, turn(t, s, stage, i, prompt.Response{Text: "yes"}).Hash)
			}
		}
		return out
	}
	if !slices.Equal(all(1, 0), all(1, 0)) || !slices.Equal(all(1, 0, 1), all(1, 1)) {
		t.Error("a seed does not fix the prompts of a stage")
	}
	if slices.Equal(all(1, 0), all(2, 0)) || slices.Equal(all(1, 0), all(1, 1)) {
		t.Error("seeds or stages make no difference")
	}
	c.Seed = 9
	if !slices.Equal(all(1, 0), all(2, 0)) {
		t.Error("the data's own seed is not used")
	}
}

func TestFailedTurnIsLeftOut(t *testing.T) {
	s := source(t, plan.Conversations{Count: 1, Turns: fixed(9), Input: fixed(4)}, token.Words{}, 1, true)
	turn(t, s, 0, 0, prompt.Response{Text: "first"})
	lost := turn(t, s, 0, 1, prompt.Response{Failed: true, Text: "half an"})
	third := turn(t, s, 0, 2, prompt.Response{Text: "third"})
	if len(lost.Messages) != 3 || len(third.Messages) != 3 || third.Messages[2].Content == lost.Messages[2].Content || third.Turn != 2 {
		t.Errorf("%+v\n%+v", lost, third)
	}
}

func TestContextIsBounded(t *testing.T) {
	for _, tok := range tokenizers(t) {
		for _, chat := range []bool{true, false} {
			s := source(t, plan.Conversations{Count: 1, SharedPrompt: 20, Turns: fixed(30), Input: fixed(30), MaxContext: 200}, tok, 1, chat)
			var last prompt.Prompt
			for i := range 30 {
				last = turn(t, s, 0, i, prompt.Response{Text: " one two three"})
				text := said(t, last, tok)
				if last.Tokens+last.Output > 200 || !strings.HasPrefix(text, s.shared) {
					t.Fatalf("chat %v: %d tokens and %d: %s", chat, last.Tokens, last.Output, text)
				}
			}
			if last.Tokens < 80 {
				t.Errorf("chat %v: only %d of 200 tokens are used", chat, last.Tokens)
			}
			// A system prompt that is too long by itself.
			s = source(t, plan.Conversations{Count: 1, SharedPrompt: 500, Turns: fixed(2), Input: fixed(30), MaxContext: 200}, tok, 1, chat)
			p := turn(t, s, 0, 0, prompt.Response{})
			if said(t, p, tok); p.Tokens+p.Output > 200 || p.Tokens < 120 {
				t.Errorf("chat %v: %d tokens", chat, p.Tokens)
			}
		}
	}
	d := plan.Data{Output: fixed(200), Conversations: plan.Conversations{Turns: fixed(2), Input: fixed(3), MaxContext: 200}}
	if _, err := New(d, token.Words{}, 1); err == nil || !strings.Contains(err.Error(), "data.conversations.max_context") {
		t.Errorf("answers that fill the context: %v", err)
	}
}

// A tool's time passes between a response and the next turn, and only there.
func TestToolLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := source(t, plan.Conversations{Count: 1, Turns: fixed(3), Input: fixed(4), ToolLatency: fixed(700)}, token.Words{}, 1, true)
		begun := time.Now()
		for i, want := range []time.Duration{0, 700, 1400, 1400, 1400, 2100} {
			failed := i == 3 // which calls no tool
			turn(t, s, 0, i, prompt.Response{Text: "yes", Failed: failed})
			if got := time.Since(begun); got != want*time.Millisecond {
				t.Errorf("turn %d was sent after %v, want %v ms", i, got, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		s = source(t, plan.Conversations{Count: 1, Turns: fixed(3), Input: fixed(4), ToolLatency: fixed(700)}, token.Words{}, 1, true)
		turn(t, s, 0, 0, prompt.Response{Text: "yes"})
		p := prompttest.TakeAt(t, s, prompt.Position{I: 1}, 1)[0]
		if err := p.Late.Await(ctx); err == nil {
			t.Error("it does not stop waiting")
		}
		next := prompttest.TakeAt(t, s, prompt.Position{I: 2}, 2)
		if err := next[0].Late.Await(t.Context()); err != nil { // nobody waits for one that has given up
			t.Error(err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := next[1].Late.Await(ctx); err == nil {
			t.Error("two turns at once")
		}
	})
}
