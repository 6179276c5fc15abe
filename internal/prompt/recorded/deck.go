package recorded

import (
	"fmt"
	"math/rand/v2"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// Session is a recorded session and what it is called.
type Session struct {
	Name  string
	Tag   string // that tells it from others in a cache; empty: none
	Graph *prompt.Graph
}

// Deck gives sessions in an order that the seed fixes, again and again.
type Deck struct {
	All  []*Session
	next int
}

// Arrange puts the sessions in order, repeats them where more are wanted, and tags those
// that no cache shall know. With a prefix their names begin with it and their place.
func (d *Deck) Arrange(r *plan.Replay, seed uint64, prefix string) {
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(d.All), func(i, j int) { d.All[i], d.All[j] = d.All[j], d.All[i] })
	tag := func() string { return fmt.Sprintf("[SESS:%016x]", rng.Uint64()) }
	for i, one := range d.All {
		if prefix != "" {
			one.Name = fmt.Sprintf("%s%d_%s", prefix, i, one.Name)
		}
		if r.RandomID {
			one.Tag = tag()
		}
	}
	for n := len(d.All); len(d.All) < r.Sessions; {
		again := len(d.All) - n
		from := d.All[again%n]
		d.All = append(d.All, &Session{Name: fmt.Sprintf("%s_dup%d", from.Name, again+1), Tag: tag(), Graph: from.Graph})
	}
}

// Sessions implements prompt.Finite.
func (d *Deck) Sessions() int { return len(d.All) }

// Draw is the next session. Those of a later round have it in their names.
func (d *Deck) Draw() Session {
	one := *d.All[d.next%len(d.All)]
	if round := d.next / len(d.All); round > 0 {
		one.Name += fmt.Sprintf("#%d", round+1)
	}
	d.next++
	return one
}
