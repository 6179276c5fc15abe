// Package replica is the HTTP side that protocols share: a set of servers that requests are dealt
// out to, their clients, and the headers of all requests and of sessions.
package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/proxy"
	"github.com/inferometer/inferometer/internal/wire/h2"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Protocol is what protocols differ in.
type Protocol struct {
	// Path is where servers have the endpoint, unless the plan says otherwise.
	Path string
	// Verb follows the path, whichever it is.
	Verb string
	// Encode makes the bodies of prompts that bring none.
	Encode func(p *prompt.Prompt) ([]byte, error)
	// Auth are the fields that carry the API key; nil means as a bearer token.
	Auth     func(key string) []http1.Field
	Fields   []http1.Field // of the protocol's own
	Type     string        // media type of request bodies; empty: JSON
	Streamed bool          // responses are streams of events
}

// Set is one server or several replicas of it.
type Set struct {
	replicas []replica
	encode   func(p *prompt.Prompt) ([]byte, error)
	streamed bool
	ownID    bool // requests get an X-Request-Id of ours
	runID    string
	session  plan.SessionHeaders
	// keepRequests: records hold the bodies of requests
	keepRequests bool

	mu     sync.Mutex
	tokens map[string]string // of sessions
}

type client interface {
	Do(ctx context.Context, req *http1.Request, rec *record.Exchange)
	Warm(ctx context.Context, n int) error
	Close() error
}

type replica struct {
	client client
	head   *head
	stamps bool
	url    string // that requests go to, as it may be shown
}

const requestID = "X-Request-Id"

// New makes a Set of a target.
func New(t plan.Target, o endpoint.Options, p Protocol) (*Set, error) {
	s := &Set{encode: p.Encode, streamed: p.Streamed, runID: o.RunID, ownID: !t.Plain(), session: t.Session, keepRequests: o.KeepRequests}
	if s.session.Token != "" {
		s.tokens = map[string]string{}
	}
	for name := range t.Headers {
		if strings.EqualFold(name, requestID) {
			s.ownID = false
		}
	}
	for _, raw := range t.URLs {
		r, err := newReplica(raw, t, o, p)
		if err != nil {
			return nil, err
		}
		s.replicas = append(s.replicas, r)
	}
	if len(s.replicas) == 0 {
		return nil, errors.New("the target has no URL")
	}
	return s, nil
}

func newReplica(raw string, t plan.Target, o endpoint.Options, p Protocol) (replica, error) {
	u, err := URL(raw, t.Path, p.Path)
	if err != nil {
		return replica{}, err
	}
	u.Path += p.Verb
	through, err := proxy.For(t, u, o.Getenv)
	if err != nil {
		return replica{}, err
	}
	opt := timedconn.DialOptions{Proxy: through, Tunnel: t.HTTP2, Timeout: time.Duration(t.Timeouts.Connect), Sources: t.SourceAddresses}
	if u.Scheme == "https" {
		opt.TLS = o.TLSConfig(u, t.HTTP2)
	}
	dialer := timedconn.NewDialer(o.Clock, hostPort(u), opt)
	r := replica{
		head:   newHead(o, func(key string) *http1.Head { return http1.NewHead(u, fields(t, key, u, p), through) }),
		stamps: dialer.KernelStamps(),
		url:    plan.SafeURL(u.String()),
	}
	if t.HTTP2 {
		r.client = h2.NewClient(o.Clock, dialer, h2.Options{Limits: o.Timeouts(t), Streams: plan.HTTP2Streams, Secure: opt.TLS != nil})
	} else {
		c := http1.NewClient(o.Clock, dialer, o.Timeouts(t))
		c.Chunks = t.Plain()
		r.client = c
	}
	return r, nil
}

// URL is where requests go: usual is the protocol's path, path what the plan has in place of it. A
// base URL that ends in the usual path or /v1 is not extended twice.
func URL(base, path, usual string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("target URL %s is not valid", plan.SafeURL(base)) // the error repeats it, with its secrets
	}
	if u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("target URL %s needs a scheme and a host, as in http://localhost:8000", plan.SafeURL(base))
	}
	have := strings.TrimRight(u.Path, "/")
	if path == "" {
		path = usual
		if strings.HasSuffix(have, path) {
			path = ""
		} else if strings.HasSuffix(have, "/v1") {
			path = strings.TrimPrefix(path, "/v1")
		}
	} else if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	path, query, _ := strings.Cut(path, "?")
	if query != "" {
		u.RawQuery = strings.Trim(u.RawQuery+"&"+query, "&")
	}
	u.Path = have + path
	return u, nil
}

// ModelsURL is where a server lists its models, whichever usual endpoint the base URL names.
func ModelsURL(base string) (*url.URL, error) {
	const messages, chat = "/v1/messages", "/v1/chat/completions"
	u, err := URL(strings.TrimSuffix(strings.TrimRight(base, "/"), messages), "", chat)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(u.Path, chat)
	for _, end := range []string{"/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/audio/transcriptions", "/v1/images/generations"} {
		path = strings.TrimSuffix(path, end)
	}
	u.Path = path + "/v1/models"
	u.RawQuery = ""
	return u, nil
}

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
func fields(t plan.Target, key string, u *url.URL, p Protocol) []http1.Field {
	accept := "application/json"
	if p.Streamed {
		accept = "text/event-stream"
	}
	if t.Plain() {
		accept = "*/*"
	}
	own := []http1.Field{
		{Name: "User-Agent", Value: "inferometer"},
		{Name: "Content-Type", Value: cmp.Or(p.Type, "application/json")},
		{Name: "Accept", Value: accept},
	}
	switch auth := timedconn.ProxyAuthorization(u); {
	case key != "" && p.Auth != nil:
		own = append(own, p.Auth(key)...)
	case key != "":
		own = append(own, http1.Field{Name: "Authorization", Value: "Bearer " + key})
	case auth != "":
		own = append(own, http1.Field{Name: "Authorization", Value: auth})
	}
	own = append(own, p.Fields...)
	for name := range t.Headers {
		own = slices.DeleteFunc(own, func(f http1.Field) bool { return strings.EqualFold(f.Name, name) })
	}
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		own = append(own, http1.Field{Name: name, Value: t.Headers[name]})
	}
	return own
}

// Opener makes endpoints with the constructor of a concrete one that embeds a Set.
func Opener[E interface{ Endpoint() endpoint.Endpoint }](
	construct func(t plan.Target, o endpoint.Options) (E, error),
) func(plan.Target, endpoint.Options) (endpoint.Endpoint, error) {
	return func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
		e, err := construct(t, o)
		if err != nil {
			return endpoint.Endpoint{}, err
		}
		return e.Endpoint(), nil
	}
}

// Endpoint is the set as an endpoint.
func (s *Set) Endpoint() endpoint.Endpoint {
	e := endpoint.Endpoint{Prepare: s.Prepare, Close: s.Close, Warm: s.Preconnect, KernelStamps: s.replicas[0].stamps}
	for _, r := range s.replicas {
		e.URLs = append(e.URLs, r.url)
	}
	return e
}

// Preconnect opens n connections, dealt out over the replicas.
func (s *Set) Preconnect(ctx context.Context, n int) error {
	for i, r := range s.replicas {
		share := n / len(s.replicas)
		if i < n%len(s.replicas) {
			share++
		}
		if err := r.client.Warm(ctx, share); err != nil {
			return fmt.Errorf("opening connections to %s: %w", r.head.current().Host(), err)
		}
	}
	return nil
}

// Close closes idle connections.
func (s *Set) Close() error {
	var errs []error
	for _, r := range s.replicas {
		errs = append(errs, r.client.Close())
	}
	return errors.Join(errs...)
}

// Prepare encodes a request.
func (s *Set) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	body := p.Body
	if body == nil {
		var err error
		if body, err = s.encode(p); err != nil {
			return nil, err
		}
	}
	return s.Call(p, body), nil
}

// Call makes a request of a prompt's body.
func (s *Set) Call(p *prompt.Prompt, body []byte) endpoint.Call {
	c := &call{set: s, target: p.Spread(len(s.replicas)), media: hasMedia(p)}
	var own []http1.Field
	if s.ownID {
		own = append(own, http1.Field{Name: requestID, Value: s.runID + "-" + strconv.FormatInt(p.Seq, 10)})
	}
	if p.Session != "" && s.session.ID != "" {
		own = append(own, http1.Field{Name: s.session.ID, Value: headerValue(p.Session)})
	}
	for _, h := range p.Headers {
		own = append(own, http1.Field{Name: h[0], Value: headerValue(h[1])})
	}
	if p.Session != "" && s.tokens != nil {
		c.session = p.Session
		c.token = s.tokenOf(p.Session)
	}
	c.request = s.replicas[c.target].head.current().Encode(body, c.withToken(own)...)
	return c
}

// headerValue keeps what a header may hold.
func headerValue(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// tokenOf is what the server gave a session to know it by; empty: nothing yet.
func (s *Set) tokenOf(session string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[session]
}

type call struct {
	set     *Set
	target  int
	request *http1.Request
	session string // whose token is sent and kept; empty: none
	token   string // that the request holds
	media   bool   // the prompt has or may have images, sound or video
}

// hasMedia reports whether a prompt has more than text, or a body of the user's, which may.
func hasMedia(p *prompt.Prompt) bool {
	return p.Parts != nil || p.Body != nil || slices.ContainsFunc(p.Messages, func(m prompt.Message) bool { return m.Parts != nil })
}

// withToken adds the session's token to the fields of a request, and asks for the
// next one.
func (c *call) withToken(own []http1.Field) []http1.Field {
	if c.token == "" {
		return own
	}
	return append(own, http1.Field{Name: c.set.session.Token, Value: c.token})
}

// Do carries out the request.
func (c *call) Do(ctx context.Context, rec *record.Exchange) {
	rec.Target = c.target
	rec.Flight.To(c.target)
	rec.Streamed = c.set.streamed
	r := &c.set.replicas[c.target]
	if c.session != "" {
		c.refresh(r)
		c.request.Want = c.set.session.Token
	}
	key := r.head.key()
	if now := r.head.current(); now != c.request.Head { // the key has changed since the request was prepared
		want := c.request.Want
		c.request = now.Encode(c.request.Body(), c.request.Fields()...)
		c.request.Want = want
	}
	rec.Size, rec.Media = len(c.request.Body()), c.media
	if c.set.keepRequests {
		rec.RequestBody = c.request.Body()
	}
	r.client.Do(ctx, c.request, rec)
	if rec.Status == http.StatusUnauthorized && r.head.live != nil {
		r.head.live.Refused(key)
	}
	if got := c.request.Got; c.session != "" && got != "" && got != c.token {
		c.set.mu.Lock()
		c.set.tokens[c.session] = got
		c.set.mu.Unlock()
	}
}

// refresh encodes the request again if the session has another token by now.
func (c *call) refresh(r *replica) {
	token := c.set.tokenOf(c.session)
	if token == c.token {
		return
	}
	own := slices.DeleteFunc(slices.Clone(c.request.Fields()), func(f http1.Field) bool {
		return strings.EqualFold(f.Name, c.set.session.Token)
	})
	c.token = token
	c.request = r.head.current().Encode(c.request.Body(), c.withToken(own)...)
}
