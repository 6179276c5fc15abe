// Package oteltrace plays recorded sessions again, out of files of OpenTelemetry spans:
// each call of a model when the calls that it goes on from were answered and the recorded
// wait is over, with the server's own responses and tool calls in place of the recorded ones.
package oteltrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/prompt/sessionfilter"
)

const defaultOutput = 1000

// Source gives the sessions in an order that the seed fixes, again and again.
type Source struct {
	replay.Cycle
	replay plan.Replay
	limits plan.Data // whose limits files are read by
	tok    prompt.Tokenizer
	seed   uint64
	env    func(string) string
	tell   func(string)
	filter *sessionfilter.Filter
	lost   map[string]int // parts of messages that cannot be sent, by type
	bare   int            // calls that called tools and have none
}

// New prepares to play what d asks for. Open reads it. env has the hub's settings.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64, env func(string) string) (*Source, error) {
	return &Source{replay: d.Replay, limits: plan.Data{Limits: d.Limits}, tok: tok, seed: prompt.Mix(seed ^ 'r'), env: env,
		tell: func(string) {}, lost: map[string]int{}}, nil
}

// Open implements prompt.Opener.
func (s *Source) Open(ctx context.Context, u prompt.Use) error {
	if !u.Chat {
		return plan.Faults{{Path: "target.endpoint", Text: "recorded sessions are chats", Hint: "use a chat endpoint"}}
	}
	if u.Tell != nil {
		s.tell = u.Tell
	}
	if s.replay.Filter != "" {
		var err error
		if s.filter, err = sessionfilter.Parse(s.replay.Filter); err != nil {
			return plan.Faults{{Path: "data.replay.filter", Text: err.Error(), Hint: "such as len(x['spans']) > 1"}}
		}
	}
	place := replay.Files{Replay: s.replay, Env: s.env, Tell: s.tell, Downloads: prompt.Downloads(s.limits)}
	files, err := place.Files(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.readFile(f); err != nil {
			err = fmt.Errorf("reading the traces of %s: %w", f.Name, err)
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
	if len(s.All) == 0 {
		return plan.Faults{{Path: "data.replay", Text: fmt.Sprintf("no session is left of %d files", len(files)), Hint: "look at the files and at filter"}}
	}
	s.warn()
	s.Arrange(&s.replay, s.seed, "trace")
	return nil
}

// warn tells what of the record is not played as it was.
func (s *Source) warn() {
	for _, kind := range slices.Sorted(maps.Keys(s.lost)) {
		s.tell(fmt.Sprintf("%d parts of recorded messages are of type %q and are not sent: only texts, tool calls and their results are.", s.lost[kind], kind))
	}
	if s.bare > 0 {
		s.tell(fmt.Sprintf("%d recorded calls called tools and have no gen_ai.tool.definitions: the model will answer them in text.", s.bare))
	}
}

// readFile reads the sessions of a file. A file with a fault gives none.
func (s *Source) readFile(f replay.File) error {
	in, err := open(f.Path, prompt.Files(s.limits))
	if err != nil {
		return err
	}
	defer in.close()
	var found []*replay.Session
	for n := 0; ; n++ {
		raw, err := in.next()
		if errors.Is(err, io.EOF) {
			s.All = append(s.All, found...)
			return nil
		}
		if err != nil {
			return err
		}
		one, err := s.decode(raw, f, n)
		if err != nil {
			return fmt.Errorf("session %d: %w", n+1, err)
		}
		if one != nil {
			found = append(found, one)
		}
	}
}

// decode makes a session of a trace, the n-th of its file; nil means it is not wanted, or there
// is nothing in it to be played, which the user is told.
func (s *Source) decode(raw []byte, f replay.File, n int) (*replay.Session, error) {
	var t trace
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, err
	}
	name := t.SessionID
	if name == "" {
		name = t.TraceID
	}
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(f.Name), filepath.Ext(f.Name))
		if n > 0 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
	}
	if s.filter != nil {
		keep, err := s.keeps(raw, &t, name, f.Name)
		if err != nil || !keep {
			return nil, err
		}
	}
	g, begun, err := s.read(&t)
	if err != nil {
		s.tell(fmt.Sprintf("Left out: session %d of %s: %v.", n+1, f.Name, err))
		return nil, nil
	}
	g.Origin = f.Name
	return &replay.Session{Name: name, Graph: g, Begin: begun}, nil
}

// keeps asks the filter. It sees the trace, and what data sets say where this one does not.
func (s *Source) keeps(raw []byte, t *trace, name, file string) (bool, error) {
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return false, err
	}
	most, total := 0, 0
	models := []any{}
	seen := map[string]bool{}
	for i := range t.Spans {
		in, _ := t.Spans[i].number("gen_ai.usage.input_tokens")
		out, _ := t.Spans[i].number("gen_ai.usage.output_tokens")
		most, total = max(most, in+out), total+in+out
		if m := t.Spans[i].text("gen_ai.request.model"); m != "" && !seen[m] {
			seen[m] = true
			models = append(models, m)
		}
	}
	for key, value := range map[string]any{
		"session_id": name, "source_id": file, "harness": "unknown", "benchmark": "unknown", "models": models,
		"max_tokens": float64(most), "total_tokens": float64(total),
	} {
		if _, ok := doc[key]; !ok {
			doc[key] = value
		}
	}
	keep, err := s.filter.Keeps(doc)
	if err != nil {
		return false, fmt.Errorf("the filter: %w", err)
	}
	return keep, nil
}

// Prompt implements prompt.Source: a session.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	one := s.Session(at.I)
	if one.Tag != "" {
		one.Tag += " " // it stands in front of messages
	}
	return prompt.Prompt{Session: one.Name, Tokens: -1, Play: &prompt.Play{Graph: one.Graph, Name: one.Name, Tag: one.Tag, Count: s.tok}}, nil
}
