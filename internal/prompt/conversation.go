package prompt

import (
	"context"
	"encoding/json"
	"time"
)

// Conversation gives the turns of a chat that follow its first one. It is used from
// one goroutine at a time, after each response once.
type Conversation interface {
	// Next is the turn after a response, and how long the user thinks before it; io.EOF: none.
	Next(answer Response) (turn Prompt, think time.Duration, err error)
}

// DeferredPrompt is a request of which it is known only when it is sent what it says: a turn of a
// conversation that several requests share, each of which goes on from the response to the one
// before it in its lane, or the first request of a sequence that has an id of a few. The methods
// are called in this order, from one goroutine.
type DeferredPrompt interface {
	// Await waits until the response that the turn goes on from is there, or the id. It ends
	// with the context's error: the turn then never goes, and no other waits for it.
	Await(ctx context.Context) error
	// Prompt is what is sent, with what follows it. Seq is filled in by the engine.
	Prompt() (Prompt, error)
	// End takes the response, of a request that nothing follows, and lets the next turn begin. It
	// is called once after each Await that gave no error, when what follows the request is over.
	End(answer Response)
}

// Response is what came back of a turn.
type Response struct {
	Text   string // the visible part
	Failed bool   // there is none, or only a part
	// What only a recorded session asks for:
	Empty     bool   // it has no content of any kind, not even an empty text
	Reasoning string // what the model thought before Text
	ToolCalls []ToolCall
}

// Finite is a Source that begins anew after so many prompts, each the first turn of a
// session.
type Finite interface {
	// Sessions is how many there are; it is known once the source is open.
	Sessions() int
}

// Scheduler is a Source whose prompts have due times.
type Scheduler interface {
	// Schedule begins the times of the prompts in the order of their places; nil: they have none.
	Schedule() Moments
}

// Replayer is a Finite Source of sessions that go on long after they have begun.
type Replayer interface {
	// PlaysWhole reports whether a stage in which they begin at times of their own lasts until all of them have ended.
	PlaysWhole() bool
}

// Moments gives due times one after the other, counted from the start of a stage and never decreasing; false: there
// are no more. It is used from one goroutine at a time.
type Moments func() (due time.Duration, ok bool)

// NewMoments gives the times of a list; nil: there are none.
func NewMoments(list []time.Duration) Moments {
	if list == nil {
		return nil
	}
	return func() (time.Duration, bool) {
		if len(list) == 0 {
			return 0, false
		}
		due := list[0]
		list = list[1:]
		return due, true
	}
}

// List is all that are left; nil: there are none.
func (m Moments) List() []time.Duration {
	if m == nil {
		return nil
	}
	list := []time.Duration{}
	for due, ok := m(); ok; due, ok = m() {
		list = append(list, due)
	}
	return list
}

// Scripted is a turn as the data has it, without what is said before it.
type Scripted struct {
	Prompt Prompt
	Think  time.Duration // after its response, before the next turn goes
	Pauses bool          // the data says how long that is, be it 0
	Line   int           // its place in the data, from 0
}

// Field is a member of a request's body.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Opener is a Source that has something to read, or to learn of its use, before its
// first prompt.
type Opener interface {
	// Open is called once, before everything else. A file's faults are plan.Faults.
	Open(ctx context.Context, u Use) error
}

// Use is what prompts are made for.
type Use struct {
	// Chat says that they are sent as chats: sources of whole conversations give them as such.
	Chat bool
	// Fields says that a request may have fields beside those of its prompt, such as tools.
	Fields bool
	// Wrap puts the model's chat template around one message of a user; nil means there
	// is no template.
	Wrap func(text string) (string, error)
	// Specials is how many special tokens the server puts around a text that is no chat.
	Specials int
	// Server tokenizes as the server does; nil means it is not asked.
	Server TokenServer
	// Tell tells the user of what takes long, before it is done; optional.
	Tell func(text string)
}

// TokenServer tokenizes as a server does.
type TokenServer interface {
	Tokens(ctx context.Context, text string) ([]int32, error)
	Text(ctx context.Context, ids []int32) (string, error)
}

// Specials is how many special tokens a tokenizer puts around a text that is no chat.
func Specials(tok Tokenizer) int {
	e, ok := tok.(interface {
		Encode(text string, special bool) []int32
	})
	if !ok {
		return 0
	}
	return len(e.Encode("a", true)) - len(e.Encode("a", false))
}
