// Package endpoint says what the engine needs of an inference protocol: a way to
// prepare a request, to carry it out with every read stamped, and to decode the
// answer afterwards.
package endpoint

import (
	"context"
	"crypto/tls"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/tensor"
	"inferometer/internal/record"
	"inferometer/internal/wire/clock"
)

// Endpoint is a server spoken to in one protocol.
type Endpoint interface {
	// Prepare encodes a request. It is called ahead of time, off the clock.
	Prepare(p *prompt.Prompt) (Call, error)
	Close() error
}

// Options are what making an Endpoint takes besides the plan's target.
type Options struct {
	Clock *clock.Clock
	TLS   *tls.Config // for https targets
	Key   string      // API key; empty: none
	Data  plan.Data
	RunID string // first part of each request's own id
	// Limits are those of the plan.
	Limits plan.Limits
	// KeepQuestions: records hold the bodies of requests too.
	KeepQuestions bool
	// Tokenizer is the run's own, for models that take token ids; nil: there is none.
	Tokenizer prompt.Tokenizer
}

// Call is a request ready to go.
type Call interface {
	// Do sends the request and reads the answer. It fills in the record from Sent to
	// End with one mark per network read; a failure goes into its Failure.
	// Between two reads it does nothing but find the ends of events.
	Do(ctx context.Context, x *record.Exchange)
}

// Decoder reads the answer of a finished record: events, text, token counts,
// finish reason, and failures that only the content shows. It does no I/O and is
// safe for use from many goroutines.
type Decoder interface {
	Decode(x *record.Exchange)
}

// Streamer is a Decoder that can read a stream while it comes. It keeps what it has found
// in x.Reading until Decode, which takes what is left.
type Streamer interface {
	// Advance reads the events of x's body that are complete, and gives how many bytes
	// they take: those are not asked for again. It keeps about most bytes of the stream
	// and folds what follows into x.Tail. Where x.Reading stays nil, the answer is not
	// one that can be read in pieces.
	Advance(x *record.Exchange, most int) int
	// Longest gives the length of the longest event in rec's body from an offset on, one
	// that is not complete included, and where the last complete one ends.
	Longest(rec *record.Record, from int) (length, end int)
}

// Replier is a Decoder that can tell what an answer said as a chat has it, tool calls
// and all. Only sessions that are played again ask for it.
type Replier interface {
	// Reply reads the answer of a decoded record.
	Reply(rec *record.Record) prompt.Answer
}

// Able gives what a decoder can do besides decoding: T is one of the interfaces above. A
// decoder that stands around another has the method Unwrap, and hides nothing of it.
func Able[T any](d Decoder) (T, bool) {
	for d != nil {
		if able, ok := d.(T); ok {
			return able, true
		}
		around, ok := d.(interface{ Unwrap() Decoder })
		if !ok {
			break
		}
		d = around.Unwrap()
	}
	var none T
	return none, false
}

// Warmer is an Endpoint that can open connections ahead of the first wave.
type Warmer interface {
	Warm(ctx context.Context, n int) error
}

// Tensored is an Endpoint that knows the tensors of its model, which a source of
// tensors is held against before the first request.
type Tensored interface {
	Tensors() *tensor.Model
}

// Stamper is an Endpoint that can say whether its reads carry the kernel's stamps.
type Stamper interface {
	KernelStamps() bool
}
