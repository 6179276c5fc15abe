package replay

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Session is a recorded session and what it is called.
type Session struct {
	Name  string
	Tag   string // that tells it from others in a cache; empty: none
	Graph *prompt.Graph
	Place int           // among those that were read
	Begin time.Duration // on the clock of the trace, where that tells when sessions began
}

// Cycle gives sessions in an order that the seed fixes, again and again.
type Cycle struct{ All []*Session }

// Arrange puts the sessions in order, repeats them where more are wanted, and tags those
// that no cache shall know. With a prefix their names begin with it and their place.
func (c *Cycle) Arrange(r *plan.Replay, seed uint64, prefix string) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i, one := range c.All {
		one.Place = i
	}
	rng.Shuffle(len(c.All), func(i, j int) { c.All[i], c.All[j] = c.All[j], c.All[i] })
	tag := func() string { return fmt.Sprintf("[SESS:%016x]", rng.Uint64()) }
	for i, one := range c.All {
		if prefix != "" {
			one.Name = fmt.Sprintf("%s%d_%s", prefix, i, one.Name)
		}
		if r.RandomID {
			one.Tag = tag()
		}
	}
	for n := len(c.All); len(c.All) < r.Sessions; {
		again := len(c.All) - n
		from := c.All[again%n]
		c.All = append(c.All, &Session{Name: fmt.Sprintf("%s_dup%d", from.Name, again+1), Tag: tag(), Graph: from.Graph})
	}
}

// Recorded are all sessions.
func (c *Cycle) Recorded() []*Session { return c.All }

// Sessions implements prompt.Finite.
func (c *Cycle) Sessions() int { return len(c.All) }

// Session is the i-th session. Those of a later round have it in their names.
func (c *Cycle) Session(i uint64) Session {
	n := uint64(len(c.All))
	one := *c.All[i%n]
	if round := i / n; round > 0 {
		one.Name += fmt.Sprintf("#%d", round+1)
	}
	return one
}
