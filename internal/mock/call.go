package mock

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/latency"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/mock/schema"
	"github.com/inferometer/inferometer/internal/mock/timer"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// reserve is the room that a buffer keeps free ahead of the body, for the head
// of the response and of a chunk: so both go out in one write without a copy of the body.
const reserve = 1024

// maxBody is the longest request body that is read.
const maxBody = 256 << 20

// request is what a protocol hands over: a request whose body has been read.
type request struct {
	method string
	path   string
	auth   string // the Authorization header
	id     string // the X-Request-Id header
	key    string // the X-Api-Key header
	// version is the Anthropic-Version header.
	version string
	// session and token are the configured headers that tie the requests of a session together.
	session, token string
	port           int
	proto          string
	stamp          string // what the stamps of its sender mean
	read           time.Time
	body           []byte

	ctype      string // the Content-Type header
	encoding   string // the Content-Encoding header
	jsonLength int    // the Inference-Header-Content-Length header
}

// head is what goes ahead of a body.
type head struct {
	status     int
	ctype      string
	length     int    // of the body; -1: not known ahead
	retryAfter int    // seconds; 0: none
	allow      string // methods, for 405
	jsonLength int    // of the JSON ahead of raw bytes; 0: there are none
	token      string // of the session; empty: none
}

// more calls add with the headers that few responses have.
func (h *head) more(tokenHeader string, add func(name, value string)) {
	if h.jsonLength > 0 {
		add("Inference-Header-Content-Length", strconv.Itoa(h.jsonLength))
	}
	if h.retryAfter > 0 {
		add("Retry-After", strconv.Itoa(h.retryAfter))
	}
	if h.token != "" {
		add(tokenHeader, h.token)
	}
	if h.allow != "" {
		add("Allow", h.allow)
	}
	if h.status == http.StatusUnauthorized {
		add("WWW-Authenticate", "Bearer")
	}
}

// sender is one protocol's way to the client.
type sender interface {
	// begin keeps the head, which goes out with the first send.
	begin(h head)
	// send writes the body bytes behind the reserve; last: they complete it. It returns the time
	// before that.
	send(buf *[]byte, last bool) (time.Time, error)
	// cut ends the connection or stream with the response incomplete.
	cut(reset bool)
}

// call is one request being answered. It is used again for the next one.
type call struct {
	s   *Server
	out sender
	// watch returns a channel that is closed when the client leaves.
	watch func() <-chan struct{}
	nap   *timer.Nap

	req    request
	api    body.API
	p      body.Params
	reader body.Reader
	seq    latency.Sequence
	pcg    rand.PCG
	t      tritonCall
	shape  *schema.Document // of the JSON that the response is; nil: it is a text
	grpc   repository.Code  // that the response has

	id        []byte
	status    int
	finish    string
	fault     config.FaultKind
	faultName string
	tokens    int // of each choice
	choices   int
	block     int // of a message's content or a response's output, the one that is being sent
	number    int // of the next event of a response
	sent      int // tokens, over all choices

	buf     []byte
	from    int // where the event being written begins in buf
	pending int // events in buf
	written int // events that have gone out
	events  []truthfile.Event
	line    []byte
	prefix  []byte // of each event, up to its choice
	plain   bool   // events of content need nothing beside it
	content []byte // of each event of visible content, up to its words

	admitted int64
	firstAt  int64 // when the first token was due or went out
	lastAt   int64 // when the last token went out
	due      int64
	seen     int64 // what the clock showed when it was last looked at
	itl      histogram
}

func newCall(s *Server, out sender, watch func() <-chan struct{}) *call {
	c := &call{s: s, out: out, watch: watch, nap: timer.NewNap(), itl: newHistogram(itlBounds[:])}
	c.seq.Rand = rand.New(&c.pcg)
	c.buf = make([]byte, reserve, 4096)
	return c
}

func (c *call) reset(r request) {
	c.req, c.api = r, body.Chat
	block := 0
	if c.s.cfg.Latency.PrefixCache {
		block = c.s.cfg.Latency.BlockSize
	}
	c.p.Reset(block)
	c.t.reset()
	c.shape = nil
	c.seq = latency.Sequence{Rand: c.seq.Rand}
	c.id = c.id[:0]
	c.status, c.grpc, c.finish, c.fault, c.faultName = 0, repository.CodeOK, "", "", ""
	c.tokens, c.choices, c.sent, c.block, c.number = 0, 1, 0, 0, 0
	if cap(c.buf) > 1<<20 {
		c.buf = make([]byte, reserve, 4096)
	}
	c.buf = c.buf[:reserve]
	c.from, c.pending, c.written = reserve, 0, 0
	c.events = c.events[:0]
	c.admitted, c.firstAt, c.lastAt, c.due, c.seen = 0, 0, 0, 0, 0
}

// arrived is when the request's head had been read, on the server's clock.
func (c *call) arrived() int64 { return int64(c.req.read.Sub(c.s.clock.Base)) }

func (c *call) begin(h head) {
	if c.s.cfg.SessionToken != "" {
		if h.token = c.req.token; h.token == "" {
			h.token = "token-" + string(c.id)
		}
	}
	c.status = h.status
	c.out.begin(h)
}

// event ends the event appended to buf, and sends what is pending if it fills a write or is the
// last.
func (c *call) event(kind string, tokens int, last bool) bool {
	c.events = append(c.events, truthfile.Event{Bytes: len(c.buf) - c.from, Tokens: tokens, Kind: kind})
	c.from = len(c.buf)
	c.pending++
	if last || c.pending >= c.s.cfg.Output.Coalesce {
		return c.flush(last)
	}
	return true
}

// flush writes what is pending, and stamps it. False: the client is gone.
func (c *call) flush(last bool) bool {
	at, err := c.out.send(&c.buf, last)
	c.buf = c.buf[:reserve]
	c.from, c.pending = reserve, 0
	wall, tokens := at.UnixNano(), 0
	for ; c.written < len(c.events); c.written++ {
		e := &c.events[c.written]
		e.At = wall
		tokens += e.Tokens
	}
	if c.s.truth == nil {
		c.events, c.written = c.events[:0], 0
	}
	if err != nil {
		return false
	}
	if tokens > 0 {
		c.sent += tokens
		c.s.metrics.generated.Add(uint64(tokens))
		c.observe(int64(at.Sub(c.s.clock.Base)), tokens)
	}
	return true
}

// observe keeps the time between tokens. Those that went out together share it.
func (c *call) observe(at int64, tokens int) {
	if c.firstAt == 0 {
		c.firstAt = at
	} else {
		c.itl.add(seconds(at-c.lastAt)/float64(tokens), uint64(tokens))
	}
	c.lastAt = at
}

// admit waits for a place in the batch and sets when the first token is due; false: the client
// left.
func (c *call) admit() bool {
	m := c.s.model
	now := c.arrived()
	if !m.Enter(&c.seq) {
		select {
		case <-c.seq.Ready:
		case <-c.watch():
			m.Abandon(&c.seq)
			return false
		}
		now = c.s.clock.Now()
	}
	c.admitted = now
	c.due = m.First(now, &c.seq, c.p.Words.N, c.tokens*c.choices, c.p.Words.Blocks)
	if c.s.cfg.Latency.PrefixCache {
		c.s.metrics.lookup(c.seq.Prompt, c.seq.Cached)
	}
	return true
}

// wait returns at the given time, with a comment to the client each time that
// it has been quiet for long, where comments are wanted. False: the client left.
func (c *call) wait(at int64, comments bool) bool {
	// A server without latencies comes here for each event: it need not look at the clock.
	if at <= c.seen {
		return true
	}
	clock := c.s.clock
	if c.seen = clock.Now(); at <= c.seen {
		return true
	}
	if every := int64(c.s.cfg.Output.KeepAlive); comments && every > 0 {
		for quiet := c.seen + every; quiet < at; quiet += every {
			if !clock.Until(c.nap, quiet, c.watch()) {
				return false
			}
			c.buf = append(c.buf, ": keep-alive\n\n"...)
			if !c.event(truthfile.KindComment, 0, false) || c.pending > 0 && !c.flush(false) {
				return false
			}
		}
	}
	return clock.Until(c.nap, at, c.watch())
}

// done writes down how the request ended.
func (c *call) done() {
	if c.s.truth == nil {
		return
	}
	t := truthfile.Request{
		ID: c.req.id, Port: c.req.port, Path: c.req.path, Proto: c.req.proto, Read: c.req.read.UnixNano(), End: time.Now().UnixNano(),
		Status: c.status, GRPC: int(c.grpc), Stream: c.p.Stream, Prompt: c.p.Words.N, Cached: c.seq.Cached, Max: max(c.p.Limit(), 0),
		Tokens: c.sent, Finish: c.finish, Fault: c.faultName, Stamp: c.req.stamp, Media: c.p.Media,
		Session: c.req.session, Token: c.req.token, Events: c.events,
	}
	if t.ID == "" {
		t.ID = string(c.id)
	}
	if c.s.cfg.TruthBody {
		t.Body = c.req.body
	}
	c.line = t.AppendLine(c.line[:0])
	c.s.truth.WriteLine(c.line)
}

// makeID names the response after the request's number.
func (c *call) makeID(prefix string, number uint64) {
	const digits = "0123456789abcdef"
	c.id = append(c.id[:0], prefix...)
	x := (number + 1) * 0x9e3779b97f4a7c15 // spreads the numbers; no two collide
	for shift := 60; shift >= 0; shift -= 4 {
		c.id = append(c.id, digits[x>>uint(shift)&15])
	}
}

func (c *call) int(v int) { c.buf = strconv.AppendInt(c.buf, int64(v), 10) }

func (c *call) str(v string) { c.buf = append(c.buf, v...) }

// put writes texts and numbers one after the other.
func (c *call) put(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			c.str(p)
		case []byte:
			c.buf = append(c.buf, p...)
		case int:
			c.int(p)
		}
	}
}
