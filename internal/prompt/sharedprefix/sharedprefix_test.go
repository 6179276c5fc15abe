package sharedprefix

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// lexicons are made once for each tokenizer.
var lexicons sync.Map

func source(t *testing.T, d plan.Data, tok prompt.Tokenizer, seed uint64, chat bool) *Source {
	t.Helper()
	known, ok := lexicons.Load(tok.Name())
	if !ok {
		l, err := lexicon.New(tok)
		if err != nil {
			t.Fatal(err)
		}
		known, _ = lexicons.LoadOrStore(tok.Name(), l)
	}
	s, err := newSource(d, known.(*lexicon.Lexicon), seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background(), prompt.Use{Chat: chat}); err != nil {
		t.Fatal(err)
	}
	return s
}

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

func TestConformance(t *testing.T) {
	out := plan.Length{Dist: plan.DistUniform, Min: 5, Max: 9}
	normal := plan.Length{Dist: plan.DistNormal, Mean: 40, Stddev: 10}
	for name, d := range map[string]plan.Data{
		"fixed":      {Output: out, SharedPrefix: plan.SharedPrefix{Prefix: fixed(100), Question: fixed(20)}},
		"normal":     {Output: out, SharedPrefix: plan.SharedPrefix{Prefix: normal, Question: normal, Groups: 7, Prompts: 100}},
		"no prefix":  {Output: out, SharedPrefix: plan.SharedPrefix{Question: normal}},
		"salted":     {Output: out, Salt: plan.SaltRequest, SharedPrefix: plan.SharedPrefix{Prefix: fixed(100), Question: fixed(20)}},
		"stage salt": {Output: out, Salt: plan.SaltStage, SharedPrefix: plan.SharedPrefix{Prefix: fixed(100), Question: fixed(20)}},
	} {
		for _, tok := range []prompt.Tokenizer{token.Words{}, gpt2(t)} {
			t.Run(name+"/"+tok.Name(), func(t *testing.T) {
				prompttest.Run(t, prompttest.Case{
					New:       func(t *testing.T, seed uint64) prompt.Source { return source(t, d, tok, seed, false) },
					Tokenizer: tok, MinOutput: 5, MaxOutput: 9, Seeded: true,
				})
			})
		}
	}
}

// All prompts of all groups come, each once, those of a group with the same tokens first
// and with no others.
func TestGroups(t *testing.T) {
	tok := gpt2(t)
	d := plan.Data{SharedPrefix: plan.SharedPrefix{Groups: 4, Prompts: 6, Prefix: fixed(50), Question: fixed(10)}}
	s := source(t, d, tok, 1, false)
	groups, seen := map[string][]string{}, map[string]bool{}
	var order []string
	for _, p := range prompttest.FirstPrompts(t, s, 24) {
		ids := tok.Encode(p.Text, false)
		if len(ids) != 60 || seen[p.Text] {
			t.Errorf("%d tokens, or sent before: %q", len(ids), p.Text)
		}
		seen[p.Text] = true
		head := tok.Decode(ids[:50], false)
		groups[head] = append(groups[head], p.Text)
		order = append(order, head)
	}
	if len(groups) != 4 || slices.IsSorted(order) {
		t.Errorf("%d groups, or one after the other", len(groups))
	}
	for _, texts := range groups {
		if len(texts) != 6 {
			t.Errorf("a group has %d prompts", len(texts))
		}
	}
	if again := prompttest.TakeAt(t, s, prompt.Position{I: 24}, 1)[0]; !seen[again.Text] {
		t.Error("the prompts do not begin again")
	}
	d.SharedPrefix.Seed = 9
	if a, b := prompttest.FirstPrompts(t, source(t, d, tok, 1, false), 1),
		prompttest.FirstPrompts(t, source(t, d, tok, 2, false), 1); a[0].Text != b[0].Text {
		t.Error("the data's own seed is not used")
	}
	d.Prompts = 3
	few := map[string]bool{}
	for _, p := range prompttest.FirstPrompts(t, source(t, d, tok, 1, false), 30) {
		few[p.Text] = true
	}
	if len(few) != 3 {
		t.Errorf("%d distinct prompts in place of 3", len(few))
	}
}

// turn carries the turn of a place out.
func turn(t *testing.T, s *Source, at prompt.Position, a prompt.Response) prompt.Prompt {
	t.Helper()
	given := prompttest.TakeAt(t, s, at, 1)[0]
	if err := given.Late.Await(context.Background()); err != nil {
		t.Fatal(err)
	}
	p, err := given.Late.Prompt()
	if err != nil || p.Session == "" || p.Session != given.Session {
		t.Fatalf("%+v: %v", p, err)
	}
	given.Late.End(a)
	return p
}

func TestConversation(t *testing.T) {
	tok := gpt2(t)
	d := plan.Data{Output: fixed(7),
		SharedPrefix: plan.SharedPrefix{Groups: 1, Prompts: 1, Prefix: fixed(50), Question: fixed(10), MultiTurn: true}}
	for _, chat := range []bool{true, false} {
		s := source(t, d, tok, 1, chat)
		said := func(p prompt.Prompt) string {
			texts := []string{p.Text}
			count := tok.Count(p.Text)
			for _, m := range p.Messages {
				texts = append(texts, m.Content)
				count += tok.Count(m.Content)
			}
			if p.Tokens != count || p.Output != 7 || (len(p.Messages) > 0) != chat {
				t.Errorf("chat %v: %d tokens are %d, %d asked for", chat, p.Tokens, count, p.Output)
			}
			return strings.TrimSpace(strings.Join(texts, " "))
		}
		first := said(turn(t, s, prompt.Position{}, prompt.Response{Text: " An answer."}))
		lost := said(turn(t, s, prompt.Position{I: 1}, prompt.Response{Failed: true}))
		third := said(turn(t, s, prompt.Position{I: 2}, prompt.Response{Text: " Another."}))
		p := turn(t, s, prompt.Position{I: 3}, prompt.Response{})
		fourth := said(p)
		if tok.Count(first) != 60 {
			t.Errorf("the first turn has %d tokens", tok.Count(first))
		}
		for i, pair := range [][2]string{{lost, first + " "}, {third, first + " "}, {fourth, third + " "}} {
			if !strings.HasPrefix(pair[0], strings.TrimSpace(pair[1])) || !strings.Contains(pair[0], "An answer.") {
				t.Errorf("chat %v, turn %d does not go on from what was said:\n%s\n%s", chat, i+2, pair[0], pair[1])
			}
		}
		if strings.HasPrefix(third, lost) || strings.Count(fourth, "An answer.") != 1 || strings.Count(fourth, "Another.") != 1 || p.Turn != 3 {
			t.Errorf("chat %v: %s", chat, fourth)
		}
		if chat && (len(p.Messages) != 5 || p.Messages[1].Role != "assistant" || p.Messages[4].Role != "user") {
			t.Errorf("%+v", p.Messages)
		}
		s.SetStage(1)
		if anew := turn(t, s, prompt.Position{Stage: 1}, prompt.Response{}); said(anew) != first || anew.Session == p.Session {
			t.Error("a stage does not begin its conversations anew")
		}
	}
}

// Where turns repeat, each is the whole prompt once more behind all that was said.
func TestRepeatedPrompt(t *testing.T) {
	d := plan.Data{Output: plan.Length{Dist: plan.DistUniform, Min: 5, Max: 500}, SharedPrefix: plan.SharedPrefix{
		Groups: 1, Prompts: 1, Prefix: fixed(50), Question: plan.Length{Dist: plan.DistUniform, Min: 5, Max: 500}, MultiTurn: true, Repeat: true,
	}}
	for _, chat := range []bool{true, false} {
		s := source(t, d, token.Words{}, 1, chat)
		var turns []prompt.Prompt
		for i, a := range []prompt.Response{{Text: " One."}, {Failed: true}, {Text: "Two."}, {}} {
			turns = append(turns, turn(t, s, prompt.Position{I: uint64(i)}, a))
		}
		first := turns[0].Text
		want := []string{first, first + "  One. " + first, first + "  One. " + first, first + "  One. " + first + " Two. " + first}
		if chat {
			first = turns[0].Messages[0].Content
			want = []string{first, first + "| One.|" + first, first + "| One.|" + first, first + "| One.|" + first + "|Two.|" + first}
		}
		for i, p := range turns {
			got := p.Text
			for k, m := range p.Messages {
				if k > 0 {
					got += "|"
				}
				got += m.Content
			}
			if got != want[i] || p.Tokens != len(strings.Fields(strings.ReplaceAll(got, "|", " "))) || p.Output != turns[0].Output || p.Turn != i || p.Session != "user_session_0" {
				t.Errorf("chat %v, turn %d of %s: %d tokens, %d asked for\n%s\nwant\n%s", chat, i, p.Session, p.Tokens, p.Output, got, want[i])
			}
		}
		s.SetStage(1)
		if anew := turn(t, s, prompt.Position{Stage: 1}, prompt.Response{}); anew.Hash != turns[0].Hash || anew.Session != "user_session_0" {
			t.Errorf("a stage does not begin its conversations anew: %+v", anew)
		}
	}
}

// One turn of a conversation is under way at a time.
func TestTurnsWait(t *testing.T) {
	d := plan.Data{SharedPrefix: plan.SharedPrefix{Groups: 1, Prompts: 2, Question: fixed(3), MultiTurn: true}}
	s := source(t, d, token.Words{}, 1, true)
	list := prompttest.FirstPrompts(t, s, 6)
	if list[0].Session != list[2].Session || list[0].Session == list[1].Session {
		t.Fatal("requests are not dealt out to the users in turn")
	}
	for _, p := range list[:2] {
		if err := p.Late.Await(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := list[2].Late.Await(ctx); err == nil {
		t.Error("a turn does not wait for the one before")
	}
	list[0].Late.End(prompt.Response{Failed: true})
	if err := list[4].Late.Await(context.Background()); err != nil { // nobody waits for one that has given up
		t.Error(err)
	}
}

func TestTooMany(t *testing.T) {
	d := plan.Data{SharedPrefix: plan.SharedPrefix{Groups: 1 << 20, Prompts: 1 << 20, Question: fixed(3)}}
	if _, err := New(d, token.Words{}, 1); err == nil || !strings.Contains(err.Error(), "data.shared_prefix") {
		t.Errorf("%v", err)
	}
}

// A stage begins with the first prompt again, whether or not users have conversations.
func TestStagesBeginAnew(t *testing.T) {
	for _, turns := range []bool{false, true} {
		s := source(t, plan.Data{SharedPrefix: plan.SharedPrefix{Question: fixed(5), MultiTurn: turns}}, gpt2(t), 1, true)
		if !s.SetStage(1) {
			t.Errorf("several turns %v: it goes on where it was", turns)
		}
	}
}
