package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
)

// dagNode is a conversation of AIPerf's DAG files: its turns may begin others, which go on from what it has said, or on
// their own.
type dagNode struct {
	ID           string    `json:"session_id"`
	Turns        []dagTurn `json:"turns"`
	Before       []string  `json:"pre_session_spawns"`
	Orchestrator bool      `json:"orchestrator"`
	Spawns       []string  `json:"spawns"`
	Rounds       dagRounds `json:"rounds"`
	Mode         string    `json:"context_mode"`
	Think        float64   `json:"think_time_ms"`
	Sigma        float64   `json:"think_time_sigma"`
	Least        float64   `json:"think_time_min_ms"`
	Most         float64   `json:"think_time_max_ms"`
	line         int
	fork         bool // another goes on as it
	child        bool
}

type dagTurn struct {
	Messages json.RawMessage `json:"messages"`
	Model    string          `json:"model"`
	Output   int             `json:"max_tokens"`
	Tools    json.RawMessage `json:"tools"`
	Extra    json.RawMessage `json:"extra"`
	Forks    []dagFork       `json:"forks"`
	Spawns   []dagSpawn      `json:"spawns"`
	Delay    float64         `json:"delay"` // milliseconds
	own      []prompt.Message
}

// dagFork is a conversation that goes on from a turn.
type dagFork struct {
	Child      string `json:"child"`
	Background bool   `json:"background"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *dagFork) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &f.Child) == nil {
		return nil
	}
	type plain dagFork
	return strict(b, (*plain)(f))
}

// dagSpawn are conversations that begin with a turn, and the turn that waits for them; 0: the next.
type dagSpawn struct {
	Children []string `json:"children"`
	Join     int      `json:"join_at"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *dagSpawn) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		s.Children = []string{one}
		return nil
	}
	type plain dagSpawn
	return strict(b, (*plain)(s))
}

// dagRounds are the rounds of an orchestrator: a number of like ones, or each by itself.
type dagRounds []dagRound

type dagRound struct {
	Spawns []string `json:"spawns"`
	Think  *float64 `json:"think_time_ms"`
}

// mostRounds bounds the rounds of an orchestrator.
const mostRounds = 10_000

// UnmarshalJSON implements json.Unmarshaler.
func (r *dagRounds) UnmarshalJSON(b []byte) error {
	var n int
	if json.Unmarshal(b, &n) == nil {
		if n < 1 || n > mostRounds {
			return fmt.Errorf("%d is not a number of rounds", n)
		}
		*r = make(dagRounds, n)
		return nil
	}
	return strict(b, (*[]dagRound)(r))
}

// strict decodes a value that has no fields that are not known.
func strict(b []byte, v any) error {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

const (
	dagDeltas = "deltas_without_responses"
	dagWhole  = "message_array_with_responses"
)

// dag is a file of conversations that begin one another.
type dag struct {
	*reading
	nodes map[string]*dagNode
	order []*dagNode
	live
	rng   *rand.Rand
	depth []string // conversations within which one is being made
}

func readDAG(r *reading) ([]*replay.Session, error) {
	d := &dag{reading: r, nodes: map[string]*dagNode{}, rng: rand.New(rand.NewPCG(r.seed, 'd'))}
	err := r.each(func(raw []byte, line int) error {
		n := &dagNode{line: line}
		if err := strict(raw, n); err != nil {
			return fmt.Errorf("is not a conversation of a DAG: %s", strings.TrimPrefix(err.Error(), "json: "))
		}
		if d.nodes[n.ID] != nil {
			return fmt.Errorf("the session_id %q is there twice", n.ID)
		}
		d.nodes[n.ID] = n
		d.order = append(d.order, n)
		return n.check()
	})
	if err != nil {
		return nil, err
	}
	if err := d.links(); err != nil {
		return nil, err
	}
	var out []*replay.Session
	for _, n := range d.order {
		if n.child {
			continue
		}
		d.calls = nil
		if _, err := d.run(n, start{from: -1}); err != nil {
			return nil, err
		}
		out = append(out, &replay.Session{Name: n.ID, Graph: &prompt.Graph{Origin: n.ID, Calls: d.calls}})
	}
	if len(out) == 0 {
		return nil, r.fault(1, errors.New("every conversation is begun by another: there is none to begin with"))
	}
	return out, nil
}

// check holds a conversation against the layout, and reads its messages.
func (n *dagNode) check() (err error) {
	switch {
	case n.ID == "":
		return errors.New("has no session_id")
	case n.Orchestrator && (len(n.Turns) > 0 || len(n.Before) > 0):
		return errors.New("an orchestrator has no turns and no pre_session_spawns")
	case n.Orchestrator && len(n.Spawns) == 0 && (len(n.Rounds) == 0 || len(n.Rounds[0].Spawns) == 0):
		return errors.New("an orchestrator needs spawns, or rounds that have them")
	case !n.Orchestrator && (len(n.Spawns) > 0 || len(n.Rounds) > 0):
		return errors.New("only an orchestrator has spawns and rounds of its own: give them to a turn")
	case !n.Orchestrator && len(n.Turns) == 0:
		return errors.New("has no turns")
	case n.Mode != "" && n.Mode != dagDeltas && n.Mode != dagWhole:
		return fmt.Errorf("context_mode is %q, not %s or %s", n.Mode, dagDeltas, dagWhole)
	}
	for i := range n.Turns {
		if err := n.Turns[i].check(i, len(n.Turns)); err != nil {
			return fmt.Errorf("turns[%d] %w", i, err)
		}
	}
	return nil
}

func (t *dagTurn) check(i, turns int) (err error) {
	if t.own, err = readMessages(t.Messages); err != nil {
		return fmt.Errorf("messages %w", err)
	}
	if len(t.own) == 0 {
		return errors.New("has no messages")
	}
	if t.Output < 0 || t.Output > mostTokens {
		return fmt.Errorf("max_tokens is %d, which is not a length", t.Output)
	}
	if _, err := milliseconds(t.Delay); err != nil {
		return fmt.Errorf("delay: %w", err)
	}
	if i > 0 && slices.ContainsFunc(t.own, func(m prompt.Message) bool { return m.Role == roleSystem }) {
		return errors.New("has a system message: only the first turn may")
	}
	for _, f := range t.Forks {
		if f.Child == "" || !f.Background && i+1 < turns {
			return errors.New("has forks, which end a conversation, and is not its last turn: a fork that does not is {\"child\": …, \"background\": true}")
		}
	}
	for k := range t.Spawns {
		s := &t.Spawns[k]
		if s.Join == 0 && i+1 < turns {
			s.Join = i + 1
		}
		if s.Join != 0 && (s.Join <= i || s.Join >= turns) || len(s.Children) == 0 {
			return fmt.Errorf("spawns[%d] needs children, and a join_at from %d to %d", k, i+1, turns-1)
		}
	}
	return nil
}

// links finds out which conversations are begun by others.
func (d *dag) links() error {
	child := func(of *dagNode, id string, fork bool) error {
		n := d.nodes[id]
		switch {
		case n == nil:
			return d.fault(of.line, fmt.Errorf("begins the conversation %q, which is not in the file", id))
		case fork && n.fork:
			return d.fault(of.line, fmt.Errorf("the conversation %q goes on from more than one other", id))
		case fork && n.Orchestrator:
			return d.fault(of.line, fmt.Errorf("the conversation %q is an orchestrator: nothing can go on as it", id))
		case fork && slices.ContainsFunc(n.Turns[0].own, func(m prompt.Message) bool { return m.Role == roleSystem }):
			return d.fault(n.line, errors.New("goes on from another conversation, and has a system message"))
		}
		n.child, n.fork = true, n.fork || fork
		return nil
	}
	for _, n := range d.order {
		spawned := slices.Concat(n.Before, n.Spawns)
		for _, r := range n.Rounds {
			spawned = append(spawned, r.Spawns...)
		}
		for _, t := range n.Turns {
			for _, f := range t.Forks {
				if err := child(n, f.Child, true); err != nil {
					return err
				}
			}
			for _, s := range t.Spawns {
				spawned = append(spawned, s.Children...)
			}
		}
		for _, id := range spawned {
			if err := child(n, id, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// start is how a conversation begins: after calls, and from what one has said.
type start struct {
	from  int // -1: from nothing
	after []int
	wait  time.Duration
}

// mostCalls bounds a session.
const mostCalls = 100_000

// run makes the calls of a conversation and of those that it begins. The result are the last calls of all of them that
// whoever began it may wait for.
func (d *dag) run(n *dagNode, s start) (last []int, err error) {
	if slices.Contains(d.depth, n.ID) {
		return nil, d.fault(n.line, fmt.Errorf("conversations begin one another in a circle: %s", strings.Join(append(d.depth, n.ID), " → ")))
	}
	d.depth = append(d.depth, n.ID)
	defer func() { d.depth = d.depth[:len(d.depth)-1] }()
	if n.Orchestrator {
		return d.rounds(n, s)
	}
	for _, id := range n.Before {
		if _, err := d.run(d.nodes[id], start{from: -1, after: s.after, wait: s.wait}); err != nil {
			return nil, err
		}
	}
	joins := map[int][]int{} // calls that a turn waits for
	now := s.from
	for i := range n.Turns {
		if len(d.calls) >= mostCalls {
			return nil, d.fault(n.line, fmt.Errorf("is of a session with more than %d requests", mostCalls))
		}
		if now, err = d.turn(n, i, now, s, joins[i]); err != nil {
			return nil, err
		}
		ends, err := d.children(n, i, now, joins)
		if err != nil {
			return nil, err
		}
		last = append(last, ends...)
	}
	return append(last, now), nil
}

// turn makes the call of a turn, which goes on from another call.
func (d *dag) turn(n *dagNode, i, from int, s start, joined []int) (int, error) {
	t := &n.Turns[i]
	wait, _ := milliseconds(t.Delay) // has been checked
	after := slices.Clone(joined)
	if i == 0 {
		after, wait = append(after, s.after...), wait+s.wait
	} else {
		after = append(after, from)
	}
	slices.Sort(after)
	fields, err := fieldsBut(t.Extra)
	if err != nil {
		return 0, d.fault(n.line, fmt.Errorf("turns[%d].extra %w", i, err))
	}
	if len(t.Tools) > 0 && string(t.Tools) != "null" {
		fields = append(fields, prompt.Field{Name: "tools", Value: t.Tools})
	}
	if n.Mode == dagWhole {
		from = -1
	}
	return d.add(from, t.own, slices.Compact(after), prompt.GraphCall{
		ID: fmt.Sprintf("%s_turn_%d", n.ID, i), Wait: wait,
		Prompt: prompt.Prompt{Model: t.Model, Output: output(t.Output, d.output, uint64(i)), Fields: fields},
	}), nil
}

// children makes the conversations that a turn begins, whose call is now. The result are the last calls of those that
// no later turn waits for.
func (d *dag) children(n *dagNode, i, now int, joins map[int][]int) (last []int, err error) {
	for _, f := range n.Turns[i].Forks {
		ends, err := d.run(d.nodes[f.Child], start{from: now, after: []int{now}})
		if err != nil {
			return nil, err
		}
		if !f.Background {
			last = append(last, ends...)
		}
	}
	for _, s := range n.Turns[i].Spawns {
		for _, id := range s.Children {
			ends, err := d.run(d.nodes[id], start{from: -1, after: []int{now}})
			if err != nil {
				return nil, err
			}
			if s.Join > 0 {
				joins[s.Join] = append(joins[s.Join], ends...)
			} else {
				last = append(last, ends...)
			}
		}
	}
	return last, nil
}

// rounds makes the conversations that an orchestrator begins, round by round.
func (d *dag) rounds(n *dagNode, s start) ([]int, error) {
	rounds := n.Rounds
	if len(rounds) == 0 {
		rounds = make(dagRounds, 1)
	}
	last := s.after
	for i, r := range rounds {
		spawns := r.Spawns
		if len(spawns) == 0 {
			spawns = n.Spawns
		}
		think, err := d.think(n, r.Think)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			think += s.wait
		}
		var ends []int
		for _, id := range spawns {
			of, err := d.run(d.nodes[id], start{from: -1, after: last, wait: think})
			if err != nil {
				return nil, err
			}
			ends = append(ends, of...)
		}
		last = ends
	}
	return last, nil
}

// think is the time before a round: as given, or from a lognormal distribution with that median.
func (d *dag) think(n *dagNode, of *float64) (time.Duration, error) {
	ms := n.Think
	if of != nil {
		ms = *of
	}
	if n.Sigma > 0 && ms > 0 {
		ms *= math.Exp(n.Sigma * d.rng.NormFloat64())
	}
	ms = max(ms, n.Least)
	if n.Most > 0 {
		ms = min(ms, n.Most)
	}
	wait, err := milliseconds(ms)
	if err != nil {
		return 0, d.fault(n.line, fmt.Errorf("think_time_ms: %w", err))
	}
	return wait, nil
}
