// Package sessions is a source of sessions whose turns are known ahead, but for responses: out of a
// file of payloads, with their own timestamps, lengths and fields, or made up.
package sessions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
)

type turn struct {
	prompt prompt.Prompt
	coded  *blocktext.Coded // what its text is made from when it is sent; nil means it has one
	delay  time.Duration    // after its response, before the next turn goes
	pauses bool             // the data says how long that is, be it 0
	line   int              // its place in the data, from 0
	due    time.Duration    // its timestamp; negative: none
}

// session is a conversation, or a request that stands alone.
type session []turn

// Source hands out its sessions' first turns in order, again and again, and anew in each stage.
type Source struct {
	prompt.RestartPerStage
	sessions []session
	tok      prompt.Tokenizer
	writer   writer // makes the texts of coded turns, where there are any
	chat     bool
	begun    order      // nil means turns of a session come after one another
	endless  *generator // of sessions without an end; nil means there are those above
	notes    []string
}

// Notes are worth telling the user.
func (s *Source) Notes() []string { return s.notes }

// gather puts turns of a session together, in the order of their beginnings; or each stands alone.
func gather(turns []turn, alone bool) []session {
	var out []session
	at := map[string]int{}
	for _, one := range turns {
		name := one.prompt.Session
		i, known := at[name]
		if name == "" || !known || alone {
			at[name] = len(out)
			out = append(out, session{one})
			continue
		}
		one.prompt.Turn = len(out[i])
		out[i] = append(out[i], one)
	}
	return out
}

// Open implements prompt.Opener.
func (s *Source) Open(ctx context.Context, u prompt.Use) error {
	s.chat = u.Chat
	if !s.writer.Uncertain() {
		return nil
	}
	if u.Tell != nil {
		u.Tell(fmt.Sprintf("Making all prompts before the run: words of the tokenizer %s merge with their neighbours.", s.tok.Name()))
	}
	return s.writer.fillAll(ctx, s.sessions)
}

// Sessions implements prompt.Finite; 0: there is no end of them.
func (s *Source) Sessions() int { return len(s.sessions) }

// Turns are all requests, session by session, each without what is said before it.
func (s *Source) Turns(ctx context.Context) ([]prompt.Scripted, error) {
	var list []prompt.Scripted
	for _, k := range s.sessions {
		for i := range k {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			p, err := s.writer.fill(&k[i])
			if err != nil {
				return nil, err
			}
			list = append(list, prompt.Scripted{Prompt: p, Think: k[i].delay, Pauses: k[i].pauses, Line: k[i].line})
		}
	}
	return list, nil
}

// Lanes implements prompt.LaneSource: requests stand alone, or bring their sessions along.
func (s *Source) Lanes() int { return 0 }

// Session implements prompt.LaneSource: turns that stand alone are told by their session's name.
func (s *Source) Session(at prompt.Position) uint64 {
	if s.begun == nil {
		return at.I
	}
	return s.begun.session(at.I)
}

// Prompt implements prompt.Source, without an end; a session that comes again has another name.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	var k session
	var round uint64
	if s.endless != nil {
		var err error
		if k, err = s.endless.sessionAt(at); err != nil {
			return prompt.Prompt{}, err
		}
	} else {
		round, k = at.I/uint64(len(s.sessions)), s.sessions[at.I%uint64(len(s.sessions))]
	}
	p, err := s.writer.fill(&k[0])
	if err != nil {
		return p, err
	}
	if round > 0 && p.Session != "" && s.begun == nil {
		p.Session += "#" + strconv.FormatUint(round+1, 10)
	}
	if len(k) > 1 {
		p.Rest = &dialogue{source: s, rest: k[1:], pause: k[0].delay, name: p.Session, said: []prompt.Message{{Role: "user", Content: p.Text}}}
	}
	return p, nil
}

// Schedule implements prompt.Scheduler: the timestamps of first turns, from the first one.
func (s *Source) Schedule() prompt.Moments {
	if s.endless != nil {
		return nil
	}
	list := make([]time.Duration, len(s.sessions))
	for i, k := range s.sessions {
		if k[0].due < 0 || i > 0 && k[0].due < s.sessions[i-1][0].due {
			return nil
		}
		list[i] = k[0].due - s.sessions[0][0].due
	}
	return prompt.NewMoments(list)
}

type dialogue struct {
	source *Source
	rest   []turn
	pause  time.Duration // before the next turn
	said   []prompt.Message
	name   string
}

// Next implements prompt.Conversation. Without a response there is nothing to go on from.
func (d *dialogue) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	if len(d.rest) == 0 || a.Failed {
		return prompt.Prompt{}, 0, io.EOF
	}
	pause := d.pause
	p, err := d.source.writer.fill(&d.rest[0])
	if err != nil {
		return p, 0, err
	}
	d.rest, d.pause = d.rest[1:], d.rest[0].delay
	d.said = append(d.said, prompt.Message{Role: "assistant", Content: a.Text}, prompt.Message{Role: "user", Content: p.Text})
	p.Session = d.name
	if d.source.chat {
		p.Messages, p.Text = slices.Clone(d.said), ""
	} else {
		p.Text = joined(d.said)
	}
	p.Measure(d.source.tok)
	if len(d.rest) > 0 {
		p.Rest = d
	}
	return p, pause, nil
}

// joined is a conversation as one text, for servers that know no messages.
func joined(said []prompt.Message) string {
	text := ""
	for i, m := range said {
		if i > 0 {
			text += "\n"
		}
		text += m.Content
	}
	return text
}

// ratio is a factor on delays, of which 0 is 1.
func ratio(r float64) float64 {
	if r == 0 {
		return 1
	}
	return r
}

// mostTurns bounds what is kept in memory.
const mostTurns = 1_000_000

// tooMany is the fault of a source with more.
func tooMany(path string) error {
	return plan.Faults{{Path: path, Text: "there are more than " + strconv.Itoa(mostTurns) + " turns, which are kept in memory", Hint: "ask for fewer"}}
}
