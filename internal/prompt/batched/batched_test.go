package batched

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
)

// texts gives a number of prompts of one token each.
type texts struct{ most int }

func (s texts) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	n := int(at.I) + 1
	if n > s.most {
		return prompt.Prompt{}, io.EOF
	}
	text := fmt.Sprint(n)
	return prompt.Prompt{
		Text: text, Tokens: 1, Output: n, Hash: prompt.HashText(text),
		Parts: []prompt.Part{{Text: text}, {Kind: prompt.Image, URL: text}},
	}, nil
}

func (s texts) Schedule() prompt.Moments {
	return prompt.NewMoments([]time.Duration{1, 2, 3, 4, 5, 6, 7})
}

func TestBatches(t *testing.T) {
	for _, tt := range []struct {
		texts  int
		query  bool
		first  prompt.Prompt
		images int
		due    []time.Duration
		count  int
	}{
		{3, false, prompt.Prompt{Text: "1", Texts: []string{"1", "2", "3"}, Tokens: 3, Output: 1}, 3, []time.Duration{1, 4, 7}, 2},
		{2, true, prompt.Prompt{Text: "1", Texts: []string{"2", "3"}, Tokens: 3, Output: 1}, 3, []time.Duration{1, 4, 7}, 2},
		{0, true, prompt.Prompt{Text: "1", Texts: []string{"2"}, Tokens: 2, Output: 1}, 2, []time.Duration{1, 3, 5, 7}, 3},
	} {
		s := New(texts{most: 7}, tt.texts, tt.query)
		p, err := s.Prompt(t.Context(), prompt.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Parts) != tt.images {
			t.Errorf("%d images, want %d", len(p.Parts), tt.images)
		}
		q, _ := s.Prompt(t.Context(), prompt.Position{I: 1})
		if p.Hash == q.Hash {
			t.Error("two prompts have the same hash")
		}
		p.Hash, p.Parts = 0, nil
		if d := cmp.Diff(tt.first, p); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(tt.due, s.Schedule().List()); d != "" {
			t.Error(d)
		}
		n := 2
		for ; err == nil; n++ {
			_, err = s.Prompt(t.Context(), prompt.Position{I: uint64(n)})
		}
		if !errors.Is(err, io.EOF) || n-1 != tt.count {
			t.Errorf("%d prompts, then %v; want %d", n-1, err, tt.count)
		}
	}
}

// Passages of their own are drawn for each query, and the seed fixes which.
func TestDraw(t *testing.T) {
	passages := []prompt.Prompt{{Text: "a", Tokens: 1}, {Text: "b", Tokens: 1}, {Text: "c", Tokens: 1}}
	list := func(seed uint64) string {
		s, text := Draw(texts{most: 20}, passages, 2, seed), ""
		for i := range 20 {
			p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)})
			if err != nil || p.Text != fmt.Sprint(i+1) || len(p.Texts) != 2 || p.Tokens != 3 {
				t.Fatalf("%+v, %v", p, err)
			}
			text += p.Texts[0] + p.Texts[1]
		}
		if len(s.Schedule().List()) != 7 {
			t.Errorf("%d moments, want one for each query", len(s.Schedule().List()))
		}
		return text
	}
	if once, again := list(1), list(1); once != again || once == list(2) {
		t.Error("the seed does not fix what is drawn, and alone")
	}
}

// bodies gives whole requests.
type bodies struct{ texts }

func (s bodies) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	p, err := s.texts.Prompt(ctx, at)
	p.Body = []byte(p.Text)
	return p, err
}

// A request that is whole is made of no others, and none is left out.
func TestWholeRequestsStayAlone(t *testing.T) {
	s := New(bodies{texts{most: 7}}, 3, true)
	for i, p := range prompttest.FirstPrompts(t, s, 7) {
		if string(p.Body) != fmt.Sprint(i+1) || p.Texts != nil {
			t.Errorf("request %d: %s with %q", i, p.Body, p.Texts)
		}
	}
	if n := len(s.Schedule().List()); n != 7 {
		t.Errorf("%d moments, want one for each request", n)
	}
}

// Whoever asks for it, a request has the same texts.
func TestConformance(t *testing.T) {
	passages := []prompt.Prompt{{Text: "a", Tokens: 1}, {Text: "b", Tokens: 1}, {Text: "c", Tokens: 1}}
	for name, make := range map[string]func(seed uint64) prompt.Source{
		"in order": func(uint64) prompt.Source { return New(texts{most: 2000}, 3, false) },
		"drawn":    func(seed uint64) prompt.Source { return Draw(texts{most: 2000}, passages, 2, seed) },
	} {
		t.Run(name, func(t *testing.T) {
			prompttest.Run(t, prompttest.Case{New: func(_ *testing.T, seed uint64) prompt.Source { return make(seed) }, Tokenizer: three{},
				MinOutput: 1, MaxOutput: 2000})
		})
	}
}

// three finds three tokens in every text: those of all texts of a request.
type three struct{}

func (three) Name() string     { return "three" }
func (three) Count(string) int { return 3 }
