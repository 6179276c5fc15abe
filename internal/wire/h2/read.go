package h2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

type reader struct {
	c        *conn
	split    splitter
	at       timedconn.Stamp // of the read that is being taken in
	begun    bool            // the server's first frame has come
	pieces   bool            // TLS hands it over in pieces, or has not all of it
	received int64           // bytes of data, not yet given back to the connection's window

	decoder *hpack.Decoder
	block   []byte // a block of headers, while it is incomplete
	blockOf frame  // whose it is; stream 0: there is none
	head    head   // what was read of a block
	keep    bool   // all fields of the block matter
	fields  []http1.Field
}

type head struct {
	status      int
	contentType string
	retryAfter  string
	length      int64
	err         error
}

func (r *reader) init(c *conn) {
	r.c = c
	r.decoder = hpack.NewDecoder(4096, r.field)
	r.decoder.SetMaxStringLength(maxFieldSize)
}

// addRead is handed each read; false: the connection is over.
func (r *reader) addRead(p []byte, at timedconn.Stamp) bool {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	r.at, r.pieces, c.heard = at, c.client.secure && !c.net.Complete(), at.User
	if !r.begun && len(p) >= 4 && string(p[:4]) == "HTTP" {
		c.fail(&fault{codeProtocol, fmt.Sprintf("it answered %q: it does not speak HTTP/2 on this port", p[:min(len(p), 40)])})
		return false
	}
	if err := r.split.feed(p, r); err != nil {
		c.fail(err)
		return false
	}
	if len(c.control) > maxControl {
		c.fail(&fault{codeCalm, "a flood of PING or SETTINGS frames"})
	}
	return c.err == nil
}

func (r *reader) begin(f frame) (wanted bool, err error) {
	if !r.begun {
		if r.begun = true; f.kind != frameSettings || f.has(flagAck) {
			return false, breach(codeProtocol, "a first frame of type %d instead of SETTINGS", f.kind)
		}
	}
	if r.blockOf.stream != 0 && (f.kind != frameContinuation || f.stream != r.blockOf.stream) {
		return false, breach(codeProtocol, "a frame of type %d inside a header block", f.kind)
	}
	switch f.kind {
	case frameData:
		return true, r.beginData(f)
	case framePush:
		return false, breach(codeProtocol, "PUSH_PROMISE, which is disabled")
	case frameHeaders, frameReset, frameSettings, framePing, frameGoAway, frameWindow, frameContinuation:
		return true, nil
	default:
		return false, nil
	}
}

// beginData counts a frame of data towards the windows.
func (r *reader) beginData(f frame) error {
	c := r.c
	if f.stream == 0 {
		return breach(codeProtocol, "a DATA frame on stream 0")
	}
	if r.received += int64(f.length); r.received > c.client.windows.conn/4 {
		c.sendControl(appendWindow(c.control, 0, r.received))
		r.received = 0
	}
	i := c.find(f.stream)
	if i < 0 {
		return c.known(f)
	}
	st := c.live[i]
	if st.received += int64(f.length); st.received > c.client.windows.stream/4 && !f.has(flagEndStream) {
		c.sendControl(appendWindow(c.control, f.stream, st.received))
		st.received = 0
	}
	return nil
}

// known makes sure that a frame is for a stream that was once there.
func (c *conn) known(f frame) error {
	if f.stream%2 == 0 || f.stream >= c.next {
		return breach(codeProtocol, "a frame of type %d for stream %d, which is not open", f.kind, f.stream)
	}
	return nil
}

// data takes a piece of a response's body.
func (r *reader) data(f frame, p []byte, last bool) error {
	c := r.c
	i := -1
	if f.stream != 0 {
		i = c.find(f.stream)
	}
	if i < 0 || c.live[i].answered || (len(p) == 0 && !last) {
		return nil
	}
	st := c.live[i]
	if !st.headed {
		r.refuse(i, "data before the headers")
		return nil
	}
	if st.open != nil {
		if err := st.open.to.Data(p, r.at, r.behind()); err != nil {
			c.drop(i, err, codeCancel)
		} else if last && f.has(flagEndStream) {
			r.endOpen(i, nil)
		}
		return nil
	}
	before := len(st.rec.Body)
	st.rec.Body = append(st.rec.Body, p...)
	r.arrived(st, len(p) > 0)
	if st.endBy == 0 && st.rec.Streamed && http1.SaysDone(st.rec.Body, before) {
		st.said, st.endBy = r.at.Time(), r.at.User+c.client.grace
		c.alarm.Set(st.endBy)
	}
	if err := http1.Hold(st.rec); err != nil {
		c.drop(i, err, codeCancel)
		return nil
	}
	if st.length >= 0 && int64(st.rec.Folded+len(st.rec.Body)) > st.length {
		r.refuse(i, "a response longer than its Content-Length")
		return nil
	}
	if !last {
		return nil
	}
	if f.has(flagEndStream) {
		r.complete(i)
	}
	return nil
}

// behind reports whether bytes stand, or may stand, behind those of the read that are being taken in.
func (r *reader) behind() bool { return r.pieces || r.split.behind > 0 }

// arrived notes that something of a stream came with this read; body: of its body.
func (r *reader) arrived(st *stream, body bool) {
	behind := r.behind()
	if body {
		st.grew = r.at.User
	} else if st.grew == r.at.User && st.rec.Streamed && st.endBy == 0 {
		behind = true // this stands behind its last event
	}
	st.arrived(r.at, behind, r.c.net.Single)
	if limit := r.c.client.limits.Stall; limit != 0 {
		r.c.alarm.Set(r.at.User + limit)
	}
}

// refuse ends a stream whose response is not what the protocol says.
func (r *reader) refuse(i int, what string) {
	r.c.drop(i, http1.BadFraming(errors.New("the server sent "+what)), codeProtocol)
}

func (r *reader) complete(i int) {
	c := r.c
	st := c.live[i]
	if !st.headed {
		r.refuse(i, "a response without a status")
		return
	}
	if missing := st.length - int64(st.rec.Folded+len(st.rec.Body)); missing > 0 {
		c.end(i, http1.Truncated(fmt.Errorf("the response ended %d bytes before its Content-Length", missing)))
		return
	}
	st.answered = true
	if !st.onWire {
		// The server has answered before it saw the whole request.
		st.rest, st.onWire = nil, true
		c.sendControl(appendReset(c.control, c.ids[i], codeCancel))
	}
	if !st.stamp {
		c.end(i, nil)
	}
}

// handleFrame takes any frame but data.
func (r *reader) handleFrame(f frame, p []byte) error {
	switch f.kind {
	case frameHeaders:
		return r.headers(f, p)
	case frameContinuation:
		return r.continuation(f, p)
	case frameReset:
		return r.reset(f, p)
	case frameSettings:
		return r.c.settings(f, p)
	case framePing:
		return r.ping(f, p)
	case frameGoAway:
		return r.goAway(p)
	case frameWindow:
		return r.c.windowUpdate(f, p)
	}
	return nil
}

// headers takes the first frame of a block.
func (r *reader) headers(f frame, p []byte) error {
	if i := r.c.find(f.stream); f.stream == 0 || i < 0 {
		if err := r.c.known(f); err != nil {
			return err
		}
	}
	pad := 0
	if f.has(flagPadded) {
		if len(p) == 0 {
			return breach(codeFrame, "a padded HEADERS frame without a pad length")
		}
		pad, p = int(p[0]), p[1:]
	}
	if f.has(flagPriority) {
		if len(p) < 5 {
			return breach(codeFrame, "a HEADERS frame of %d bytes", f.length)
		}
		p = p[5:]
	}
	if pad > len(p) {
		return breach(codeProtocol, "a HEADERS frame with more padding than payload")
	}
	p = p[:len(p)-pad]
	r.blockOf = f
	if f.has(flagEndHeaders) {
		return r.endHeaders(p)
	}
	r.block = append(r.block[:0], p...)
	return nil
}

// continuation takes a further frame of a block.
func (r *reader) continuation(f frame, p []byte) error {
	if r.blockOf.stream == 0 {
		return breach(codeProtocol, "a CONTINUATION frame without HEADERS")
	}
	if most := r.c.client.mostHeaders(); len(r.block)+len(p) > most {
		return breach(codeCalm, "headers longer than %d bytes: raise limits.header", most)
	}
	r.block = append(r.block, p...)
	if f.has(flagEndHeaders) {
		return r.endHeaders(r.block)
	}
	return nil
}

// endHeaders reads a whole block, also of a stream that has gone: later blocks build on it.
func (r *reader) endHeaders(block []byte) error {
	f := r.blockOf
	r.blockOf = frame{}
	r.head = head{length: -1}
	i := r.c.find(f.stream)
	r.keep, r.fields = i >= 0 && (r.c.live[i].open != nil || r.c.live[i].answer != nil), r.fields[:0]
	if _, err := r.decoder.Write(block); err != nil {
		return breach(codeHeaders, "headers that cannot be decoded: %v", err)
	}
	if err := r.decoder.Close(); err != nil {
		return breach(codeHeaders, "headers that cannot be decoded: %v", err)
	}
	if i < 0 || r.c.live[i].answered {
		return nil
	}
	st := r.c.live[i]
	ends := f.has(flagEndStream)
	switch h := &r.head; {
	case h.err != nil:
		r.refuse(i, h.err.Error())
		return nil
	case st.headed && !ends:
		r.refuse(i, "headers in the middle of a response")
		return nil
	case st.headed: // trailers
		if st.open != nil {
			r.endOpen(i, r.fields)
			return nil
		}
		if st.answer != nil {
			st.answer.Trailer = append(st.answer.Trailer, r.fields...)
		}
	case h.status == 0:
		r.refuse(i, "a response without a status")
		return nil
	case h.status < 200 && ends:
		r.refuse(i, "a response that ends before its status")
		return nil
	case h.status >= 200 && st.open != nil:
		st.headed = true
		if err := st.open.to.Head(h.status, r.fields, r.at); err != nil {
			r.c.drop(i, err, codeCancel)
		} else if ends {
			r.endOpen(i, nil)
		}
		return nil
	case st.open != nil:
		return nil
	case h.status >= 200: // others only announce the real one
		st.headed, st.length = true, h.length
		if st.answer != nil {
			st.answer.Head = append(st.answer.Head, r.fields...)
		}
		st.rec.Status, st.rec.ContentType, st.rec.RetryAfter = h.status, h.contentType, h.retryAfter
	}
	r.arrived(st, false)
	if ends {
		r.complete(i)
	}
	return nil
}

func (r *reader) field(f hpack.HeaderField) {
	if r.keep {
		r.fields = append(r.fields, http1.Field{Name: f.Name, Value: f.Value})
	}
	h := &r.head
	switch f.Name {
	case ":status":
		n, err := strconv.Atoi(f.Value)
		if err != nil || n < 100 || n > 999 {
			h.err = fmt.Errorf("the status %q", f.Value)
		}
		h.status = n
	case "content-length":
		n, err := strconv.ParseInt(f.Value, 10, 64)
		if err != nil || n < 0 {
			h.err = fmt.Errorf("the Content-Length %q", f.Value)
		}
		h.length = n
	case "content-type":
		h.contentType = f.Value
	case "retry-after":
		h.retryAfter = f.Value
	}
}

// reset takes in that the server ended a stream.
func (r *reader) reset(f frame, p []byte) error {
	if len(p) != 4 {
		return breach(codeFrame, "a RST_STREAM frame of %d bytes", len(p))
	}
	i := -1
	if f.stream != 0 {
		i = r.c.find(f.stream)
	}
	if i < 0 {
		return r.c.known(f)
	}
	why := code(binary.BigEndian.Uint32(p))
	st := r.c.live[i]
	if why == codeRefused && !st.headed {
		r.c.end(i, &unprocessed{"the server refused the stream (REFUSED_STREAM)"})
		return nil
	}
	r.c.end(i, fmt.Errorf("the server reset the stream (RST_STREAM): %s", why))
	return nil
}

func (r *reader) ping(f frame, p []byte) error {
	if len(p) != 8 {
		return breach(codeFrame, "a PING frame of %d bytes", len(p))
	}
	if !f.has(flagAck) {
		r.c.sendControl(append(appendFrame(r.c.control, 8, framePing, flagAck, 0), p...))
	}
	return nil
}

// goAway takes in that the server is about to leave. What it has seen, it will
// still answer.
func (r *reader) goAway(p []byte) error {
	if len(p) < 8 {
		return breach(codeFrame, "a GOAWAY frame of %d bytes", len(p))
	}
	c := r.c
	seen := binary.BigEndian.Uint32(p) & maxWindow
	why := code(binary.BigEndian.Uint32(p[4:]))
	c.named = true
	if c.leaving = true; why != codeNone {
		c.why = "GOAWAY " + why.String()
		if text := p[8:]; len(text) > 0 {
			c.why += fmt.Sprintf(" %q", text[:min(len(text), 80)])
		}
	}
	c.client.forget(c, false)
	for i := len(c.live) - 1; i >= 0; i-- {
		if id := c.ids[i]; (id == 0 || id > seen) && !c.live[i].answered {
			c.end(i, &unprocessed{"the server closed the connection (GOAWAY) before it processed the request"})
		}
	}
	c.leaveOpen()
	if len(c.live) == 0 {
		c.fail(errClosed)
	}
	return nil
}

var _ sink = (*reader)(nil)
