// Package dataset takes prompts from well-known data sets: conversations, articles and questions
// with their responses. Files lie here, in the cache of the Hugging Face hub, or on the hub.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/rows"
	"github.com/inferometer/inferometer/internal/remote/hub"
)

const (
	// Before the first request so many prompts are read, but for no longer than this.
	// The rest of a large file is read while the run goes on, ahead of its time.
	readFirst = 4096
	readFor   = 5 * time.Second
	// Images are kept in memory, so that their number needs a bound.
	usualImages = 1000
)

// Source hands out the rows of a data set in order, again and again. Every stage begins
// with the first, unless the plan lets it go on.
type Source struct {
	data   plan.Data
	kind   kind
	tok    prompt.Tokenizer
	env    func(string) string
	output *prompt.Lengths
	salt   prompt.Salt
	seed   uint64
	chat   bool
	fields bool         // requests have a place for those of rows
	found  string       // what the columns of a row told, where that is looked for
	tell   func(string) // nil means nobody listens

	remote *remote // nil means the files are here
	files  []file  // those that are left
	reader *rows.Reader
	most   int // prompts; 0: no bound
	start  int // of kept, those that come last
	tally  tally

	mu    sync.Mutex // of all that reading changes
	kept  []prompt.Prompt
	ended bool
	all   atomic.Pointer[[]prompt.Prompt] // kept, once all are read
}

// tally counts what became of rows.
type tally struct{ read, empty, input, output int }

// New makes a source of the data set that d names. env has the hub's settings.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64, env func(string) string) (*Source, error) {
	k, ok := kinds()[d.Dataset.Kind]
	if !ok {
		return nil, plan.Faults{{Path: "data.dataset.kind", Text: fmt.Sprintf("unknown data set %q", d.Dataset.Kind)}}
	}
	s := &Source{
		data: d, kind: k, tok: tok, env: env,
		output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o')),
		salt:   prompt.NewSalt(d.Salt, seed),
		seed:   prompt.Mix(seed ^ 'd'),
		most:   d.Dataset.Rows,
	}
	if d.Dataset.Kind == plan.DatasetVisionArena && s.most == 0 {
		s.most = usualImages
	}
	if d.Prompts > 0 && (s.most == 0 || d.Prompts < s.most) {
		s.most = d.Prompts
	}
	return s, nil
}

// Open implements prompt.Opener: it fetches the files and reads the first rows. Later no file is
// fetched.
func (s *Source) Open(ctx context.Context, u prompt.Use) (err error) {
	s.chat, s.fields, s.tell = u.Chat, u.Fields, u.Tell
	if s.data.Dataset.Path != "" {
		s.files, err = local(s.data.Dataset.Path)
	} else {
		err = s.openHub(ctx)
	}
	if err != nil {
		return err
	}
	until := time.Now().Add(readFor)
	for len(s.kept) < readFirst && (len(s.kept) == 0 || time.Now().Before(until)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err := s.readOne(ctx, true); err != nil || !more {
			if err != nil {
				return err
			}
			break
		}
	}
	if len(s.kept) == 0 {
		return s.nothing()
	}
	return nil
}

// Notes are worth telling the user.
func (s *Source) Notes() []string {
	if s.found == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s has the columns of the data set %s, and is read as that.", s.data.Dataset.Path, s.found)}
}

func (s *Source) openHub(ctx context.Context) error {
	d := s.data.Dataset
	h, err := hub.New(s.env, nil)
	if err != nil {
		return err
	}
	h.Limit(prompt.Downloads(s.data))
	name := d.Hub.Name
	if name == "" {
		name = s.kind.repo
	}
	if name == "" {
		return plan.Faults{{Path: "data.dataset.path", Text: d.Kind + " has no usual place on the hub", Hint: "give %v", Args: []any{message.New("%v or %v", message.DatasetPath, message.DatasetHub).Or("%v", message.DatasetPath)}}}
	}
	s.remote = &remote{hub: h, repo: hub.Dataset(name), revision: d.Hub.Revision}
	if s.files, err = s.remote.find(ctx, d, s.kind); err != nil {
		return fmt.Errorf("the data set %s: %w", d.Kind, err)
	}
	return nil
}

func (s *Source) nothing() error {
	t := s.tally
	d := s.data.Dataset
	text := fmt.Sprintf("no row of %s can be used: of %d rows, %d have no request or no response", d.Kind, t.read, t.empty)
	f := plan.Fault{Path: "data.dataset", Text: text, Hint: fmt.Sprintf("it must be a file of that data set: rows with %q", s.kind.columns)}
	if t.input+t.output > 0 {
		f.Text += fmt.Sprintf(", %d have a prompt and %d a response of another length than asked for", t.input, t.output)
		f.Hint, f.Args = "widen %v or %v", []any{message.DatasetInput, message.DatasetOutput}
	}
	return plan.Faults{f}
}

// readOne reads rows until one can be used; false: there is none any more. Files are
// fetched where fetch is true; those that were not are left out otherwise.
func (s *Source) readOne(ctx context.Context, fetch bool) (bool, error) {
	for !s.ended && (s.most == 0 || len(s.kept) < s.most) {
		if s.reader == nil {
			if err := s.openNext(ctx, fetch); err != nil {
				return false, err
			}
			continue
		}
		row, err := s.reader.Next()
		if errors.Is(err, io.EOF) {
			err = s.reader.Close()
			s.reader = nil
			if err != nil {
				return false, fmt.Errorf("the data set %s: %w", s.data.Dataset.Kind, err)
			}
			continue
		}
		if err != nil {
			return false, fmt.Errorf("the data set %s: %w", s.data.Dataset.Kind, err)
		}
		s.tally.read++
		if p, ok := s.promptOf(row); ok {
			s.kept = append(s.kept, p)
			if s.tally.read <= s.data.Dataset.Start {
				s.start++
			}
			return true, nil
		}
	}
	s.end()
	return false, nil
}

func (s *Source) openNext(ctx context.Context, fetch bool) (err error) {
	if len(s.files) == 0 {
		s.ended = true
		return nil
	}
	f := s.files[0]
	if f.path == "" && !fetch {
		var ok bool
		if f.path, ok = s.remote.hub.Cached(s.remote.repo, s.remote.revision, f.name); !ok {
			s.ended = true // a run does not wait for the network
			return nil
		}
	}
	if f.path == "" {
		if _, ok := s.remote.hub.Cached(s.remote.repo, s.remote.revision, f.name); !ok && !s.remote.hub.Offline() && s.tell != nil {
			s.tell(fmt.Sprintf("Fetching %s of the data set %s from %s; it is kept for the next time.", f.name, s.remote.repo.Name, s.remote.hub.Endpoint()))
		}
		if f.path, err = s.remote.hub.File(ctx, s.remote.repo, s.remote.revision, f.name); err != nil {
			return message.Errorf("the data set %s: %w\nWithout the hub: get https://huggingface.co/datasets/%s/resolve/main/%s elsewhere, and name the file (%v)",
				s.data.Dataset.Kind, err, s.remote.repo.Name, f.name, message.DatasetFile)
		}
	}
	s.files = s.files[1:]
	if s.reader, err = rows.Open(prompt.Files(s.data), f.path, s.kind.columns...); err != nil {
		return fmt.Errorf("the data set %s: %w", s.data.Dataset.Kind, err)
	}
	return nil
}

func (s *Source) end() {
	s.ended = true
	if s.reader != nil {
		s.reader.Close() // it was only read
		s.reader = nil
	}
}

// promptOf makes a prompt of a row; false: it is none, or not of the length asked for.
func (s *Source) promptOf(row rows.Row) (prompt.Prompt, bool) {
	e, ok := s.read(row)
	if s.found == "" && s.data.Dataset.Kind == plan.DatasetAuto {
		s.found = kindOf(row)
	}
	free := s.data.Dataset.Free || s.kind.free || kinds()[s.found].free
	if !ok || e.answer == "" && s.data.Output == (plan.Length{}) && !free {
		s.tally.empty++
		return prompt.Prompt{}, false
	}
	p := prompt.Prompt{Text: e.text, Messages: e.messages}
	if s.fields {
		p.Fields = e.fields
	}
	p.Measure(s.tok)
	d := &s.data.Dataset
	if d.Whole && s.chat {
		return p, true
	}
	if !within(p.Tokens, d.Input) {
		s.tally.input++
		return p, false
	}
	p.Output = s.tok.Count(e.answer)
	if !within(p.Output, d.Output) {
		s.tally.output++
		return p, false
	}
	if free {
		p.Output = 0
	}
	if s.chat && len(e.images) > 0 {
		s.illustrate(&p, e.images)
	}
	return p, true
}

// read takes a row apart; false: there is no request in it.
func (s *Source) read(row rows.Row) (entry, bool) {
	if s.data.Dataset.Whole && s.chat && s.kind.whole != nil {
		return s.kind.whole(row)
	}
	return s.kind.read(row, s.chat)
}

func within(n int, b plan.Bounds) bool { return n >= b.Min && (b.Max == 0 || n <= b.Max) }

func (s *Source) illustrate(p *prompt.Prompt, images []prompt.Part) {
	images = images[:min(len(images), max(s.data.Dataset.Images, 1))]
	rng := rand.New(rand.NewPCG(s.seed, uint64(len(s.kept))))
	p.Parts = weave(p.Text, images, s.data.Dataset.At, rng)
	for i := range images {
		p.Hash = prompt.Mix(p.Hash ^ prompt.HashText(string(images[i].Data)))
	}
}

// Sessions implements prompt.Finite: how many rows are used, once all of them are read.
func (s *Source) Sessions() int {
	if !s.ended {
		return 0
	}
	return len(s.kept)
}

// SetStage implements prompt.StageStarter.
func (s *Source) SetStage(int) bool { return !s.data.Dataset.GoOn }

// row is the prompt of a place, of those used. The rows up to it are read, if not yet.
func (s *Source) row(ctx context.Context, i uint64) (prompt.Prompt, error) {
	if all := s.all.Load(); all != nil {
		return (*all)[(i+uint64(s.start))%uint64(len(*all))], nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended && i+uint64(s.start) >= uint64(len(s.kept)) {
		if _, err := s.readOne(ctx, false); err != nil {
			return prompt.Prompt{}, err
		}
	}
	if len(s.kept) == 0 {
		return prompt.Prompt{}, s.nothing()
	}
	if s.ended {
		s.all.Store(&s.kept)
	}
	return s.kept[(i+uint64(s.start))%uint64(len(s.kept))], nil
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(ctx context.Context, place prompt.Position) (prompt.Prompt, error) {
	p, err := s.row(ctx, place.I)
	if err != nil {
		return p, err
	}
	if s.data.Output != (plan.Length{}) {
		p.Output = s.output.At(place.Number())
	}
	s.salt.Put(&p, place, s.tok)
	return p, nil
}
