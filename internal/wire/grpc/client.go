// Package grpc carries out gRPC calls, unary ones and many requests on long-lived
// streams, and stamps each message with the network read that completed it.
//
// It speaks the protocol itself, on the HTTP/2 client of package h2: messages are
// cut out of the bytes of a read where its stamp is at hand, and a request's own
// goroutine sleeps until the last of its messages has come.
package grpc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/h2"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Options are what a Client takes besides its dialer.
type Options struct {
	// Limits bound every measured request, also where many share a stream.
	Limits timedconn.Timeouts
	// Authority is the server's name as requests give it, a host:port.
	Authority string
	// Metadata goes with every call. Values of names that end in -bin are raw
	// bytes.
	Metadata []http1.Field
	// Compression is that of requests: "", "gzip" or "deflate". Responses may come compressed
	// either way.
	Compression string
	// MaxMessage bounds messages both ways, uncompressed, in bytes; 0: what the protocol allows.
	MaxMessage int
	// Largest bounds what comes in a message, uncompressed, Control the responses of unmeasured
	// calls.
	Largest, Control limitio.Limit
	// KeepAlive is how long a connection may be silent before the server is pinged;
	// 0: it is not. KeepAliveTimeout is how long it has to answer; 0: 20 seconds.
	KeepAlive, KeepAliveTimeout time.Duration
	// Secure: the dialer speaks TLS.
	Secure bool
	// Streams is how many streams the slots share: slot s uses s mod Streams. 0: each has its own.
	Streams int
	// Sharing is how many streams, or unary calls at once, share a connection; 0:
	// none does.
	Sharing int
}

// Client speaks gRPC with one server.
type Client struct {
	clock   *timedconn.Clock
	options Options
	work    *h2.Client // what is measured
	calls   *h2.Client // all else
	heads   atomic.Pointer[[]*head]
	lanes   atomic.Pointer[[]*sharedStream]
	answers sync.Pool
	pending sync.Pool
	packers sync.Pool
	soon    time.Duration // http1.Soon, but for tests
	linger  time.Duration // how long streams that are being closed may take

	mu sync.Mutex // for changes of heads and lanes
}

// head is what all calls of a method begin with.
type head struct {
	method string
	fields []http1.Field
}

// largest is the largest message of the protocol that other implementations take.
const largest = 1<<31 - 1

// controlStreams is how many calls that are not measured share a connection.
const controlStreams = 100

// NewClient makes a Client that opens connections with d.
func NewClient(clock *timedconn.Clock, d *timedconn.Dialer, o Options) *Client {
	if o.MaxMessage <= 0 || o.MaxMessage > largest {
		o.MaxMessage = largest
	}
	alive := h2.KeepAlive{Every: o.KeepAlive, Timeout: o.KeepAliveTimeout}
	c := &Client{
		clock: clock, options: o, soon: http1.Soon, linger: closeTime,
		work:  h2.NewClient(clock, d, h2.Options{Limits: o.Limits, Streams: max(o.Sharing, 1), Secure: o.Secure, KeepAlive: alive}),
		calls: h2.NewClient(clock, d, h2.Options{Streams: controlStreams, Secure: o.Secure, KeepAlive: alive}),
	}
	c.answers.New = func() any { return new(h2.Response) }
	c.pending.New = func() any { return &request{done: make(chan struct{}, 1)} }
	c.heads.Store(new([]*head))
	c.lanes.Store(new([]*sharedStream))
	return c
}

// Warm opens connections for n slots ahead of the first requests.
func (c *Client) Warm(ctx context.Context, n int) error {
	if c.options.Streams > 0 {
		n = min(n, c.options.Streams)
	}
	return notHere(c.work.Warm(ctx, n))
}

// closeTime bounds the wait for streams that are being closed.
const closeTime = 200 * time.Millisecond

// Close closes all streams and connections; what is in flight on them fails.
func (c *Client) Close() error {
	c.mu.Lock()
	lanes := *c.lanes.Load()
	c.mu.Unlock()
	patience := time.NewTimer(c.linger)
	defer patience.Stop()
	var open []*flow
	for _, l := range lanes {
		if f := l.flow.Load(); f != nil && f.leave() {
			open = append(open, f)
		}
	}
	for _, f := range open {
		select {
		case <-f.ended:
			continue
		case <-patience.C:
		}
		break
	}
	return errors.Join(c.work.Close(), c.calls.Close())
}

// head gives the fields that calls of a method begin with.
func (c *Client) head(method string) *head {
	for _, h := range *c.heads.Load() {
		if h.method == method {
			return h
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.heads.Load()
	for _, h := range old {
		if h.method == method {
			return h
		}
	}
	h := &head{method: method, fields: c.options.fields(method)}
	all := append(old[:len(old):len(old)], h)
	c.heads.Store(&all)
	return h
}

// fields are those of a call, in the order that the protocol wants.
func (o Options) fields(method string) []http1.Field {
	scheme, authority, agent := "http", o.Authority, "inferometer"
	if o.Secure {
		scheme = "https"
	}
	var own []http1.Field
	for _, f := range o.Metadata {
		switch name := strings.ToLower(f.Name); {
		case name == "host" || name == ":authority":
			authority = f.Value
		case name == "user-agent":
			agent = f.Value
		case strings.HasPrefix(name, ":") || name == "te" || name == "content-type" || name == "content-length" || name == "connection":
			// These are the protocol's own.
		case strings.HasSuffix(name, "-bin"):
			own = append(own, http1.Field{Name: name, Value: base64.RawStdEncoding.EncodeToString([]byte(f.Value))})
		default:
			own = append(own, http1.Field{Name: name, Value: f.Value})
		}
	}
	all := []http1.Field{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: scheme}, {Name: ":path", Value: method}, {Name: ":authority", Value: authority},
		{Name: "te", Value: "trailers"}, {Name: "content-type", Value: contentType}, {Name: "user-agent", Value: agent},
		{Name: "grpc-accept-encoding", Value: "identity,deflate,gzip"},
	}
	if o.Compression != "" {
		all = append(all, http1.Field{Name: "grpc-encoding", Value: o.Compression})
	}
	return append(all, own...)
}

// Call carries out an unmeasured call while ctx allows. A gRPC status other than OK is a
// *StatusError.
func (c *Client) Call(ctx context.Context, method string, message []byte) ([]byte, error) {
	m, err := c.Prepare(message)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", method, err)
	}
	var rec record.Exchange
	if most := c.options.Control; most.Bytes > 0 {
		rec.Keeper, rec.Room = refuser(most), int(most.Bytes)+prefix
	}
	err = c.unary(ctx, c.calls, method, m, &rec, c.options.Control)
	var status *StatusError
	switch {
	case err == nil:
		return rec.Body[prefix:], nil
	case errors.As(err, &status):
		return nil, status
	case ctx.Err() != nil:
		return nil, fmt.Errorf("calling %s: %w", method, context.Cause(ctx))
	}
	return nil, fmt.Errorf("calling %s: %w", method, notHere(err))
}

// refuser ends a call whose response is too large.
type refuser limitio.Limit

// Keep implements record.SizeLimiter.
func (r refuser) Keep(rec *record.Exchange) error {
	if int64(len(rec.Body)) <= r.Bytes+prefix {
		return nil
	}
	return &limitio.Error{What: "the response", Limit: limitio.Limit(r)}
}

// notHere adds what a connection that ends without a word of HTTP/2 usually means.
func notHere(err error) error {
	if err != nil && strings.Contains(err.Error(), "without a response") {
		return fmt.Errorf("%w; is this the port of a gRPC server?", err)
	}
	return err
}
