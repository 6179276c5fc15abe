// Package prompttest is what every source of prompts must pass.
package prompttest

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
)

// Case is a source under test.
type Case struct {
	// New makes the source anew; with the same seed it must give the same prompts.
	New func(t *testing.T, seed uint64) prompt.Source
	// Tokenizer is the one that the source was given.
	Tokenizer prompt.Tokenizer
	// MinOutput and MaxOutput bound the output lengths.
	MinOutput, MaxOutput int
	// Seeded says that another seed gives other prompts.
	Seeded bool
}

// many is how many prompts are looked at.
const many = 400

// Run checks a source.
func Run(t *testing.T, c Case) {
	t.Run("the same seed gives the same prompts", func(t *testing.T) { repeats(t, c) })
	t.Run("prompts do not depend on who asks when", func(t *testing.T) { shared(t, c) })
	t.Run("a stage does not depend on the one before", func(t *testing.T) { stages(t, c) })
	t.Run("hashes are equal where content is", func(t *testing.T) { hashes(t, c) })
	t.Run("lengths are what they say", func(t *testing.T) { lengths(t, c) })
	t.Run("prompts do not change later", func(t *testing.T) { keeps(t, c) })
	if c.Seeded {
		t.Run("another seed gives other prompts", func(t *testing.T) { differs(t, c) })
	}
}

// FirstPrompts is the first n prompts of a source.
func FirstPrompts(t *testing.T, s prompt.Source, n int) []prompt.Prompt {
	t.Helper()
	return TakeAt(t, s, prompt.Position{}, n)
}

// TakeAt is n prompts of a source, from a place on.
func TakeAt(t *testing.T, s prompt.Source, from prompt.Position, n int) []prompt.Prompt {
	t.Helper()
	out := make([]prompt.Prompt, n)
	for i := range out {
		p, err := s.Prompt(context.Background(), from)
		if err != nil {
			t.Fatalf("prompt %d: %v", i, err)
		}
		out[i] = p
		from.I++
	}
	return out
}

// TakeShared is Take for a source that goroutines ask, each for every n-th prompt, the last first.
func TakeShared(t *testing.T, s prompt.Source, n int) []prompt.Prompt {
	t.Helper()
	const sharers = 7
	out := make([]prompt.Prompt, n)
	var all sync.WaitGroup
	for k := range sharers {
		all.Go(func() {
			for i := n - 1 - k; i >= 0; i -= sharers {
				var err error
				if out[i], err = s.Prompt(context.Background(), prompt.Position{I: uint64(i)}); err != nil {
					t.Errorf("prompt %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	return out
}

func repeats(t *testing.T, c Case) {
	a, b := FirstPrompts(t, c.New(t, 1), many), FirstPrompts(t, c.New(t, 1), many)
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Fatalf("prompt %d differs:\n%+v\n%+v", i, a[i], b[i])
		}
	}
}

func shared(t *testing.T, c Case) {
	const n = many / 4
	want, s := FirstPrompts(t, c.New(t, 1), n), c.New(t, 1)
	got := TakeShared(t, s, n)
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("prompt %d differs when others ask too:\n%+v\n%+v", i, got[i], want[i])
		}
	}
}

func differs(t *testing.T, c Case) {
	a, b := FirstPrompts(t, c.New(t, 1), many), FirstPrompts(t, c.New(t, 2), many)
	same := 0
	for i := range a {
		if reflect.DeepEqual(a[i], b[i]) {
			same++
		}
	}
	if same > many/10 {
		t.Errorf("%d of %d prompts are the same with another seed", same, many)
	}
}

func stages(t *testing.T, c Case) {
	long, short := c.New(t, 1), c.New(t, 1)
	stager, ok := long.(prompt.StageStarter)
	if !ok {
		t.Skip("the source does not look at stages")
	}
	FirstPrompts(t, long, 57)
	if !stager.SetStage(1) {
		t.Skip("the source goes on from stage to stage")
	}
	short.(prompt.StageStarter).SetStage(1)
	first := prompt.Position{Stage: 1}
	a, b := TakeAt(t, long, first, 50), TakeAt(t, short, first, 50)
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Fatalf("prompt %d of stage 1 depends on how many stage 0 used:\n%+v\n%+v", i, a[i], b[i])
		}
	}
}

func hashes(t *testing.T, c Case) {
	byHash, byContent := map[uint64]string{}, map[string]uint64{}
	for i, p := range FirstPrompts(t, c.New(t, 1), many) {
		content := fmt.Sprintf("%q %+v %+v", p.Text, p.Messages, p.Parts)
		if other, seen := byHash[p.Hash]; seen && other != content {
			t.Errorf("prompt %d has the hash of another:\n%s\n%s", i, content, other)
		}
		if hash, seen := byContent[content]; seen && hash != p.Hash {
			t.Errorf("prompt %d was there before with another hash: %s", i, content)
		}
		byHash[p.Hash], byContent[content] = content, p.Hash
	}
}

func lengths(t *testing.T, c Case) {
	for i, p := range FirstPrompts(t, c.New(t, 1), many) {
		want := c.Tokenizer.Count(p.Text)
		for _, m := range p.Messages {
			want += c.Tokenizer.Count(m.Content)
		}
		if p.Tokens != want || want == 0 {
			t.Errorf("prompt %d says it has %d tokens and has %d: %+v", i, p.Tokens, want, p)
		}
		if p.Text != "" && p.Messages != nil {
			t.Errorf("prompt %d has both a text and messages: %+v", i, p)
		}
		if p.Output < c.MinOutput || p.Output > c.MaxOutput {
			t.Errorf("prompt %d asks for %d tokens, want %d to %d", i, p.Output, c.MinOutput, c.MaxOutput)
		}
	}
}

func keeps(t *testing.T, c Case) {
	s := c.New(t, 1)
	first := FirstPrompts(t, s, 20)
	copies := make([]prompt.Prompt, len(first))
	for i, p := range first {
		copies[i] = p
		copies[i].Text = string([]byte(p.Text))
		copies[i].Messages = append([]prompt.Message(nil), p.Messages...)
	}
	TakeAt(t, s, prompt.Position{I: 20}, many)
	for i := range first {
		if !reflect.DeepEqual(first[i], copies[i]) {
			t.Errorf("prompt %d changed after it was handed out:\n%+v\n%+v", i, copies[i], first[i])
		}
	}
}
