package pool

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
)

// counting is a source whose prompts are numbers; 0: it never ends.
type counting struct{ most int }

func (c counting) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	n := int(at.I) + 1
	if c.most > 0 && n > c.most {
		return prompt.Prompt{}, io.EOF
	}
	return prompt.Prompt{Text: strconv.Itoa(n), Output: n}, nil
}

func TestPool(t *testing.T) {
	s, err := New(t.Context(), counting{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range prompttest.FirstPrompts(t, s, 7) {
		if want := i%3 + 1; p.Output != want || p.Text != strconv.Itoa(want) {
			t.Errorf("request %d is %s of %d tokens, want %d", i, p.Text, p.Output, want)
		}
	}
	s.SetStage(1)
	if p := prompttest.TakeAt(t, s, prompt.Position{Stage: 1}, 1)[0]; p.Text != "1" {
		t.Errorf("a stage begins with %s", p.Text)
	}
	if len(s.All()) != 3 || s.Sessions() != 3 {
		t.Errorf("%d requests", len(s.All()))
	}
	if s, err = New(t.Context(), counting{most: 2}, 3); err != nil || s.Sessions() != 2 {
		t.Errorf("a source that ends: %v", err)
	}
}

// talking is a source of turns that go on from responses.
type talking struct{}

func (talking) Prompt(context.Context, prompt.Position) (prompt.Prompt, error) {
	return prompt.Prompt{Late: struct{ prompt.DeferredPrompt }{}}, nil
}

func TestBadPools(t *testing.T) {
	if _, err := New(t.Context(), counting{}, 0); err == nil {
		t.Error("a pool of none is made")
	}
	if _, err := New(t.Context(), counting{}, most+1); err == nil {
		t.Error("a pool of too many is made")
	}
	if _, err := New(t.Context(), talking{}, 3); err == nil || !strings.Contains(err.Error(), "go on from responses") {
		t.Errorf("a pool of turns: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, counting{}, 3); err == nil {
		t.Error("a pool is made after the end")
	}
}
