package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
)

// turn is a turn of AIPerf's multi_turn files.
type turn struct {
	Role      string          `json:"role"`
	Text      string          `json:"text"`
	Texts     []string        `json:"texts"`
	Output    int             `json:"output_length"`
	Delay     *float64        `json:"delay"`     // milliseconds
	Timestamp *float64        `json:"timestamp"` // milliseconds
	Extra     json.RawMessage `json:"extra"`
}

// media are fields of a turn that are not played.
func media() []string { return []string{"image", "images", "audio", "audios", "video", "videos"} }

// readMultiTurn reads AIPerf's conversations: each turn is said after the response to the one before, which stays in
// what is sent.
func readMultiTurn(r *reading) ([]*replay.Session, error) {
	var out []*replay.Session
	timed := 0
	err := r.each(func(raw []byte, line int) error {
		var v struct {
			Session json.RawMessage   `json:"session_id"`
			Turns   []json.RawMessage `json:"turns"`
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("is not a conversation: %w", err)
		}
		name := plain(v.Session)
		if name == "" {
			name = fmt.Sprintf("session_%06d", len(out))
		}
		s, begun, err := r.turns(name, v.Turns)
		if err != nil {
			return err
		}
		if begun {
			timed++
		}
		if out = append(out, s); timed != 0 && timed != len(out) {
			return errors.New("of some conversations the first turn has a timestamp, of others it has none")
		}
		return nil
	})
	r.timed = timed > 0
	return out, err
}

// turns are the calls of a conversation; begun: it has the time at which it began.
func (r *reading) turns(name string, list []json.RawMessage) (s *replay.Session, begun bool, err error) {
	var l live
	var system []prompt.Message
	s = &replay.Session{Name: name}
	for i, raw := range list {
		var t turn
		if err := json.Unmarshal(raw, &t); err != nil {
			return s, begun, fmt.Errorf("turns[%d] is not a turn: %w", i, err)
		}
		m, err := t.message(raw)
		if err != nil {
			return s, begun, fmt.Errorf("turns[%d] %w", i, err)
		}
		if t.leads() && i == 0 && len(list) > 1 {
			system = []prompt.Message{m}
			continue
		}
		n := len(l.calls)
		c := prompt.GraphCall{ID: fmt.Sprintf("turn_%d", n)}
		c.Prompt.Output = output(t.Output, r.output, uint64(n))
		if c.Prompt.Fields, err = fieldsBut(t.Extra); err != nil {
			return s, begun, fmt.Errorf("turns[%d].extra %w", i, err)
		}
		if t.Delay != nil {
			if c.Wait, err = seconds(*t.Delay / 1000); err != nil {
				return s, begun, fmt.Errorf("turns[%d].delay: %w", i, err)
			}
		}
		if t.Timestamp != nil {
			at, err := seconds(*t.Timestamp / 1000)
			if err != nil {
				return s, begun, fmt.Errorf("turns[%d].timestamp: %w", i, err)
			}
			if n == 0 {
				s.Begin, begun = at, true
			} else if begun {
				c.At = max(at-s.Begin, l.calls[n-1].At)
				c.NotBefore = c.At
			}
		}
		if n == 0 {
			c.Wait = 0
			l.add(-1, append(system, m), nil, c)
		} else {
			l.add(n-1, []prompt.Message{m}, []int{n - 1}, c)
		}
	}
	if len(l.calls) == 0 {
		return s, begun, errors.New("has no turns")
	}
	s.Graph = &prompt.Graph{Origin: name, Calls: l.calls}
	return s, begun, nil
}

// leads reports whether a turn is the system prompt of all turns and no turn of its own.
func (t *turn) leads() bool {
	return t.Role == roleSystem && t.Delay == nil && t.Timestamp == nil && t.Output == 0 && len(t.Extra) == 0
}

func (t *turn) message(raw json.RawMessage) (prompt.Message, error) {
	text := t.Text
	if text == "" {
		text = strings.Join(t.Texts, "\n")
	}
	fields, err := fieldsBut(raw)
	if err != nil {
		return prompt.Message{}, err
	}
	for _, f := range fields {
		if slices.Contains(media(), f.Name) && string(f.Value) != "null" {
			return prompt.Message{}, fmt.Errorf("has %s, and traces are played without media: use --input-file", f.Name)
		}
	}
	if text == "" || t.Output < 0 || t.Output > mostTokens {
		return prompt.Message{}, errors.New("has no text, or no length that could be one")
	}
	role := t.Role
	if role == "" {
		role = roleUser
	}
	return prompt.Message{Role: role, Content: text}, nil
}

// sglangOutput is how long responses are that SGLang's agentic traces do not tell.
const sglangOutput = 220

// readSGLang reads SGLang's agentic traces: the messages of each turn but for those of the assistant, which are the
// server's own.
func readSGLang(r *reading) ([]*replay.Session, error) {
	var out []*replay.Session
	err := r.each(func(raw []byte, line int) error {
		var doc struct {
			Conversations [][]struct {
				Messages json.RawMessage `json:"messages"`
			} `json:"conversations"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			return fmt.Errorf("has no conversations: %w", err)
		}
		for i, turns := range doc.Conversations {
			var l live
			for k, t := range turns {
				if len(t.Messages) == 0 || string(t.Messages) == "null" {
					continue
				}
				own, err := readMessages(t.Messages)
				if err != nil {
					return fmt.Errorf("conversations[%d][%d].messages %w", i, k, err)
				}
				n := len(l.calls)
				length := r.output.At(uint64(n))
				if length == 0 {
					length = sglangOutput
				}
				var after []int
				if n > 0 {
					after = []int{n - 1}
				}
				if len(own) > 0 {
					l.add(n-1, own, after, prompt.GraphCall{ID: fmt.Sprintf("turn_%d", n), Prompt: prompt.Prompt{Output: length}})
				}
			}
			if len(l.calls) > 0 {
				name := fmt.Sprintf("conversation_%d", i)
				out = append(out, &replay.Session{Name: name, Graph: &prompt.Graph{Origin: name, Calls: l.calls}})
			}
		}
		if len(out) == 0 {
			return errors.New("has no conversations with messages")
		}
		return nil
	})
	return out, err
}

// milliseconds is a number of them to wait.
func milliseconds(x float64) (time.Duration, error) { return seconds(x / 1000) }
