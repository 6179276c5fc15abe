// Package oteltrace plays recorded sessions again, out of files of OpenTelemetry spans:
// each call of a model after the answer to the one before and the recorded wait, with the
// server's own answers in place of the recorded ones. Sessions are played whose calls
// follow one another and are of text; others are refused before anything is sent.
package oteltrace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/sessionfilter"
)

const defaultOutput = 1000

// Source gives the sessions in an order that the seed fixes, again and again.
type Source struct {
	replay   plan.Replay
	tok      prompt.Tokenizer
	seed     uint64
	tell     func(string)
	sessions []*session
	next     int
}

// New prepares to play what d asks for. Open reads it.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64) (*Source, error) {
	r := d.Replay
	var faults plan.Faults
	for _, f := range []struct {
		path  string
		given bool
	}{{"hub", r.Hub != plan.Hub{}}, {"headers", len(r.Headers) > 0}, {"labels", len(r.Labels) > 0}} {
		if f.given {
			faults = append(faults, plan.Fault{Path: "data.replay." + f.path, Text: "is not built for recorded sessions", Hint: "leave it out; traces are read from dir or files"})
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return &Source{replay: r, tok: tok, seed: prompt.Mix(seed ^ 'r'), tell: func(string) {}}, nil
}

// Open implements prompt.Opener.
func (s *Source) Open(ctx context.Context, u prompt.Use) error {
	if !u.Chat {
		return plan.Faults{{Path: "target.endpoint", Text: "recorded sessions are chats", Hint: "use a chat endpoint"}}
	}
	if u.Tell != nil {
		s.tell = u.Tell
	}
	var filter *sessionfilter.Filter
	if s.replay.Filter != "" {
		var err error
		if filter, err = sessionfilter.Parse(s.replay.Filter); err != nil {
			return plan.Faults{{Path: "data.replay.filter", Text: err.Error(), Hint: "such as len(x['spans']) > 1"}}
		}
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.readFile(file, filter); err != nil {
			err = fmt.Errorf("reading the traces of %s: %w", file, err)
			if s.replay.SkipInvalid {
				s.tell("Left out: " + err.Error() + ".")
				continue
			}
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if len(s.sessions) == 0 {
		return plan.Faults{{Path: "data.replay", Text: fmt.Sprintf("no session is left of %d files", len(files)), Hint: "look at the files and at filter"}}
	}
	s.arrange()
	return nil
}

// files are the names of all files of traces, in order.
func (s *Source) files() ([]string, error) {
	patterns := s.replay.Files
	if s.replay.Dir != "" {
		patterns = []string{filepath.Join(s.replay.Dir, "*.json"), filepath.Join(s.replay.Dir, "*.jsonl")}
	}
	var out []string
	for _, pattern := range patterns {
		if _, err := os.Stat(pattern); err == nil {
			out = append(out, pattern)
			continue
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, plan.Faults{{Path: "data.replay.files", Text: fmt.Sprintf("%q is no pattern: %v", pattern, err)}}
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, plan.Faults{{Path: "data.replay", Text: fmt.Sprintf("no files of traces: %s", strings.Join(patterns, ", ")), Hint: "files end in .json or .jsonl"}}
	}
	return out, nil
}

// readFile reads the sessions of a file: one JSON value after the other. A file with a
// fault gives none.
func (s *Source) readFile(name string, filter *sessionfilter.Filter) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	found, err := s.decode(f, filter)
	if err != nil {
		return err
	}
	for i, one := range found {
		if one.name == "" {
			one.name = fmt.Sprintf("%s_%d", strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), i)
		}
	}
	s.sessions = append(s.sessions, found...)
	return nil
}

func (s *Source) decode(r io.Reader, filter *sessionfilter.Filter) ([]*session, error) {
	var out []*session
	for d, n := json.NewDecoder(r), 1; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if filter != nil {
			var doc any
			if err := json.Unmarshal(raw, &doc); err != nil {
				return nil, err
			}
			keep, err := filter.Keeps(doc)
			if err != nil {
				return nil, fmt.Errorf("session %d: the filter: %w", n, err)
			}
			if !keep {
				continue
			}
		}
		var t trace
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("session %d: %w", n, err)
		}
		one, err := read(&t, s.replay.SkipErrors, time.Duration(s.replay.MaxWait))
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", n, err)
		}
		out = append(out, one)
	}
}

// arrange puts the sessions in order, repeats them where more are wanted, and tags those
// that no cache shall know.
func (s *Source) arrange() {
	rng := rand.New(rand.NewPCG(s.seed, 0))
	rng.Shuffle(len(s.sessions), func(i, j int) { s.sessions[i], s.sessions[j] = s.sessions[j], s.sessions[i] })
	for i, one := range s.sessions {
		one.name = fmt.Sprintf("trace%d_%s", i, one.name)
		if s.replay.RandomID {
			one.tag = fmt.Sprintf("[SESS:%016x] ", rng.Uint64())
		}
	}
	for n := len(s.sessions); len(s.sessions) < s.replay.Sessions; {
		again := len(s.sessions) - n
		from := s.sessions[again%n]
		s.sessions = append(s.sessions, &session{
			name: fmt.Sprintf("%s_dup%d", from.name, again+1), tag: fmt.Sprintf("[SESS:%016x] ", rng.Uint64()), calls: from.calls,
		})
	}
}

// Sessions implements prompt.Finite.
func (s *Source) Sessions() int { return len(s.sessions) }

// Next implements prompt.Source: the first call of the next session.
func (s *Source) Next(context.Context) (prompt.Prompt, error) {
	one := s.sessions[s.next%len(s.sessions)]
	name := one.name
	if round := s.next / len(s.sessions); round > 0 {
		name += fmt.Sprintf("#%d", round+1)
	}
	s.next++
	play := &player{source: s, session: one, name: name}
	return play.turn(), nil
}

// player is a session under way.
type player struct {
	source  *Source
	session *session
	name    string
	answers []string // of the server, to the calls so far
}

// Next implements prompt.Conversation. Without an answer there is nothing to go on from.
func (p *player) Next(a prompt.Answer) (prompt.Prompt, time.Duration, error) {
	p.answers = append(p.answers, a.Text)
	if a.Failed || len(p.answers) == len(p.session.calls) {
		return prompt.Prompt{}, 0, io.EOF
	}
	return p.turn(), p.session.calls[len(p.answers)].wait, nil
}

// turn is the call whose turn it is.
func (p *player) turn() prompt.Prompt {
	i := len(p.answers)
	c, r := &p.session.calls[i], &p.source.replay
	out := prompt.Prompt{Session: p.name, Turn: i, Model: c.model, Messages: slices.Clone(c.messages)}
	if r.Model != "" {
		out.Model = r.Model
	} else if to, ok := r.Models[c.model]; ok {
		out.Model = to
	}
	for k, from := range c.answers {
		if from >= 0 && !r.NoSubstitution && p.answers[from] != "" {
			out.Messages[k].Content = p.answers[from]
		}
	}
	out.Messages[0].Content = p.session.tag + out.Messages[0].Content
	for _, m := range out.Messages {
		out.Tokens += p.source.tok.Count(m.Content)
	}
	out.Output = cmp.Or(c.output, r.MaxTokens, defaultOutput)
	out.Hash = prompt.HashMessages(out.Messages)
	if i+1 < len(p.session.calls) {
		out.Rest = p
	}
	return out
}
