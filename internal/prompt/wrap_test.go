package prompt

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// bare is a source that can do nothing else.
type bare struct{}

func (bare) Prompt(context.Context, Position) (Prompt, error) { return Prompt{Text: "a"}, nil }

// able is a source that can do all that there is.
type able struct {
	bare
	stage *int
}

var errNoFit = errors.New("it does not fit")

func (a able) Schedule() Moments           { return NewMoments([]time.Duration{1, 2}) }
func (a able) Fit(*tensor.Signature) error { return errNoFit }
func (a able) Lanes() int                  { return 7 }
func (a able) Session(at Position) uint64  { return at.I / 2 }
func (a able) SetStage(i int) bool {
	*a.stage = i
	return true
}

func TestAroundHandsOn(t *testing.T) {
	stage := 0
	a := Wrapper{Wrapper{able{stage: &stage}}}
	if got := a.Schedule().List(); len(got) != 2 {
		t.Errorf("schedule %v", got)
	}
	if !a.SetStage(3) || stage != 3 {
		t.Error("the stage is not handed on")
	}
	if a.Lanes() != 7 || a.Session(Position{I: 9}) != 4 {
		t.Error("lanes and sessions are not handed on")
	}
	if err := a.Fit(nil); !errors.Is(err, errNoFit) {
		t.Errorf("fit: %v", err)
	}
	a = Wrapper{bare{}}
	if a.Schedule() != nil || a.SetStage(3) || a.Lanes() != 0 || a.Session(Position{I: 9}) != 9 || a.Fit(nil) != nil {
		t.Error("it does what its source cannot")
	}
}

// talk is a conversation of so many turns, each of which has the rest of it.
type talk struct{ left int }

func (c *talk) Next(Response) (Prompt, time.Duration, error) {
	if c.left == 0 {
		return Prompt{}, 0, io.EOF
	}
	c.left--
	return Prompt{Text: "b", Rest: c}, time.Second, nil
}

// again is a conversation that hands itself on with what is around it.
type again struct{ self *Prompt }

func (c again) Next(Response) (Prompt, time.Duration, error) { return *c.self, 0, nil }

// delayed is a turn that is known when it is sent.
type delayed struct{ DeferredPrompt }

func (delayed) Prompt() (Prompt, error) { return Prompt{Text: "c"}, nil }

// mark adds a letter to texts.
type mark struct{ letter string }

func (m *mark) Change(p Prompt) (Prompt, error) {
	p = TransformFollowUps(p, m)
	if p.Late == nil {
		p.Text += m.letter
	}
	return p, nil
}

func TestFollow(t *testing.T) {
	change := func(p Prompt, by ...Transformer) Prompt {
		t.Helper()
		for _, c := range by {
			var err error
			if p, err = c.Change(p); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	x, y := &mark{"x"}, &mark{"y"}
	p := change(Prompt{Text: "a", Rest: &talk{left: 3}}, x, y)
	if p.Text != "axy" {
		t.Errorf("first turn %q", p.Text)
	}
	for range 3 {
		var think time.Duration
		var err error
		if p, think, err = p.Rest.Next(Response{}); err != nil || p.Text != "bxy" || think != time.Second {
			t.Errorf("next turn %q after %v, %v", p.Text, think, err)
		}
	}
	if _, _, err := p.Rest.Next(Response{}); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last turn: %v", err)
	}

	p = change(Prompt{Late: delayed{}}, x, y)
	if late, err := p.Late.Prompt(); err != nil || late.Text != "cxy" {
		t.Errorf("late turn %q, %v", late.Text, err)
	}

	// A change that was done already is done once.
	self := &Prompt{Text: "d"}
	self.Rest = change(Prompt{Rest: again{self}}, x).Rest
	p, _, _ = self.Rest.Next(Response{})
	if talk, ok := p.Rest.(changedConversation); !ok || talk.Conversation != Conversation(again{self}) {
		t.Errorf("what follows is %#v, changed twice", p.Rest)
	}
}
