package trace

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// lane is a session that is under way when it begins to be played.
type lane struct {
	from  *prompt.Graph
	order []int // calls, in the order in which they began
	calls []prompt.GraphCall
	place map[int]int // of calls of the record
}

// underWay is a session from a moment on that lies somewhere in the part of it that r says. Of each conversation that is
// under way then, the call before that moment is a warm-up, with all that was said before; what comes after goes as long
// after the warm-up as it came after the moment. A session of which nothing would be left is played as it is.
func underWay(g *prompt.Graph, r *plan.Replay, seed uint64) *prompt.Graph {
	l := &lane{from: g, order: make([]int, len(g.Calls)), place: map[int]int{}}
	for i := range l.order {
		l.order[i] = i
	}
	slices.SortStableFunc(l.order, func(a, b int) int { return cmp.Compare(g.Calls[a].At, g.Calls[b].At) })
	var own []int // calls of the conversation with which the session begins
	thread := g.Calls[l.order[0]].Thread
	for _, i := range l.order {
		if g.Calls[i].Thread == thread {
			own = append(own, i)
		}
	}
	if len(own) < 2 {
		return g
	}
	least, most := r.StartMin, r.StartMax
	if least == 0 && most == 0 {
		most = 1
	}
	share := least + (most-least)*rand.New(rand.NewPCG(seed, 0)).Float64()
	moment := time.Duration(share * float64(g.Calls[l.order[len(l.order)-1]].At))
	// One call of it is left at least.
	moment = min(moment, g.Calls[own[len(own)-1]].At-1)
	moment = max(moment, g.Calls[own[0]].At)
	l.prime(moment, thread)
	moment = l.warm(moment, own[len(own)-1], r.LaneWarmup)
	l.rest(moment)
	out := *g
	out.Calls = l.calls
	return &out
}

// prime adds the last call of each conversation that is under way at a moment, that with which the session begins first.
func (l *lane) prime(moment time.Duration, first int) {
	last, more := map[int]int{}, map[int]bool{}
	for _, i := range l.order {
		if c := &l.from.Calls[i]; c.At <= moment {
			last[c.Thread] = i
		} else {
			more[c.Thread] = true
		}
	}
	var threads []int
	for t := range last {
		if more[t] {
			threads = append(threads, t)
		}
	}
	slices.SortFunc(threads, func(a, b int) int {
		if a == first || b == first {
			return map[bool]int{true: -1, false: 1}[a == first]
		}
		return a - b
	})
	for _, t := range threads {
		l.add(last[t], nil, func(c *prompt.GraphCall) { c.Warmup, c.Wait, c.NotBefore = true, 0, 0 })
	}
}

// warm adds so many of the calls after a moment to the warm-up, and gives the moment of the last of them. One of the
// session's own conversation is left.
func (l *lane) warm(moment time.Duration, last, most int) time.Duration {
	for _, i := range l.order {
		c := &l.from.Calls[i]
		if c.At <= moment {
			continue
		}
		if most == 0 || i == last {
			break
		}
		most--
		moment = c.At
		l.add(i, l.after(c), func(c *prompt.GraphCall) { c.Warmup, c.Wait, c.NotBefore, c.Prompt.Output = true, 0, 0, 1 })
	}
	return moment
}

// rest adds the calls after a moment.
func (l *lane) rest(moment time.Duration) {
	for _, i := range l.order {
		c := &l.from.Calls[i]
		if _, done := l.place[i]; done || c.At <= moment {
			continue
		}
		after := l.after(c)
		warm := !slices.ContainsFunc(after, func(k int) bool { return !l.calls[k].Warmup })
		l.add(i, after, func(c *prompt.GraphCall) {
			switch {
			case warm:
				c.Wait, c.NotBefore = 0, c.At-moment
			case c.NotBefore > 0:
				c.NotBefore = max(c.NotBefore-moment, 0)
			}
		})
	}
}

// after are the places of the calls that a call comes after and that are played.
func (l *lane) after(c *prompt.GraphCall) (list []int) {
	for _, i := range c.After {
		if k, ok := l.place[i]; ok {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

func (l *lane) add(i int, after []int, change func(*prompt.GraphCall)) {
	c := l.from.Calls[i]
	c.After = after
	change(&c)
	l.place[i] = len(l.calls)
	l.calls = append(l.calls, c)
}
