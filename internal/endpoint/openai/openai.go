// Package openai speaks the OpenAI HTTP protocol: chat completions, completions
// and embeddings, streamed and not.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"inferometer/internal/endpoint"
	"inferometer/internal/exchange"
	"inferometer/internal/exchange/h2"
	"inferometer/internal/netclock"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/record"
)

// Kind is one of the protocol's endpoints.
type Kind string

// The endpoints of the protocol.
const (
	Chat        Kind = "chat"
	Completions Kind = "completions"
	Embeddings  Kind = "embeddings"
)

// path is where servers have the endpoint.
func (k Kind) path() string {
	switch k {
	case Completions:
		return "/v1/completions"
	case Embeddings:
		return "/v1/embeddings"
	default:
		return "/v1/chat/completions"
	}
}

// Endpoint is an OpenAI-compatible server, or several replicas of one.
type Endpoint struct {
	replicas []replica
	body     bodyEncoder
	streamed bool
	ownID    bool // requests get an X-Request-Id of ours
	runID    string
}

// client carries out requests to one server.
type client interface {
	Do(ctx context.Context, req *exchange.Request, rec *record.Record)
	Warm(ctx context.Context, n int) error
	Close() error
}

// replica is one of the target's URLs.
type replica struct {
	client client
	head   *exchange.Head
	stamps bool
}

var (
	_ endpoint.Warmer  = (*Endpoint)(nil)
	_ endpoint.Stamper = (*Endpoint)(nil)
)

// New makes an Endpoint of a target whose model is known.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	kind := Kind(t.Endpoint)
	body, err := newBodyEncoder(kind, t, o.Data)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{body: body, streamed: t.Streaming && kind != Embeddings, runID: o.RunID, ownID: true}
	for name := range t.Headers {
		if strings.EqualFold(name, requestID) {
			e.ownID = false
		}
	}
	proxies := httpproxy.FromEnvironment().ProxyFunc()
	for _, raw := range t.URLs {
		r, err := newReplica(raw, t, kind, o, e.streamed, proxies)
		if err != nil {
			return nil, err
		}
		e.replicas = append(e.replicas, r)
	}
	if len(e.replicas) == 0 {
		return nil, errors.New("the target has no URL")
	}
	return e, nil
}

const requestID = "X-Request-Id"

func newReplica(raw string, t plan.Target, kind Kind, o endpoint.Options, streamed bool, proxies func(*url.URL) (*url.URL, error)) (replica, error) {
	u, err := RequestURL(raw, t.Path, kind)
	if err != nil {
		return replica{}, err
	}
	proxy, err := proxies(u)
	if err != nil {
		return replica{}, fmt.Errorf("the proxy variables for %s: %w", u.Redacted(), err)
	}
	if proxy != nil && proxy.Scheme != "http" {
		return replica{}, fmt.Errorf("the proxy variables for %s name a proxy of scheme %q: only http:// proxies can be used", u.Redacted(), proxy.Scheme)
	}
	opt := netclock.DialOptions{Proxy: proxy, Tunnel: t.HTTP2, Timeout: time.Duration(t.Timeouts.Connect)}
	if u.Scheme == "https" {
		opt.TLS = o.TLS.Clone()
		opt.TLS.ServerName = u.Hostname()
		opt.TLS.NextProtos = []string{"http/1.1"}
		if t.HTTP2 {
			opt.TLS.NextProtos = []string{"h2"}
		}
	}
	dialer := netclock.NewDialer(o.Clock, hostPort(u), opt)
	r := replica{
		head:   exchange.NewHead(u, fields(t, o.Key, u, streamed), proxy),
		stamps: dialer.KernelStamps(),
	}
	limits := netclock.Limits{
		FirstByte: time.Duration(t.Timeouts.FirstByte),
		Stall:     time.Duration(t.Timeouts.Stall),
		Request:   time.Duration(t.Timeouts.Request),
	}
	if t.HTTP2 {
		r.client = h2.NewClient(o.Clock, dialer, h2.Options{Limits: limits, Streams: plan.HTTP2Streams, Secure: opt.TLS != nil})
	} else {
		r.client = exchange.NewClient(o.Clock, dialer, limits)
	}
	return r, nil
}

// RequestURL is where requests of a kind go. A base URL that already ends in the
// endpoint's path, or in /v1, is not extended twice.
func RequestURL(base, path string, kind Kind) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("target URL %q: %w", base, err)
	}
	if u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("target URL %q needs a scheme and a host, as in http://localhost:8000", base)
	}
	have := strings.TrimRight(u.Path, "/")
	if path == "" {
		path = kind.path()
		if strings.HasSuffix(have, path) {
			path = ""
		} else if strings.HasSuffix(have, "/v1") {
			path = strings.TrimPrefix(path, "/v1")
		}
	} else if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u.Path = have + path
	return u, nil
}

// ModelsURL is where a server lists its models.
func ModelsURL(base string) (*url.URL, error) {
	u, err := RequestURL(base, "", Chat)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimSuffix(u.Path, Chat.path()) + "/v1/models"
	u.RawQuery = ""
	return u, nil
}

// hostPort is the address behind a URL.
func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// fields are the headers of every request. What the user gives wins.
func fields(t plan.Target, key string, u *url.URL, streamed bool) []exchange.Field {
	accept := "application/json"
	if streamed {
		accept = "text/event-stream"
	}
	own := []exchange.Field{
		{Name: "User-Agent", Value: "inferometer"},
		{Name: "Content-Type", Value: "application/json"},
		{Name: "Accept", Value: accept},
	}
	if key != "" {
		own = append(own, exchange.Field{Name: "Authorization", Value: "Bearer " + key})
	} else if auth := basicAuth(u); auth != "" {
		own = append(own, exchange.Field{Name: "Authorization", Value: auth})
	}
	names := make([]string, 0, len(t.Headers))
	for name := range t.Headers {
		names = append(names, name)
		own = slices.DeleteFunc(own, func(f exchange.Field) bool { return strings.EqualFold(f.Name, name) })
	}
	slices.Sort(names)
	for _, name := range names {
		own = append(own, exchange.Field{Name: name, Value: t.Headers[name]})
	}
	return own
}

func basicAuth(u *url.URL) string { return netclock.ProxyAuthorization(u) }

// KernelStamps reports whether reads carry the kernel's receive time.
func (e *Endpoint) KernelStamps() bool { return e.replicas[0].stamps }

// Warm opens n connections, dealt out over the replicas.
func (e *Endpoint) Warm(ctx context.Context, n int) error {
	for i, r := range e.replicas {
		share := n / len(e.replicas)
		if i < n%len(e.replicas) {
			share++
		}
		if err := r.client.Warm(ctx, share); err != nil {
			return fmt.Errorf("opening connections to %s: %w", r.head.Host(), err)
		}
	}
	return nil
}

// Close closes idle connections.
func (e *Endpoint) Close() error {
	var errs []error
	for _, r := range e.replicas {
		errs = append(errs, r.client.Close())
	}
	return errors.Join(errs...)
}

// Prepare encodes a request.
func (e *Endpoint) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	target := int(p.Seq % int64(len(e.replicas)))
	r := &e.replicas[target]
	body := e.body.encode(p)
	if !e.ownID {
		return &call{endpoint: e, target: target, request: r.head.Encode(body)}, nil
	}
	id := exchange.Field{Name: requestID, Value: e.runID + "-" + strconv.FormatInt(p.Seq, 10)}
	return &call{endpoint: e, target: target, request: r.head.Encode(body, id)}, nil
}

// call is one request ready to go.
type call struct {
	endpoint *Endpoint
	target   int
	request  *exchange.Request
}

// Do carries out the request.
func (c *call) Do(ctx context.Context, rec *record.Record) {
	rec.Target = c.target
	rec.Streamed = c.endpoint.streamed
	c.endpoint.replicas[c.target].client.Do(ctx, c.request, rec)
}
