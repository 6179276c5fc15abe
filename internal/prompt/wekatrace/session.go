package wekatrace

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
)

// timed is a request at a given time of its trace's clock, in seconds.
type timed struct {
	*request
	at float64
}

// conversation is a run of calls of which each goes on from the one before.
type conversation struct {
	name   string // of its calls
	system int    // tokens of tools and system prompt
	calls  []timed
}

// conversations are a trace's own, and one for each subagent, or several for its simultaneous
// calls.
func (t *trace) conversations() []conversation {
	own := conversation{name: "parent", system: t.ToolTokens + t.SystemTokens}
	var out []conversation
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Type != typeSubagent {
			own.calls = append(own.calls, timed{r, *r.T})
			continue
		}
		var calls []timed
		for k := range r.Requests {
			c := timed{&r.Requests[k], *r.Requests[k].T}
			// Moments before that of the subagent are counted from it.
			if c.at+1e-6 < *r.T {
				c.at += *r.T
			}
			calls = append(calls, c)
		}
		sortCalls(calls)
		for s, list := range pack(calls) {
			out = append(out, conversation{fmt.Sprintf("sa_%s_s%d", r.Agent, s), r.ToolTokens + r.SystemTokens, list})
		}
	}
	sortCalls(own.calls)
	return append([]conversation{own}, out...)
}

func sortCalls(calls []timed) {
	slices.SortStableFunc(calls, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
}

// pack deals calls out so that in each list one ends before the next begins.
func pack(calls []timed) [][]timed {
	var out [][]timed
	for _, c := range calls {
		i := slices.IndexFunc(out, func(list []timed) bool {
			last := list[len(list)-1]
			return last.at+max(last.API, 0) <= c.at
		})
		if i < 0 {
			out = append(out, []timed{c})
		} else {
			out[i] = append(out[i], c)
		}
	}
	return out
}

// graph makes the calls of a trace. nil means it has none.
func (s *Source) graph(t *trace) (*prompt.Graph, error) {
	all := t.conversations()
	streams := make([][]timed, len(all))
	size := cmp.Or(t.BlockSize, s.replay.BlockSize, defaultBlock)
	histories := make([]*history, len(all))
	for i, c := range all {
		streams[i] = c.calls
		scope := s.seed
		if t.Scope != scopeGlobal {
			scope = prompt.Mix(s.seed ^ prompt.HashText(t.ID))
		}
		histories[i] = &history{size: size, scope: scope, own: prompt.HashText(fmt.Sprintf("%d %s %d", s.seed, t.ID, i)), system: c.system}
	}
	calls := schedule(streams, s.replay.IdleGap)
	if len(calls) == 0 {
		return nil, nil
	}
	if d := calls[len(calls)-1].begin / 1000; d > mostSeconds {
		return nil, fmt.Errorf("it lasts %d seconds, which is too long to be true", d)
	}
	after, waits := edges(calls, len(all))
	g := &prompt.Graph{Origin: t.ID, Patience: time.Duration(s.replay.PredecessorTimeout), Recorded: true}
	for i, c := range calls {
		last := histories[c.stream].next(c.request)
		g.Calls = append(g.Calls, prompt.GraphCall{
			ID:    fmt.Sprintf("event_%03d_%s_turn_%d", i, all[c.stream].name, c.turn),
			After: after[i], Wait: s.wait(c.request, waits[i], len(after[i]) == 0), User: true,
			At: time.Duration(c.begin) * time.Millisecond, Thread: c.stream,
			Prompt: prompt.Prompt{
				Model: s.model(c.Model), Tokens: *c.In,
				Output: cmp.Or(*c.Out, s.replay.MaxTokens, defaultOutput),
			},
			Make: func(tag string) ([]prompt.Message, int, error) { return s.speak.Messages(last, tag) },
		})
	}
	return g, nil
}

// wait is how long a call waits, given how long it waited in the record. One that comes
// after no other has no response to think about.
func (s *Source) wait(r *request, recorded time.Duration, first bool) time.Duration {
	w := recorded
	switch {
	case s.replay.IgnoreDelays || s.replay.ThinkTimeOnly && first:
		return 0
	case s.replay.ThinkTimeOnly:
		w = time.Duration(millis(r.Think)) * time.Millisecond
	}
	if most := s.replay.MaxWait; most > 0 {
		w = min(w, time.Duration(most))
	}
	return w
}

// model is what a call asks for; empty: the run's own. Recorded names are another server's.
func (s *Source) model(recorded string) string {
	return cmp.Or(s.replay.Model, s.replay.Models[recorded])
}
