// Package prompt is about what is asked: prompts and their lengths, made ahead
// of their sending.
package prompt

import (
	"context"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Message is one message of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Parts hold the content piece by piece where there is more to it than text;
	// Content is then all of its text. Nil: Content is all.
	Parts []Part `json:"-"`
	// ToolCalls are those of an assistant's message, ToolCallID is the one whose result
	// a tool's message holds; Reasoning is what an assistant thought before Content.
	ToolCalls  []ToolCall `json:"-"`
	ToolCallID string     `json:"-"`
	Reasoning  string     `json:"-"`
	// Raw is the whole message in the protocol's own shape, sent as it is; Content and what else is known of
	// it are then for counting alone. Nil: there is no such.
	Raw []byte `json:"-"`
}

// Prompt is one request's content, in no protocol's shape.
type Prompt struct {
	Seq      int64          // number in the run; the engine gives it
	Text     string         // the prompt; with Messages set, unused
	Messages []Message      // a whole chat, where the source has one
	Parts    []Part         // Text piece by piece where there is more to it; else nil
	IDs      []int32        // the same as token ids, which are sent in place of it where the API takes them; else nil
	Texts    []string       // several texts for one request, such as passages to rank; else nil
	Tokens   int            // length of the prompt in the run's own tokenizer; -1: not counted
	Output   int            // output tokens to ask for; 0: the server's choice
	Hash     uint64         // of Text, Messages or Inputs: equal content, equal hash
	Model    string         // in place of the run's own, such as an adapter; empty: the run's
	Body     []byte         // a whole request body in the protocol's own shape, sent as it is; else nil
	Fields   []Field        // added to its body, beside those of the run; else nil
	Tensors  []Field        // inputs of a Triton model beside its text, in place of those of the run; else nil
	Session  string         // the conversation that it is a turn of; empty: none
	Turn     int            // its place there, from 0
	Think    time.Duration  // how long of its Late's Await the user thought, or a tool worked
	Rest     Conversation   // how the conversation goes on after its response; nil means it does not
	Late     DeferredPrompt // what it says is known only when it is sent; else nil
	Play     *Play          // in place of all but Seq and Session: a whole session to play; else nil
	Tools    *Tools         // what the model may call; nil means nothing
	Call     string         // the call of a recorded session that it plays; empty: none
	// Headers go with the request, beside the run's; Labels with its record. Each is a name and a
	// value.
	Headers, Labels [][2]string
	// Inputs are tensors in place of text, for models that take no prompt; else nil.
	Inputs   *tensor.Inputs
	Sequence Sequence // what the request is part of
}

// Measure fills in what follows from a prompt's content: its tokens and its hash.
func (p *Prompt) Measure(tok Tokenizer) {
	if p.Messages != nil {
		p.Tokens = 0
		for i := range p.Messages {
			p.Tokens += tok.Count(p.Messages[i].Content)
		}
		p.Hash = HashMessages(p.Messages)
		return
	}
	p.Tokens, p.Hash = tok.Count(p.Text), HashText(p.Text)
	for i := range p.Parts {
		if part := &p.Parts[i]; part.Kind == Image {
			p.Hash = Mix(p.Hash ^ HashText(part.URL+string(part.Data)))
		}
	}
	for _, f := range p.Tensors {
		p.Hash = Mix(p.Hash ^ HashText(f.Name+string(f.Value)))
	}
}

// Sequence is a request's place in a row that a server keeps state over. Zero: none.
type Sequence struct {
	ID         uint64 // of the sequence; never 0
	Start, End bool   // this is its first, its last request
	// Last is the request that ends it before its time; nil: this is the one, or there is none.
	Last *Prompt
}

// Source makes prompts by their place. What it makes for a place follows from the plan, the
// seed and the place alone, whoever asks, how often and in which order, so that any number
// of goroutines, processes and machines can share the prompts of a run without a word.
type Source interface {
	// Prompt is the prompt of a place; io.EOF: the source has ended before. It is called
	// concurrently.
	Prompt(ctx context.Context, at Position) (Prompt, error)
}

// LaneSource is a Source of which several places are requests of one session.
type LaneSource interface {
	// Lanes is how many sessions are held side by side: places go to them in turn, and a
	// request may go on from the response to the one before it in its lane. Whoever sends one of a
	// lane sends all of it. 0: no place depends on what became of another.
	Lanes() int
	// Session is the number of a place's session, about in the order in which a stage's begin.
	Session(at Position) uint64
}

// LanesOf is how many lanes a source has; 0: none.
func LanesOf(s Source) int {
	if s, ok := s.(LaneSource); ok {
		return s.Lanes()
	}
	return 0
}

// Factory makes a source of prompts.
type Factory func(d plan.Data, tok Tokenizer, seed uint64) (Source, error)

// Tokenizer counts and cuts text. It is safe for concurrent use.
type Tokenizer interface {
	// Name is how reports call it, such as "words" or "builtin:gpt2".
	Name() string
	// Count is the number of tokens in text.
	Count(text string) int
}

// ModelBinder is a Source whose prompts depend on the model's tensors.
type ModelBinder interface {
	// Fit is called before the first At, where the endpoint knows its model. It
	// holds everything that the source has against the model and tells of all that
	// does not fit.
	Fit(m *tensor.Signature) error
}

// Files is the limit of the files that a plan's data names.
func Files(d plan.Data) limitio.Limit {
	return limitio.Limit{Name: plan.LimitFile, Bytes: int64(d.Limits.File)}
}

// Downloads is the limit of files that it names on the hub.
func Downloads(d plan.Data) limitio.Limit {
	return limitio.Limit{Name: plan.LimitDownload, Bytes: int64(d.Limits.Download)}
}

// The number of a request tells it from all others of a run, whichever process sends it: requests
// from the source are counted, and one that goes on from another has the number of the first and
// its place behind it in the upper bits.
const (
	turnShift = 40
	endBit    = 1 << 62
)

// TurnSeq is the number of the request at a place, from 1, behind its conversation's first.
func TurnSeq(first int64, turn int) int64 { return first + int64(turn)<<turnShift }

// Ending is the number of a request that ends what another has begun.
func Ending(first int64) int64 { return first | endBit }

// Spread shares requests out among n servers, in turn.
func (p *Prompt) Spread(n int) int {
	seq := p.Seq &^ endBit
	return int((seq&(1<<turnShift-1) + seq>>turnShift) % int64(n))
}

// HashText is the hash of a prompt's text: XXH64, the same in every process and on
// every machine.
func HashText(text string) uint64 { return xxhash.Sum64String(text) }

// HashMessages is the hash of a chat: of every role, content and tool call in order.
func HashMessages(messages []Message) uint64 {
	h := uint64(1)
	var d xxhash.Digest
	add := func(text string) {
		d.ResetWithSeed(h)
		_, _ = d.WriteString(text) // a hash takes all
		h = d.Sum64()
	}
	for i := range messages {
		m := &messages[i]
		add(m.Role)
		add(m.Content)
		for _, c := range m.ToolCalls {
			add(c.Name)
			add(c.Arguments)
		}
		if m.Raw != nil {
			add(string(m.Raw))
		}
	}
	return h
}
