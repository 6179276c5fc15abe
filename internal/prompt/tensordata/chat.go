package tensordata

import (
	"fmt"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// nextTurn is the next turn of a session: its messages, after the turns before and their responses.
func (q *sequence) nextTurn(answer string) (prompt.Prompt, error) {
	before := q.steps[q.at-1].prompt.Body
	start, end, err := messages(before)
	if err != nil {
		return prompt.Prompt{}, fmt.Errorf("turn %d of session %d: %w", q.at, q.id, err)
	}
	q.past = join(q.past, before[start:end])
	q.past = join(q.past, append(tensor.AppendQuoted([]byte(`{"role":"assistant","content":`), answer), '}'))
	p := q.request()
	if start, end, err = messages(p.Body); err != nil {
		return prompt.Prompt{}, fmt.Errorf("turn %d of session %d: %w", q.at, q.id, err)
	}
	body := append([]byte(nil), p.Body[:start]...)
	body = append(body, join(append([]byte(nil), q.past...), p.Body[start:end])...)
	p.Body = append(body, p.Body[end:]...)
	p.Hash = prompt.HashText(string(p.Body))
	return p, nil
}

// Delays is the data's pause after a turn of a session, in milliseconds; false: it has none.
type Delays func(session string, turn int) (ms int64, ok bool)

// Delays are those of the data's sessions.
func (s *Source) Delays() Delays {
	by := map[string][]step{}
	for i, steps := range s.streams {
		name := steps[0].name
		if name == "" {
			name = strconv.FormatUint(s.id(prompt.Position{I: uint64(i)}), 10)
		}
		by[name] = steps
	}
	return func(session string, turn int) (int64, bool) {
		steps := by[session]
		if turn < 0 || turn >= len(steps) || !steps[turn].pauses {
			return 0, false
		}
		return steps[turn].think.Milliseconds(), true
	}
}

// join adds elements of an array to others.
func join(all, more []byte) []byte {
	if len(all) > 0 && len(more) > 0 {
		all = append(all, ',')
	}
	return append(all, more...)
}

// messages is where in a request's body its messages stand, without the brackets
// around them.
func messages(body []byte) (start, end int, err error) {
	var s jsonscan.Scanner
	s.Reset(body)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) != "messages" || s.Peek() != '[' {
			s.Skip()
			continue
		}
		s.Array()
		start, end = s.Pos(), s.Pos()
		for s.More() {
			s.Peek()
			if start == end {
				start = s.Pos()
			}
			s.Skip()
			end = s.Pos()
		}
		return start, end, s.Err()
	}
	if s.Err() != nil {
		return 0, 0, s.Err()
	}
	return 0, 0, fmt.Errorf("its payload has no messages, which a session needs")
}
