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

// history is a recorded session whose calls have all that was said before them in their messages, recorded responses
// included. Calls share what they have in common.
type history struct {
	name  string
	said  []prompt.Message
	graph *prompt.Graph
}

func newHistory(name string) *history {
	return &history{name: name, graph: &prompt.Graph{Origin: name, Recorded: true}}
}

// call adds a call that has all that has been said.
func (h *history) call(wait time.Duration, p prompt.Prompt) {
	i := len(h.graph.Calls)
	c := prompt.GraphCall{ID: fmt.Sprintf("call_%d", i), Wait: wait, Prompt: p, User: true}
	c.Prompt.Messages = h.said[:len(h.said):len(h.said)]
	if i > 0 {
		c.After = []int{i - 1}
		c.At = h.graph.Calls[i-1].At + wait
	}
	h.graph.Calls = append(h.graph.Calls, c)
}

func (h *history) session() *replay.Session { return &replay.Session{Name: h.name, Graph: h.graph} }

const mostWait = 1e9 // seconds

func seconds(x float64) (time.Duration, error) {
	if !(x >= 0 && x <= mostWait) {
		return 0, fmt.Errorf("%v is not a number of seconds to wait", x)
	}
	return time.Duration(x * float64(time.Second)), nil
}

// readLMCache reads rows of LMCache's agentic traces: a row for each call, with all of its messages.
func readLMCache(r *reading) ([]*replay.Session, error) {
	var out []*history
	known := map[string]*history{}
	err := r.each(func(raw []byte, _ int) error {
		var v struct {
			Session string          `json:"session_id"`
			Input   json.RawMessage `json:"input"`
			Output  int             `json:"output_length"`
			Gap     float64         `json:"pre_gap"`
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("is not a call of a session: %w", err)
		}
		wait, err := seconds(v.Gap)
		switch {
		case err != nil:
			return fmt.Errorf("pre_gap: %w", err)
		case v.Session == "":
			return errors.New("has no session_id")
		case v.Output < 0 || v.Output > mostTokens:
			return fmt.Errorf("output_length is %d, which is not a length", v.Output)
		}
		messages, err := readMessages(v.Input)
		if err != nil {
			return fmt.Errorf("input: %w", err)
		}
		if len(messages) == 0 {
			return errors.New("input has no messages")
		}
		h := known[v.Session]
		if h == nil {
			h = newHistory(v.Session)
			known[v.Session] = h
			out = append(out, h)
			wait = 0 // before it, there is nothing to wait for
		}
		h.extend(messages)
		h.call(wait, prompt.Prompt{Output: output(v.Output, r.output, uint64(len(h.graph.Calls)))})
		return nil
	})
	return sessionsOf(out), err
}

// extend has these messages said, of which the first may have been said before.
func (h *history) extend(messages []prompt.Message) {
	n := 0
	for n < len(messages) && n < len(h.said) && sameMessages(&messages[n], &h.said[n]) {
		n++
	}
	if n < len(h.said) { // another beginning
		h.said = slices.Clone(h.said[:n])
	}
	h.said = append(h.said, messages[n:]...)
}

func sessionsOf(list []*history) []*replay.Session {
	var out []*replay.Session
	for _, h := range list {
		if len(h.graph.Calls) > 0 {
			out = append(out, h.session())
		}
	}
	return out
}

// mlperfRow is a message of a conversation of MLPerf's agentic data.
type mlperfRow struct {
	Conversation json.RawMessage `json:"conversation_id"`
	Turn         int             `json:"turn"`
	Role         string          `json:"role"`
	System       string          `json:"system"`
	Tools        json.RawMessage `json:"tools"`
	Results      []struct {
		ID      *string         `json:"tool_call_id"`
		Content json.RawMessage `json:"content"`
	} `json:"tool_results"`
	Delay     float64 `json:"delay_seconds"`
	New       int     `json:"max_new_tokens"`
	Completed int     `json:"max_completion_tokens"`
}

// mlperf is a file of such messages being read.
type mlperf struct {
	*reading
	all   []*history
	known map[string]bool
	tools []prompt.Field
	turn  int
	wait  time.Duration
	asked *mlperfRow // by a user or a tool, and not answered yet
}

// readMLPerf reads the agentic conversations of MLPerf: a row for each message, those of a conversation together. What a
// user says, or a tool, is sent with all that was said before it, and the recorded response tells how long the server's
// own is.
func readMLPerf(r *reading) ([]*replay.Session, error) {
	m := &mlperf{reading: r, known: map[string]bool{}}
	err := r.each(func(raw []byte, _ int) error {
		var kind struct {
			Type string `json:"_type"`
		}
		if json.Unmarshal(raw, &kind) == nil && kind.Type == "dataset_metadata" {
			return nil
		}
		var row mlperfRow
		if err := json.Unmarshal(raw, &row); err != nil {
			return fmt.Errorf("is not a message of a conversation: %w", err)
		}
		return m.row(raw, &row)
	})
	m.send(0)
	return sessionsOf(m.all), err
}

func (m *mlperf) row(raw []byte, row *mlperfRow) error {
	name := plain(row.Conversation)
	if name == "" {
		return errors.New("has no conversation_id")
	}
	if len(m.all) == 0 || m.all[len(m.all)-1].name != name {
		if m.known[name] {
			return fmt.Errorf("the rows of the conversation %q do not stand together", name)
		}
		m.send(0)
		m.known[name], m.turn, m.tools = true, 0, nil
		m.all = append(m.all, newHistory(name))
		if row.System != "" {
			m.last().said = []prompt.Message{{Role: roleSystem, Content: row.System}}
		}
	}
	if row.Turn <= m.turn {
		return fmt.Errorf("turn %d comes after turn %d of its conversation", row.Turn, m.turn)
	}
	m.turn = row.Turn
	messages, err := row.messages(raw)
	if err != nil {
		return err
	}
	if given := len(row.Tools) > 0 && string(row.Tools) != "null"; given {
		m.tools = []prompt.Field{{Name: "tools", Value: row.Tools}}
	}
	switch row.Role {
	case roleUser, roleTool:
		m.send(0)
		if m.wait, err = seconds(row.Delay); err != nil {
			return fmt.Errorf("delay_seconds: %w", err)
		}
		m.asked = row
		m.last().said = append(m.last().said, messages...)
	case roleAssistant:
		if m.asked == nil {
			return errors.New("is a response, and nothing was asked")
		}
		m.send(m.tok.Count(messages[0].Content))
		m.last().said = append(m.last().said, messages...)
	default:
		return fmt.Errorf("role is %q, not user, assistant or tool", row.Role)
	}
	return nil
}

func (m *mlperf) last() *history { return m.all[len(m.all)-1] }

// send adds the call that is open, with a response of so many tokens; 0: it was not recorded.
func (m *mlperf) send(tokens int) {
	if m.asked == nil {
		return
	}
	h := m.last()
	n := output(max(tokens, m.asked.New, m.asked.Completed), m.output, uint64(len(h.graph.Calls)))
	h.call(m.wait, prompt.Prompt{Output: n, Fields: m.tools})
	m.asked = nil
}

// messages are those of a row: that of a tool has one for each result.
func (row *mlperfRow) messages(raw []byte) ([]prompt.Message, error) {
	if row.Role == roleTool && len(row.Results) == 0 {
		return nil, errors.New("is of a tool and has no tool_results")
	}
	if len(row.Results) == 0 {
		fields, err := fieldsBut(raw)
		if err != nil {
			return nil, err
		}
		kept := map[string]json.RawMessage{}
		for _, f := range fields {
			if slices.Contains([]string{"role", "content", "name", "tool_calls", "reasoning_content"}, f.Name) && string(f.Value) != "null" {
				kept[f.Name] = f.Value
			}
		}
		if kept["content"] == nil && kept["tool_calls"] != nil {
			kept["content"] = json.RawMessage("null")
		}
		whole, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		one, err := readMessage(whole)
		return []prompt.Message{one}, err
	}
	var out []prompt.Message
	for i, res := range row.Results {
		if res.ID == nil || len(res.Content) == 0 {
			return nil, fmt.Errorf("tool_results[%d] has no tool_call_id or no content", i)
		}
		whole, err := json.Marshal(map[string]any{"role": roleTool, "tool_call_id": *res.ID, "content": res.Content})
		if err != nil {
			return nil, err
		}
		one, err := readMessage(whole)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// alone is a session of one call.
func alone(name string, p prompt.Prompt, messages ...prompt.Message) *replay.Session {
	h := newHistory(name)
	h.said = messages
	h.call(0, p)
	return h.session()
}

// mlperfArticle is how long MLPerf's summaries of articles are at most.
const mlperfArticle = 128

// readMLPerfArticles reads MLPerf's news articles that are to be summarized.
func readMLPerfArticles(r *reading) ([]*replay.Session, error) {
	var out []*replay.Session
	err := r.each(func(raw []byte, _ int) error {
		var v struct{ Instruction, Input string }
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("is not an article: %w", err)
		}
		text := strings.Replace(v.Instruction, "{input}", v.Input, 1)
		if text == v.Instruction {
			text = strings.TrimSpace(v.Instruction + "\n\n" + v.Input)
		}
		if text == "" {
			return errors.New("has neither instruction nor input")
		}
		n := uint64(len(out))
		out = append(out, alone(fmt.Sprintf("article_%d", n), prompt.Prompt{Output: output(r.output.At(n), r.output, n)}, prompt.Message{Role: roleUser, Content: text}))
		if p := &out[n].Graph.Calls[0].Prompt; p.Output == 0 {
			p.Output = mlperfArticle
		}
		return nil
	})
	return out, err
}

// readMLPerfQuestions reads rows of OpenOrca as MLPerf has them.
func readMLPerfQuestions(r *reading) ([]*replay.Session, error) {
	var out []*replay.Session
	err := r.each(func(raw []byte, _ int) error {
		var v struct {
			System   string  `json:"system_prompt"`
			Question string  `json:"question"`
			Output   float64 `json:"tok_output_length"`
			Answer   string  `json:"output"`
			Response string  `json:"response"`
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("is not a question: %w", err)
		}
		if v.Question == "" {
			return errors.New("has no question")
		}
		var said []prompt.Message
		if v.System != "" {
			said = append(said, prompt.Message{Role: roleSystem, Content: v.System})
		}
		n := uint64(len(out))
		length := int(v.Output)
		if length == 0 {
			length = r.tok.Count(v.Answer + v.Response)
		}
		out = append(out, alone(fmt.Sprintf("question_%d", n), prompt.Prompt{Output: output(length, r.output, n)},
			append(said, prompt.Message{Role: roleUser, Content: v.Question})...))
		return nil
	})
	return out, err
}
