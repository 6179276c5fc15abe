package h2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/wire/http1"
)

// maxWrite bounds a write: a large body must not hold up what comes after it for long.
const maxWrite = 256 << 10

// write sends what there is to send until the connection is over.
func (c *conn) write() {
	c.mu.Lock()
	for c.err == nil {
		if c.broken != nil || !c.compose() {
			c.work.Wait()
			continue
		}
		c.writing = true
		c.mu.Unlock()
		sent, err := c.net.Write(c.out)
		written := c.client.clock.Now()
		c.mu.Lock()
		c.writing = false
		if c.broken = err; err != nil && c.err == nil {
			// Reading ends the connection: the server may have said why it left.
			c.leaving = true
			c.client.forget(c, false)
			c.net.BoundReads()
		}
		c.wrote(sent, written, err == nil)
	}
	last := c.control
	if c.broken != nil {
		last = nil // it would end up in the middle of a frame
	}
	c.mu.Unlock()
	c.net.CloseAfter(last)
}

func (c *conn) wrote(sent, written time.Duration, whole bool) {
	for _, p := range c.parts {
		if p.by != nil {
			p.noted(sent, written, whole)
			continue
		}
		i := c.find(p.id)
		if i < 0 {
			continue
		}
		st := c.live[i]
		if p.first {
			st.rec.Sent = sent
			st.rec.Flight.SetSent(sent)
		}
		if p.last && whole {
			st.rec.Written = written
			if st.rec.CancelAfter > 0 {
				c.alarm.Set(written + st.rec.CancelAfter)
			}
		}
		if st.stamp = false; st.answered {
			c.end(i, nil)
		}
	}
}

// compose puts what may be sent now into c.out; false: nothing.
func (c *conn) compose() bool {
	c.out = append(c.out[:0], c.control...)
	c.control, c.parts = c.control[:0], c.parts[:0]
	for i := 0; i < len(c.queue) && len(c.out) < maxWrite; {
		st := c.queue[i]
		c.send(st)
		if st.onWire {
			st.queued = false
			c.queue = slices.Delete(c.queue, i, i+1)
			continue
		}
		i++
	}
	return len(c.out) > 0
}

// send puts as much of a stream into frames as the server takes.
func (c *conn) send(st *stream) {
	var p part
	i := slices.Index(c.live, st)
	if c.ids[i] == 0 {
		c.ids[i] = c.next
		c.next += 2
		p.first = true
		st.window = c.initial
		if st.open == nil {
			// Until the write is done; a request that ends before that has no better stamp.
			st.rec.Sent = c.client.clock.Now()
		}
		c.sendHeaders(st, c.ids[i])
	}
	p.id = c.ids[i]
	if st.open != nil {
		c.sendPieces(st, p.id)
		return
	}
	before := len(st.rest)
	for len(st.rest) > 0 && len(c.out) < maxWrite {
		n := int(min(int64(len(st.rest)), int64(c.frame), st.window, c.window))
		if n <= 0 {
			break
		}
		flags := byte(0)
		if n == len(st.rest) {
			flags = flagEndStream
		}
		c.out = append(appendFrame(c.out, n, frameData, flags, p.id), st.rest[:n]...)
		st.rest = st.rest[n:]
		st.window -= int64(n)
		c.window -= int64(n)
	}
	st.onWire = len(st.rest) == 0
	p.last = st.onWire
	if p.first || len(st.rest) < before {
		st.stamp = true
		c.parts = append(c.parts, p)
	}
}

// sendHeaders writes the headers of a request. What all requests share goes into
// the table of the connection, so that it takes a byte from the second time on.
func (c *conn) sendHeaders(st *stream, id uint32) {
	c.block.Reset()
	for _, f := range st.shared {
		c.field(f, false)
	}
	for _, f := range st.own {
		c.field(http1.Field{Name: strings.ToLower(f.Name), Value: f.Value}, true)
	}
	flags := byte(0)
	if st.open == nil && len(st.rest) == 0 {
		flags = flagEndStream
	} else if st.sized {
		c.field(http1.Field{Name: "content-length", Value: strconv.Itoa(len(st.rest))}, true)
	}
	c.out = appendBlock(c.out, c.block.Bytes(), flags, id, c.frame)
}

// field encodes a header field; once: it is not worth remembering.
func (c *conn) field(f http1.Field, once bool) {
	// Writing to a buffer does not fail.
	_ = c.encoder.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value, Sensitive: once})
}

// maxControl bounds what may wait to be said to a server that does not listen.
const maxControl = 64 << 10

// settings takes in what the server wants.
func (c *conn) settings(f frame, p []byte) error {
	switch {
	case f.stream != 0:
		return breach(codeProtocol, "a SETTINGS frame on a stream")
	case f.has(flagAck) && len(p) != 0, len(p)%6 != 0:
		return breach(codeFrame, "a SETTINGS frame of %d bytes", len(p))
	case f.has(flagAck):
		return nil
	}
	if !c.settled {
		c.most = c.client.streams // a server that names no limit has none
	}
	for ; len(p) > 0; p = p[6:] {
		if err := c.setting(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])); err != nil {
			return err
		}
	}
	// Those that were let in by an old limit and have not been sent go elsewhere.
	for i := len(c.live) - 1; i >= 0 && len(c.live) > c.most; i-- {
		if c.ids[i] == 0 {
			c.end(i, errNoRoom)
		}
	}
	if !c.settled {
		c.settled = true
		close(c.ready)
	}
	c.client.most.Store(int64(c.most))
	c.sendControl(appendFrame(c.control, 0, frameSettings, flagAck, 0))
	return nil
}

// errNoRoom: the connection takes fewer streams than were on their way to it.
var errNoRoom = errors.New("the server lowered its limit of streams per connection")

func (c *conn) setting(id uint16, v uint32) error {
	switch id {
	case settingTableSize:
		c.encoder.SetMaxDynamicTableSize(min(v, 4096))
	case settingStreams:
		c.most = int(min(int64(v), int64(c.client.streams)))
	case settingWindow:
		if v > maxWindow {
			return breach(codeFlow, "SETTINGS_INITIAL_WINDOW_SIZE %d", v)
		}
		delta := int64(v) - c.initial
		c.initial = int64(v)
		for i, st := range c.live {
			if c.ids[i] == 0 {
				continue
			}
			if st.window += delta; st.window > maxWindow {
				return breach(codeFlow, "SETTINGS_INITIAL_WINDOW_SIZE %d overflows the window of an open stream", v)
			}
		}
	case settingFrameSize:
		if v < maxFrame || v >= 1<<24 {
			return breach(codeProtocol, "SETTINGS_MAX_FRAME_SIZE %d", v)
		}
		// Larger frames gain nothing and would hold up others.
	}
	return nil
}

// windowUpdate takes in that the server takes more.
func (c *conn) windowUpdate(f frame, p []byte) error {
	if len(p) != 4 {
		return breach(codeFrame, "a WINDOW_UPDATE frame of %d bytes", len(p))
	}
	n := int64(binary.BigEndian.Uint32(p) & maxWindow)
	if f.stream == 0 {
		if c.window += n; n == 0 || c.window > maxWindow {
			return breach(codeFlow, "a WINDOW_UPDATE by %d", n)
		}
		c.work.Signal()
		return nil
	}
	i := c.find(f.stream)
	if i < 0 {
		return c.known(f)
	}
	st := c.live[i]
	if st.window += n; n == 0 || st.window > maxWindow {
		c.drop(i, http1.BadFraming(fmt.Errorf("the server violated HTTP/2: a WINDOW_UPDATE by %d", n)), codeFlow)
		return nil
	}
	c.work.Signal()
	return nil
}
