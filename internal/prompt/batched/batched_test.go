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
)

// texts gives a number of prompts of one token each.
type texts struct{ n, most int }

func (s *texts) Next(context.Context) (prompt.Prompt, error) {
	if s.n++; s.n > s.most {
		return prompt.Prompt{}, io.EOF
	}
	text := fmt.Sprint(s.n)
	return prompt.Prompt{
		Text: text, Tokens: 1, Output: s.n, Hash: prompt.HashText(text),
		Parts: []prompt.Part{{Text: text}, {Kind: prompt.Image, URL: text}},
	}, nil
}

func (s *texts) Schedule() []time.Duration { return []time.Duration{1, 2, 3, 4, 5, 6, 7} }

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
		s := New(&texts{most: 7}, tt.texts, tt.query)
		p, err := s.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Parts) != tt.images {
			t.Errorf("%d images, want %d", len(p.Parts), tt.images)
		}
		q, _ := s.Next(context.Background())
		if p.Hash == q.Hash {
			t.Error("two prompts have the same hash")
		}
		p.Hash, p.Parts = 0, nil
		if d := cmp.Diff(tt.first, p); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(tt.due, s.Schedule()); d != "" {
			t.Error(d)
		}
		n := 2
		for ; err == nil; n++ {
			_, err = s.Next(context.Background())
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
		s, text := Draw(&texts{most: 20}, passages, 2, seed), ""
		for i := range 20 {
			p, err := s.Next(t.Context())
			if err != nil || p.Text != fmt.Sprint(i+1) || len(p.Texts) != 2 || p.Tokens != 3 {
				t.Fatalf("%+v, %v", p, err)
			}
			text += p.Texts[0] + p.Texts[1]
		}
		if len(s.Schedule()) != 7 {
			t.Errorf("%d moments, want one for each query", len(s.Schedule()))
		}
		return text
	}
	if once, again := list(1), list(1); once != again || once == list(2) {
		t.Error("the seed does not fix what is drawn, and alone")
	}
}
