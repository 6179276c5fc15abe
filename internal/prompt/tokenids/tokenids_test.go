package tokenids

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/prompt/synthetic"
	"github.com/inferometer/inferometer/internal/token"
)

func source(t *testing.T, tokens float64, seed uint64) (*Source, *token.Pipeline) {
	t.Helper()
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := synthetic.New(plan.Data{Source: plan.SourceSynthetic, Input: plan.Length{Dist: plan.DistFixed, Mean: tokens}}, tok, seed)
	if err != nil {
		t.Fatal(err)
	}
	return New(inner, tok), tok
}

// A prompt has as many ids as were asked for, and they are those of its text.
func TestIDs(t *testing.T) {
	s, tok := source(t, 100, 7)
	for i := range uint64(20) {
		p, err := s.Prompt(context.Background(), prompt.Position{I: i})
		if err != nil || len(p.IDs) != 100 || p.Tokens != 100 {
			t.Fatalf("%d ids, %d tokens, %v", len(p.IDs), p.Tokens, err)
		}
		if text := tok.Decode(p.IDs, false); text != p.Text {
			t.Errorf("%q\nwant %q", text, p.Text)
		}
	}
}

func TestChange(t *testing.T) {
	s, tok := source(t, 1, 7)
	for _, tt := range []struct {
		prompt prompt.Prompt
		want   []int32
	}{
		{prompt.Prompt{Text: "a b"}, tok.Encode("a b", false)},
		{prompt.Prompt{Messages: []prompt.Message{{Content: "a"}, {Content: "b"}}}, tok.Encode("a\nb", false)},
		{prompt.Prompt{Text: "a b", IDs: []int32{7}}, []int32{7}},
	} {
		if p, err := s.Change(tt.prompt); err != nil || !slices.Equal(p.IDs, tt.want) {
			t.Errorf("%v, %v; want %v", p.IDs, err, tt.want)
		}
	}
	for _, p := range []prompt.Prompt{{Body: []byte("{}")}, {Texts: []string{"a"}}, {Parts: []prompt.Part{{Text: "a"}}}} {
		if _, err := s.Change(p); err == nil || !strings.Contains(err.Error(), "one text") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestSource(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	prompttest.Run(t, prompttest.Case{
		New: func(t *testing.T, seed uint64) prompt.Source { s, _ := source(t, 9, seed); return s }, Tokenizer: tok, Seeded: true,
	})
}
