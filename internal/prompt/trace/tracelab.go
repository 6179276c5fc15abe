package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/prompt/replay"
)

// round is a call of a model as TraceLab has it: no text, but how much of its input the server had in its cache.
type round struct {
	Session  string `json:"session_id"`
	Index    *int   `json:"round_index"`
	Input    int    `json:"input_tokens_total"`
	Prefix   int    `json:"prefix_tokens"`
	Output   int    `json:"output_tokens"`
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Events   []struct {
		Type string    `json:"event_type"`
		At   time.Time `json:"timestamp"`
	} `json:"timing_events"`
	sent time.Duration // when the last of its input was there; negative: not known
	line int
}

const mostTokens = 1 << 26 // of a request; more is a mistake

func readTraceLab(r *reading) ([]*replay.Session, error) {
	lex, err := r.lexicon()
	if err != nil {
		return nil, err
	}
	speak := blocktext.Speaker{Lex: lex, TagUser: r.replay.CacheBust}
	var order []string
	rounds := map[string][]round{}
	err = r.each(func(raw []byte, line int) error {
		one := round{line: line}
		if err := json.Unmarshal(raw, &one); err != nil {
			return fmt.Errorf("is not a round: %w", err)
		}
		if err := one.check(); err != nil {
			return err
		}
		if rounds[one.Session] == nil {
			order = append(order, one.Session)
		}
		rounds[one.Session] = append(rounds[one.Session], one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []*replay.Session
	for _, name := range order {
		s, err := r.rounds(name, rounds[name], &speak)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (o *round) check() error {
	switch {
	case o.Session == "":
		return errors.New("has no session_id")
	case o.Index == nil:
		return errors.New("has no round_index")
	case o.Input < 1 || o.Input > mostTokens || o.Prefix < 0 || o.Prefix > o.Input || o.Output < 0 || o.Output > mostTokens:
		return fmt.Errorf("has lengths of %d and %d tokens, of which %d were in the cache", o.Input, o.Output, o.Prefix)
	}
	o.sent = -1
	for _, e := range o.Events {
		if e.Type != "user_message" && e.Type != "tool_result" {
			break // the model's own come after its input
		}
		o.sent = max(o.sent, time.Duration(e.At.UnixNano()))
	}
	if len(o.Events) > 0 && o.sent < 0 {
		o.sent = time.Duration(o.Events[0].At.UnixNano())
	}
	o.Events = nil
	return nil
}

// rounds makes the calls of a session: each keeps as many tokens of the one before, and of its response, as the server
// had in its cache.
func (r *reading) rounds(name string, list []round, speak *blocktext.Speaker) (*replay.Session, error) {
	slices.SortStableFunc(list, func(a, b round) int { return cmp.Compare(*a.Index, *b.Index) })
	if list[0].sent < 0 {
		return nil, r.fault(list[0].line, errors.New("has no timing_events, which say when the session began"))
	}
	g := &prompt.Graph{Origin: name, Recorded: true}
	own := prompt.Mix(r.seed ^ prompt.HashText(name))
	var talk blocktext.Talk
	for i := range list {
		one := &list[i]
		if i == 0 && one.Prefix > 0 { // what was known before the session began, others of the model had said
			shared := prompt.Mix(r.seed ^ prompt.HashText(one.Provider+" "+one.Model))
			talk.Append(blocktext.RoleSystem, []lexicon.Piece{{Key: shared, N: one.Prefix}})
		}
		kept := min(one.Prefix, talk.Tokens(), one.Input-1)
		talk.Rewind(kept)
		talk.Append(blocktext.RoleUser, []lexicon.Piece{{Key: prompt.Mix(own + uint64(2*i)), N: one.Input - kept}})
		said := talk.Last
		c := prompt.GraphCall{
			ID: fmt.Sprintf("round_%d", *one.Index), User: true,
			Prompt: prompt.Prompt{Tokens: one.Input, Output: max(output(one.Output, r.output, uint64(i)), 1)},
			Make:   func(tag string) ([]prompt.Message, int, error) { return speak.Messages(said, tag) },
		}
		if i > 0 {
			c.After = []int{i - 1}
			c.At = max(one.sent-list[0].sent, g.Calls[i-1].At)
			c.NotBefore = c.At
		}
		g.Calls = append(g.Calls, c)
		if one.Output > 0 {
			talk.Append(blocktext.RoleAssistant, []lexicon.Piece{{Key: prompt.Mix(own + uint64(2*i+1)), N: one.Output}})
		}
	}
	return &replay.Session{Name: name, Begin: list[0].sent, Graph: g}, nil
}
