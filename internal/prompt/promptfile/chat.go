package promptfile

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
)

type entry struct {
	prompt prompt.Prompt
	own    []prompt.Field // fields of the line that belong into a request
	think  time.Duration  // before it goes, after the response to the turn before
	due    time.Duration  // its own time; negative: none
	line   int
}

// chat is a prompt and the turns that follow it; most have none.
type chat struct {
	entry
	rest []entry
}

func (f *file) add(e entry) { f.entries = append(f.entries, e) }

// chats puts lines of one session together, in order, and sessions in the order of their times, if
// any.
func (f *file) chats() []chat {
	var out []chat
	at := map[string]int{}
	timed := 0
	for _, e := range f.entries {
		i, known := at[e.prompt.Session]
		if e.prompt.Session != "" && known {
			e.prompt.Turn = len(out[i].rest) + 1
			out[i].rest = append(out[i].rest, e)
			continue
		}
		if e.prompt.Session != "" {
			at[e.prompt.Session] = len(out)
		}
		if e.due >= 0 {
			timed++
		}
		out = append(out, chat{entry: e})
	}
	if timed == 0 {
		return out
	}
	if timed < len(out) {
		i := slices.IndexFunc(out, func(c chat) bool { return c.due < 0 })
		f.lineNo, f.line = out[i].line, nil
		f.fault(0, timestampField, "is missing, and other lines have one", "give every line one, or none")
	}
	slices.SortStableFunc(out, func(a, b chat) int { return cmp.Compare(a.due, b.due) })
	return out
}

type conversation struct {
	source *Source
	rest   []entry
	said   []prompt.Message // all of it so far
	name   string
}

// Next implements prompt.Conversation. Without a response there is nothing to go on
// from.
func (c *conversation) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	if len(c.rest) == 0 || a.Failed {
		return prompt.Prompt{}, 0, io.EOF
	}
	e := c.rest[0]
	c.rest = c.rest[1:]
	c.said = append(c.said, prompt.Message{Role: "assistant", Content: a.Text})
	p := e.prompt
	c.said = append(c.said, messages(&p)...)
	p.Messages = slices.Clone(c.said)
	p.Text, p.Session = "", c.name
	if len(c.rest) > 0 {
		p.Rest = c
	}
	p.Measure(c.source.tok)
	return p, e.think, nil
}

func messages(p *prompt.Prompt) []prompt.Message {
	if p.Messages != nil {
		return p.Messages
	}
	return []prompt.Message{{Role: "user", Content: p.Text}}
}

// converse makes a chat's first turn the beginning of a conversation. The file is
// used again and again; sessions get a new name each time.
func (s *Source) converse(p *prompt.Prompt, rest []entry, round uint64) {
	if round > 0 {
		p.Session += "#" + strconv.FormatUint(round+1, 10)
	}
	if len(rest) == 0 {
		return
	}
	rest = slices.Clone(rest)
	for i := range rest {
		if rest[i].prompt.Output == 0 {
			rest[i].prompt.Output = p.Output
		}
	}
	p.Rest = &conversation{source: s, rest: rest, said: slices.Clone(messages(p)), name: p.Session}
}

// Sessions implements prompt.Finite: conversations, and lines that belong to none.
func (s *Source) Sessions() int { return len(s.chats) }

// Schedule implements prompt.Scheduler: the file's own times, counted from the
// first.
func (s *Source) Schedule() prompt.Moments {
	if s.chats[0].due < 0 {
		return nil
	}
	out := make([]time.Duration, len(s.chats))
	for i, c := range s.chats {
		out[i] = c.due - s.chats[0].due
	}
	return prompt.NewMoments(out)
}
