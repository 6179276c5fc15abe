// Package record holds the fact sheet of one request: when it was due, sent and
// answered, what came back at which read, how it failed if it did, and the file
// format that keeps those facts on disk.
//
// All times are offsets from the start of the run on one monotonic clock. The
// wall-clock time of that start is kept once, in the file's header line.
package record

import (
	"math"
	"time"
)

// Never marks a time that was not reached.
const Never time.Duration = -1

// NotYet is a time that is still to come.
const NotYet time.Duration = math.MaxInt64

// Grace is how long a stream that has said that it is done may take to end.
const Grace = 2 * time.Second

// Phase says which part of a stage a request belongs to.
type Phase uint8

// The phases of a stage. A request belongs to the phase in which it was handed
// its slot.
const (
	Measured Phase = iota
	Warmup
	Closing // it ends a sequence that the server would else keep open, and is counted nowhere
)

// Record is the fact sheet of one request. All of it is kept, but for the bytes of
// requests and answers where the run does not want them.
//
// The engine fills in identity and the times up to Ready; an endpoint's Do
// fills in the times from Sent to End, the connection, the marks and the body;
// its Decoder fills in the rest from those.
type Record struct {
	Seq    int64 // position in the order of dispatch, over the whole run
	Stage  int   // index into the plan's stages
	Phase  Phase
	Slot   int    // the slot that carried it out: one request at a time
	Worker int    // the worker that sent it, from 1; 0: the run's own process
	Target int    // index into the plan's target URLs
	Prompt uint64 // hash of the prompt's content: equal prompts are recognised by it

	Session string      // the conversation that it was a turn of; empty: none
	Turn    int         // its place there, from 0
	Ends    bool        // it ended a sequence that the server kept state over
	Model   string      // what it asked for in place of the run's model; empty: that
	Call    string      // the call of a recorded session that it played; empty: none
	Labels  [][2]string // what the data says of it for reports, names and values; nil means nothing

	Due     time.Duration // when it was meant to go
	Think   time.Duration // by how much that is later because its user thought first, or a tool worked
	Ready   time.Duration // when it had its slot and its body
	Held    time.Duration // how much of Ready − Due it waited for a slot under the in-flight cap, or for a response to go on from
	Sent    time.Duration // right before the first byte was written
	Written time.Duration // when the last byte had been handed to the kernel
	End     time.Duration // when the last byte arrived, or when it failed

	// Resent is how often it went again on another connection, because the server had
	// closed the first before it can have taken the request; Sent is that of the first.
	Resent int

	Retries int           // attempts after the first, which no server answered; Sent is that of the first
	LastTry time.Duration // when the last attempt began, of those that went again for either reason; 0: there was one

	Conn Conn
	// Marks are the network reads, in order. Where the plan wants it, a read that brought
	// several HTTP chunks has one for each, all with its stamp.
	Marks []Read

	Size        int    // bytes of the request's body; 0: not known
	RequestBody []byte // the body itself, where the run keeps what was sent

	Status       int    // HTTP status; 0 when none came
	ContentType  string // media type of the response, as sent
	RetryAfter   string // the Retry-After header, when there was one
	Streamed     bool   // the request asked for a stream
	Unterminated bool   // the stream said that it is done and did not end: it was taken as complete Grace later
	Sparse       bool   // another program measured it and kept only the first and the last of its token events
	Body         []byte // the response's bytes, free of transfer encoding
	// Folded is how many bytes stood before those of Body and have been decoded and given
	// up, and Raw what is kept of them. Marks count from the response's first byte.
	Folded int
	Raw    []byte
	Cut    int // bytes of the response that the run would keep and that are beyond its limit

	Text            []byte  // decoded text of every token event, channels in order of arrival
	Events          []Event // decoded events, in order
	Tail            *Tail   // the events behind those, where there were too many, or nil
	In              Tokens
	Out             Tokens
	RequestedTokens int // output tokens asked for; 0: the server's choice
	Cached          int // prompt tokens that the server says it took from its cache; -1: not said
	Finish          string

	Failure *Failure // nil means it succeeded
}

// WithoutText takes the text out of a record that has been decoded.
func (r *Record) WithoutText() {
	r.Text = r.Text[:0]
	for i := range r.Events {
		r.Events[i].Text = 0
	}
	if r.Tail != nil {
		r.Tail.Text = 0
	}
}

// Conn describes the connection a request went over.
type Conn struct {
	Reused bool
	// How long each step of opening took; 0 on a reused connection or where
	// the step did not happen.
	Resolve, Connect, TLS time.Duration
}

// Read is one network read that belonged to the response.
type Read struct {
	Off    int           // length of Body after this read
	Kernel time.Duration // when the kernel received the last segment of it; Never where unknown
	User   time.Duration // when the read returned to this program
	// Blur is how long before At the first byte of it can have come: nothing had, when the
	// socket was last seen empty. 0: all of it came at once.
	Blur time.Duration
	// Loose: the last byte, too, may have come at any time of that time. Else it came at At.
	Loose bool
}

// Time is the best stamp there is: the kernel's, else this program's.
func (m Read) Time() time.Duration {
	if m.Kernel != Never {
		return m.Kernel
	}
	return m.User
}

// SameRead reports whether two marks are of one network read.
func (m Read) SameRead(o Read) bool { return m.User == o.User && m.Kernel == o.Kernel }

// Handover is the time between two chunks of one read, as a client needs it that takes one
// after the other.
const Handover = time.Microsecond

// Handed appends to dst when the bytes of each mark were there for whoever takes one mark
// after the other: those of one read have the same stamp, and come in order.
func (r *Record) Handed(dst []time.Duration) []time.Duration {
	for i, m := range r.Marks {
		at := m.Time()
		if i > 0 && m.SameRead(r.Marks[i-1]) {
			at = max(at, dst[len(dst)-1]+Handover)
		}
		dst = append(dst, at)
	}
	return dst
}

// BlurOf is how long before At an event of the read can have come that ends where the read
// does, or before.
func (m Read) BlurOf(ends bool) time.Duration {
	if ends && !m.Loose {
		return 0
	}
	return m.Blur
}

// EventKind says what an event carried.
type EventKind uint8

// The labels of events. Content to Refusal carry tokens; the others are kept
// for the record and are not tokens.
const (
	Content   EventKind = iota // visible text
	Reasoning                  // reasoning text
	ToolCall                   // a piece of a tool call
	Refusal                    // refusal text
	Role                       // announces the role, no text
	Empty                      // nothing at all
	Usage                      // token counts only
	Finish                     // finish reason without text
	Done                       // the closing [DONE]
	Comment                    // an SSE comment or a keep-alive
	Error                      // an error object inside the stream
	Whole                      // the whole response of a request that was not streamed
	Unknown                    // bytes that are no event of the protocol
	Echo                       // the prompt, sent back
)

// IsToken reports whether events of this label carry output tokens.
func (l EventKind) IsToken() bool { return l <= Refusal || l == Whole }

// Event is one decoded event of a response.
type Event struct {
	Mark   int // index into Marks, always a valid one: the read that completed the event
	Label  EventKind
	Text   int // bytes of Record.Text that this event contributed
	Tokens int // output tokens in it; -1: not known
	// Merged: a later event came out of the same read, so the stamp of this one
	// is the latest time at which it can have arrived.
	Merged bool
}

// Source says who counted tokens.
type Source uint8

// The sources of token counts.
const (
	Uncounted     Source = iota
	FromServer           // the server's usage object
	FromTokenizer        // the tokenizer of the run
	FromEvents           // one token for each event that carries text
)

// Sampled: of so many responses whose count nothing else speaks for, a tokenizer that is not
// the model's looks over one, so that it costs a run next to nothing.
const Sampled = 16

// Tokens is a token count with its source.
type Tokens struct {
	N      int
	Source Source
	// Local is what the run's own tokenizer counts where the server's count is
	// in N; -1: not counted.
	Local int
	// Claimed is the server's count where it cannot be and was not used; 0: it was, or
	// there is none.
	Claimed int
	// Expected is about what N should be by the run's tokenizer, with what the server says is
	// hidden, where that was looked at besides Local; 0: it was not.
	Expected int
}

// Scheduled is when the load asked for it, before any time that its user thought.
func (r *Record) Scheduled() time.Duration { return r.Due - r.Think }
