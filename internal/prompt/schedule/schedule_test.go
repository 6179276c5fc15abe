package schedule

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

type texts struct{}

func (texts) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.Prompt{Text: string(rune('a' + at.I))}, nil
}

type stages struct {
	texts
	at int
}

func (s *stages) SetStage(i int) bool {
	s.at = i
	return true
}

func TestSchedule(t *testing.T) {
	file := "TIMESTAMP,ContextTokens,GeneratedTokens\n2026-01-31 12:00:01.5,10,2\n2026-01-31 12:00:01.0,10,2\n2026-01-31 12:00:03.25,10,2\n"
	read := func(string) ([]byte, error) { return []byte(file), nil }
	inner := &stages{}
	s, err := New(inner, plan.Trace{Arrivals: "t.csv"}, read)
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{0, time.Second / 2, 9 * time.Second / 4}
	if diff := cmp.Diff(want, s.(prompt.Scheduler).Schedule().List()); diff != "" {
		t.Error(diff)
	}
	if p, err := s.Prompt(t.Context(), prompt.Position{I: 2}); err != nil || p.Text != "c" {
		t.Errorf("%v, %v", p, err)
	}
	if anew := s.(prompt.StageStarter).SetStage(3); !anew || inner.at != 3 {
		t.Error("the stage is not passed on")
	}
	if s, err := New(texts{}, plan.Trace{Arrivals: "t.csv"}, read); err != nil {
		t.Error(err)
	} else if s.(prompt.StageStarter).SetStage(3) {
		t.Error("a source that goes on from stage to stage looks like one that does not")
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "has no requests",
		"soon,1,2\n":           "t.csv:1",
		"2026-01-31 12:00,1\n": "has 2 columns",
	} {
		_, err := New(texts{}, plan.Trace{Arrivals: "t.csv"}, func(string) ([]byte, error) { return []byte(text), nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	gone := errors.New("gone")
	if _, err := New(texts{}, plan.Trace{Arrivals: "t.csv"}, func(string) ([]byte, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}
