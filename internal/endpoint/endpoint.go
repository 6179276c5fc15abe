// Package endpoint says what the engine needs of an inference protocol: to prepare a request, to
// carry it out with every read stamped, and to decode the response afterwards.
package endpoint

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Protocol is one way to speak to servers: all that it can do, with nil for what it cannot. To
// change a part of it, copy it and replace a field; likewise Endpoint and Decoder.
type Protocol struct {
	Name string // in a plan
	// Open makes what asks the servers of a target.
	Open func(t plan.Target, o Options) (Endpoint, error)
	// Decoder makes what reads their responses. own: the tokenizer is that of the model.
	Decoder func(t plan.Target, tok prompt.Tokenizer, own bool) Decoder

	// Settle looks at a target before the run and fills in what is missing; nil: servers list their
	// models.
	Settle func(ctx context.Context, t *plan.Target, o Options, log message.Log) error
	// Models is where a server lists its models, given one of the target's URLs.
	Models func(base string) (*url.URL, error)
	// Auth are the headers of that question; nil means the key goes as a bearer token.
	Auth func(key string) http.Header
	// Modelless: requests need not name a model.
	Modelless bool
	// Describes: Open asks the server for its model.
	Describes bool
	// Preflights: servers can be asked with a made-up text ahead of the run. One whose model
	// was asked for need not be, and what others take is unknown.
	Preflights bool

	// Probe makes what asks the i-th server of a plan about itself.
	Probe func(p *plan.Plan, i int, o Options) (probe.Prober, error)
	// Recognize says what a server of this protocol is, given its base URL; "": it is none.
	Recognize func(ctx context.Context, client *http.Client, base string) string
}

// Endpoint is a server spoken to in one protocol, or several replicas of one.
type Endpoint struct {
	// Prepare encodes a request. It is called ahead of time, off the clock.
	Prepare func(p *prompt.Prompt) (Call, error)
	Close   func() error
	// Warm opens n connections ahead of the first wave.
	Warm func(ctx context.Context, n int) error
	// KernelStamps: reads carry the kernel's stamps.
	KernelStamps bool
	// URLs are where requests to each server go, as they may be shown.
	URLs []string
	// Tensors are the model's, which a source of tensors is held against before the first request.
	Tensors *tensor.Signature
	// About is what the server says of its model and of itself.
	About *ServerInfo
}

// ServerInfo is what a server says of its model and of itself.
type ServerInfo struct {
	Decoupled bool // a request may have any number of responses
	Sequences bool // the model keeps state over sequences of requests
	// Words asks what the server says of itself and the model, Statistics what it has counted, as
	// it comes.
	Words      func(ctx context.Context) ([]string, error)
	Statistics func(ctx context.Context) (string, error)
}

// Options are what making an Endpoint takes besides the plan's target.
type Options struct {
	Clock *timedconn.Clock
	TLS   *tls.Config // for https targets
	Key   string      // API key; empty: none
	Live  LiveKey     // where the key may change while a run goes on; else nil
	// Getenv looks up the variables that name proxies, or nil.
	Getenv func(string) string
	Data   plan.Data
	RunID  string // first part of each request's own id
	// Limits are those of the plan.
	Limits plan.Limits
	// KeepRequests: records hold the bodies of requests too.
	KeepRequests bool
	// Tokenizer is the run's own, for models that take token ids, or nil.
	Tokenizer prompt.Tokenizer
}

// LiveKey is an API key that may change while a run goes on.
type LiveKey interface {
	// Value is the key as it is now.
	Value() string
	// Refused tells that a server refused a request with a key. It does not wait for anything.
	Refused(key string)
}

// TLSConfig is the TLS of connections to a URL, for HTTP/1.1 or HTTP/2.
func (o Options) TLSConfig(u *url.URL, http2 bool) *tls.Config {
	c := &tls.Config{}
	if o.TLS != nil {
		c = o.TLS.Clone()
	}
	c.ServerName, c.NextProtos = u.Hostname(), []string{"http/1.1"}
	if http2 {
		c.NextProtos = []string{"h2"}
	}
	return c
}

// Timeouts are those of requests to a target.
func (o Options) Timeouts(t plan.Target) timedconn.Timeouts {
	return timedconn.Timeouts{
		FirstByte: time.Duration(t.Timeouts.FirstByte), Stall: time.Duration(t.Timeouts.Stall),
		Request: time.Duration(t.Timeouts.Request), Header: int(o.Limits.Header),
	}
}

// Call is a request ready to go.
type Call interface {
	// Do sends the request and reads the response. It fills in the record from Sent to End, with a
	// mark for each read, and its Failure. Between reads it only finds the ends of events.
	Do(ctx context.Context, x *record.Exchange)
}

// Decoder reads the responses of finished requests. It does no I/O and is safe for concurrent use from
// many goroutines.
type Decoder struct {
	// Decode reads a response: events, text, counts, finish reason, and failures that the content
	// shows.
	Decode func(x *record.Exchange)
	// Advance reads a stream while it comes: the complete events of x's body, whose length it
	// returns. It keeps what it has found in x.Reading until Decode, which takes the rest; nil:
	// this response cannot be read in pieces. It keeps about most bytes of the stream and folds
	// what follows into x.Tail.
	Advance func(x *record.Exchange, most int) int
	// Longest goes with Advance: it gives the length of the longest event in rec's body from
	// an offset on, one that is not complete included, and where the last complete one ends.
	Longest func(rec *record.Record, from int) (length, end int)
	// Reply reads what the response of a decoded record said as a chat has it, tool calls and
	// all. Sessions that are played again ask for it, and reports about visible text alone.
	Reply func(rec *record.Record) prompt.Response
}
