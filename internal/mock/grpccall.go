package mock

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	h2 "golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/mock/timer"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// grpcCall is a request for inference on a stream. The connection moves it on when it is due.
type grpcCall struct {
	call
	conn *grpcConn
	st   *grpcStream
	turn timer.Timer[*grpcCall] // among those that wait for their time

	at       int     // tokens sent
	cutAt    int     // the fault strikes at this token
	ends     []int64 // for each mark, where it ends in the stream's bytes
	queued   bool    // waits for a place in the model's batch
	waited   bool    // did so once: the model may still know it
	placed   bool    // has a place
	inBatch  bool    // among those whose events are on the way
	ended    bool    // nothing more follows
	canceled bool
	wakeUp   func() // tells the connection that the call has got its place
}

func (g *grpcConn) newCall() *grpcCall {
	if n := len(g.free); n > 0 {
		c := g.free[n-1]
		g.free = g.free[:n-1]
		return c
	}
	c := &grpcCall{conn: g, call: call{s: g.s, itl: newHistogram(itlBounds[:])}}
	c.turn = timer.Timer[*grpcCall]{Pos: -1, Value: c}
	c.seq.Rand = rand.New(&c.pcg)
	c.wakeUp = func() { g.admit(c) }
	c.buf = make([]byte, 0, 2048)
	return c
}

func (g *grpcConn) infer(st *grpcStream, p []byte, read time.Time) {
	c := g.newCall()
	c.reset(request{path: st.head.path, id: st.head.id, port: g.port, proto: "gRPC", stamp: "write", read: read})
	c.buf = c.buf[:0]
	c.from = 0
	c.status = http.StatusOK
	c.st, c.at, c.ends = st, 0, c.ends[:0]
	c.queued, c.waited, c.placed, c.inBatch, c.ended, c.canceled = false, false, false, false, false, false
	st.calls = append(st.calls, c)
	s := g.s
	number := s.requests.Add(1) - 1
	c.makeID("triton-", number)
	r := &g.reqs
	if err := r.ReadProto(p); err != nil {
		c.refuse(repository.CodeInternal, "the request is not a ModelInferRequest: "+err.Error())
		return
	}
	if c.t.id = r.ID; r.ID != "" {
		c.req.id = r.ID
	}
	if s.cfg.TruthBody {
		c.req.body = requestJSON(p)
	}
	if f, struck := c.draw(number); struck && c.insteadOf(f) {
		return
	}
	m, failure := s.triton.Find(r.Model, r.Version)
	if failure == nil && st.unary() && m.Spec.Decoupled {
		failure = repository.Refuse(repository.CodeUnimplemented, "ModelInfer RPC doesn't support models with decoupled transaction policy")
	}
	if failure == nil {
		failure = c.acceptTriton(m, r)
	}
	if failure != nil {
		c.refuse(failure.Code, failure.Message)
		return
	}
	c.enter()
}

// unary says whether the stream is a call with one response.
func (st *grpcStream) unary() bool { return st.head.path == kserve.ModelInferMethod }

// requestJSON is a request as the truth file keeps it.
func requestJSON(p []byte) []byte {
	b, err := kserve.Request(kserve.ModelInferMethod).JSON(p)
	if err != nil {
		return nil
	}
	return b
}

// enter asks the model for a place, and goes on once there is one.
func (c *grpcCall) enter() {
	c.t.parsed = c.s.clock.Now()
	c.t.model.Waits(1)
	c.finish = "abort" // until it is complete
	c.seq.Wake = c.wakeUp
	c.queued = true
	if !c.s.model.Enter(&c.seq) {
		c.waited = true
		c.conn.startPacer()
		return
	}
	c.queued = false
	c.run(c.arrived())
}

// run sets when the first token is due, and begins.
func (c *grpcCall) run(now int64) {
	c.placed = true
	c.admitted = now
	c.t.model.Waits(-1)
	m := c.s.model
	c.due = m.First(now, &c.seq, c.p.Words.N, c.tokens*c.choices, c.p.Words.Blocks)
	if c.s.cfg.Latency.PrefixCache && c.t.model.Spec.Llm {
		c.s.metrics.lookup(c.seq.Prompt, c.seq.Cached)
	}
	c.cutAt = c.tokens / 2
	if c.t.model.Spec.Llm {
		c.makeTritonPrefix()
	}
	c.step(c.s.clock.Now())
}

// step sends all that is due, and sees to the rest being sent in its time.
func (c *grpcCall) step(now int64) {
	o := &c.s.cfg.Output
	for !c.ended {
		if c.due > now {
			c.push(false)
			c.conn.later(c)
			return
		}
		if c.at == 0 && c.t.model.Spec.Llm {
			c.prefilled()
		}
		n := min(o.TokensPerEvent, c.tokens-c.at)
		if whole := c.t.model.Spec.Llm && !c.p.Stream; whole {
			if c.at+1 < c.tokens {
				// How long a step takes may depend on who else runs, so each is lived through.
				c.at++
				c.due = c.s.model.Next(c.due, &c.seq)
				continue
			}
			c.at, n = 0, c.tokens
		}
		if c.fault != "" && c.at+n > c.cutAt && !c.strike(now) {
			return
		}
		if c.due > now {
			continue // a stall has moved it
		}
		c.push(false)
		c.respond(n, now)
		if c.at += n; c.at < c.tokens {
			for range min(o.TokensPerEvent, c.tokens-c.at) {
				c.due = c.s.model.Next(c.due, &c.seq)
			}
		}
	}
}

// respond writes the response with the next n tokens, and what follows the last.
func (c *grpcCall) respond(n int, now int64) {
	t := &c.t
	last := c.at+n >= c.tokens
	t.made = append(t.made, now)
	if !t.model.Spec.Llm {
		if failure := c.deliver(); failure != nil {
			c.fails(failure.Message, now)
			return
		}
		t.inner = c.appendResults(t.inner[:0], !c.st.unary())
		c.message("")
		c.endEvent(truthfile.KindBody, 0)
		c.complete("stop", now)
		return
	}
	// The backend of TensorRT-LLM marks its last response; vLLM's sends the mark after it.
	mark := last && (t.convention == repository.ConventionTRTLLM || t.convention == repository.ConventionEngine)
	t.inner = c.appendTextResponse(t.inner[:0], c.at, n, mark, last)
	c.message("")
	c.endEvent(truthfile.KindContent, n*c.choices)
	if !last {
		return
	}
	if t.emptyFinal && !mark {
		t.inner = c.appendEmptyFinal(t.inner[:0])
		c.message("")
		c.endEvent(truthfile.KindDone, 0)
	}
	c.complete(t.last, now)
}

// message puts the response in inner, or a failure, behind what is to be sent.
func (c *grpcCall) message(failure string) {
	if c.st.unary() {
		c.buf = appendMessage(c.buf, c.t.inner)
		return
	}
	c.buf = appendStreamMessage(c.buf, failure, c.t.inner)
}

func (c *grpcCall) endEvent(kind string, tokens int) {
	c.events = append(c.events, truthfile.Event{Bytes: len(c.buf) - c.from, Tokens: tokens, Kind: kind})
	c.ends = append(c.ends, c.st.pushed+int64(len(c.buf)))
	c.from = len(c.buf)
	c.pending++
}

// push hands the events over to the connection, if they are enough for a write.
func (c *grpcCall) push(always bool) {
	if c.pending == 0 || !always && c.pending < c.s.cfg.Output.Coalesce {
		return
	}
	if c.inBatch { // a response's writes are told apart also where they are due at one time
		c.conn.flush()
	}
	c.conn.push(c.st, c.buf)
	c.buf, c.from, c.pending = c.buf[:0], 0, 0
	c.joinBatch()
}

// joinBatch makes the next write settle the call.
func (c *grpcCall) joinBatch() {
	if !c.inBatch {
		c.inBatch = true
		c.conn.batch = append(c.conn.batch, c)
	}
}

// complete ends the call after its last event.
func (c *grpcCall) complete(finish string, now int64) {
	c.finish = finish
	c.t.done = now
	c.over(repository.CodeOK, "")
}

// over ends the call. On a stream the response goes on for the others.
func (c *grpcCall) over(code repository.Code, message string) {
	c.grpc = code
	c.ended = true
	c.push(true)
	st := c.st
	st.forget(c)
	switch {
	case st.unary():
		c.conn.end(st, code, message)
	case st.half && len(st.calls) == 0:
		c.conn.end(st, repository.CodeOK, "")
	}
	c.joinBatch() // where nothing else of it is on the way, its status is
}

func (st *grpcStream) forget(c *grpcCall) {
	if i := slices.Index(st.calls, c); i >= 0 {
		st.calls = slices.Delete(st.calls, i, i+1)
	}
}

// refuse answers a request that is not served.
func (c *grpcCall) refuse(code repository.Code, message string) {
	if !c.st.unary() {
		c.t.inner = appendText(c.t.inner[:0], 3, c.t.id)
		c.message(message)
		c.endEvent(truthfile.KindError, 0)
	}
	c.over(code, message)
}

// fails ends a call halfway with an error, which Triton's statistics call a success.
func (c *grpcCall) fails(message string, now int64) {
	c.finish = "error"
	c.t.done = now
	if !c.st.unary() {
		c.t.inner = c.appendEmptyFinal(c.t.inner[:0])
		c.message(message)
		c.endEvent(truthfile.KindError, 0)
	}
	c.over(repository.CodeInternal, message)
}

// insteadOf plays the faults that take the place of a response.
func (c *grpcCall) insteadOf(f config.Fault) bool {
	g := c.conn
	switch f.Kind {
	case config.FaultStatus:
		c.refuse(grpcOf(f.Code), "injected fault: "+http.StatusText(f.Code))
	case config.FaultClose:
		c.status = 0
		g.flush()
		_ = g.wire.Conn.Close()
		g.die()
	case config.FaultGarbage:
		c.buf = appendMessage(c.buf, []byte("\xff\xfe\x00{]\x1b[not a message\xc3\x28"))
		c.endEvent(truthfile.KindBody, 0)
		c.over(repository.CodeOK, "")
	case config.FaultHTML:
		c.html()
	default:
		return false
	}
	return true
}

// html answers with a web page, as a proxy does that knows of no gRPC.
func (c *grpcCall) html() {
	const page = "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>\n"
	g, st := c.conn, c.st
	if !st.opened {
		st.opened = true
		g.header(st, appendStatus200(nil, "text/html"), false)
	}
	c.buf = append(c.buf, page...)
	c.endEvent(truthfile.KindBody, 0)
	c.over(repository.CodeOK, "")
	if !st.unary() {
		g.end(st, repository.CodeOK, "")
		g.drop(st)
	}
}

// strike plays a fault in the middle of a response. False: the call is over or waits.
func (c *grpcCall) strike(now int64) bool {
	c.cutAt = c.tokens + 1
	g := c.conn
	switch c.fault {
	case config.FaultReset:
		c.push(true)
		g.flush()
		abort(g.wire.Conn)
		g.die()
		return false
	case config.FaultTruncate:
		// Half of a message, then the end of the stream.
		c.push(true)
		c.t.inner = c.t.inner[:0]
		half := appendStreamMessage(nil, "", make([]byte, 64))
		g.push(c.st, half[:len(half)/2])
		g.reset(c.st, h2.ErrCodeInternal)
		g.drop(c.st)
		return false
	case config.FaultStall:
		c.push(true)
		if c.s.cfg.StallFor == 0 {
			return false // until the client leaves
		}
		c.due = now + int64(c.s.cfg.StallFor)
	case config.FaultError, config.FaultErrorEvent:
		c.fails("injected fault: the engine died", now)
		return false
	}
	return true
}

// cancel ends a call whose client has left.
func (c *grpcCall) cancel() {
	c.st.forget(c)
	if c.turn.Pos >= 0 {
		c.conn.due.Remove(&c.turn)
	}
	if c.queued {
		c.queued = false
		c.t.model.Waits(-1)
		c.s.model.Abandon(&c.seq)
	}
	c.ended, c.canceled = true, true
	if !c.inBatch {
		c.settled(false)
	}
}

// countAhead counts the tokens that go with the next write, and the call if that is
// its last, so that a client that has its response finds it counted.
func (c *grpcCall) countAhead() {
	tokens := 0
	for i := c.written; i < len(c.events) && c.ends[i] <= c.st.framed; i++ {
		tokens += c.events[i].Tokens
	}
	if tokens > 0 {
		c.s.metrics.generated.Add(uint64(tokens))
	}
	if c.ended && !c.canceled && c.t.model != nil && (len(c.ends) == 0 || c.ends[len(c.ends)-1] <= c.st.framed) {
		c.countOnce(c.s.clock.Now(), true)
	}
}

// sentOut stamps the events that a write took along. True: the call is over with.
func (c *grpcCall) sentOut(at time.Time) bool {
	wall, tokens := at.UnixNano(), 0
	for c.written < len(c.events) && c.ends[c.written] <= c.st.framed {
		e := &c.events[c.written]
		e.At = wall
		tokens += e.Tokens
		c.written++
	}
	if tokens > 0 {
		c.sent += tokens
		c.observe(int64(at.Sub(c.s.clock.Base)), tokens)
	}
	if c.written < len(c.events) && !c.canceled {
		return false
	}
	if c.inBatch = false; c.ended {
		c.settled(true)
		return true
	}
	if c.s.truth == nil {
		c.events, c.ends, c.written = c.events[:0], c.ends[:0], 0
	}
	return true
}

// settled writes down how the call ended, and gives it back.
func (c *grpcCall) settled(whole bool) {
	now := c.s.clock.Now()
	if c.placed {
		c.s.model.Leave(&c.seq)
		c.placed = false
	}
	if c.t.model != nil {
		if c.t.model.Spec.Llm {
			c.s.metrics.ended(&c.call, now)
		}
		c.countOnce(now, whole && !c.canceled)
	}
	if c.written < len(c.events) {
		c.finish = "abort" // the client did not get all of it
		c.events = c.events[:c.written]
	}
	c.done()
	if !c.waited && len(c.conn.free) < 256 {
		c.conn.free = append(c.conn.free, c)
	}
}
