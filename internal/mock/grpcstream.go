package mock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/mock/timer"
)

// grpcOf is the status that stands for an HTTP one.
func grpcOf(status int) repository.Code {
	code, ok := map[int]repository.Code{
		http.StatusBadRequest:          repository.CodeInvalid,
		http.StatusUnauthorized:        repository.CodeUnauthenticated,
		http.StatusForbidden:           repository.CodeDenied,
		http.StatusNotFound:            repository.CodeNotFound,
		http.StatusRequestTimeout:      repository.CodeDeadline,
		http.StatusConflict:            repository.CodeAborted,
		http.StatusTooManyRequests:     repository.CodeResourceExhausted,
		http.StatusInternalServerError: repository.CodeInternal,
		http.StatusNotImplemented:      repository.CodeUnimplemented,
		http.StatusServiceUnavailable:  repository.CodeUnavailable,
		http.StatusGatewayTimeout:      repository.CodeDeadline,
	}[status]
	if !ok {
		return repository.CodeUnknown
	}
	return code
}

// grpcHead is what matters of a request's headers.
type grpcHead struct {
	method, path, ctype, encoding, auth, id string
}

// addField is called for each field of a header block.
func (h *grpcHead) addField(f hpack.HeaderField) {
	switch f.Name {
	case ":method":
		h.method = f.Value
	case ":path":
		h.path = f.Value
	case "content-type":
		h.ctype = f.Value
	case "grpc-encoding":
		h.encoding = f.Value
	case "authorization":
		h.auth = f.Value
	case "x-request-id":
		h.id = f.Value
	}
}

// grpcStream is one call of gRPC, which may carry many requests.
type grpcStream struct {
	id     uint32
	head   grpcHead
	calls  []*grpcCall // in flight
	in     []byte      // of a message that is not whole yet
	used   int         // bytes read since the stream's window was last given back
	got    int         // messages
	half   bool        // the client has ended its side
	opened bool        // the head of the response is out

	window  int64
	held    []byte // of messages, held back by flow control
	pushed  int64  // bytes of messages so far
	framed  int64  // of them, put into frames
	ending  bool   // the status follows what is held
	code    repository.Code
	message string
}

// open begins a stream whose headers have been read.
func (g *grpcConn) open(id uint32, end bool, read time.Time) {
	st := &grpcStream{id: id, head: g.fields, window: g.initial}
	g.streams[id] = st
	switch {
	case st.head.method != http.MethodPost || !strings.HasPrefix(st.head.ctype, grpcType):
		g.notGRPC(st)
		return
	case !g.s.authorizedBy(st.head.auth):
		g.end(st, repository.CodeUnauthenticated, "the API key is missing or wrong")
		return
	case st.head.encoding != "" && st.head.encoding != "identity" && st.head.encoding != "gzip" && st.head.encoding != "deflate":
		g.end(st, repository.CodeUnimplemented, "Compression algorithm '"+st.head.encoding+"' is not supported")
		return
	case st.head.path != kserve.ModelStreamInferMethod && !st.unary() && methods[st.head.path] == nil:
		g.end(st, repository.CodeUnimplemented, "")
		return
	}
	if st.head.path == kserve.ModelStreamInferMethod && g.s.cfg.Output.EarlyHeaders {
		g.answerHead(st)
	}
	if end {
		g.halfClosed(st)
	}
}

// notGRPC answers what is HTTP/2 but no gRPC, as a server of gRPC does.
func (g *grpcConn) notGRPC(st *grpcStream) {
	g.header(st, appendField(nil, ":status", "415"), true)
	if !st.half {
		g.reset(st, h2.ErrCodeNo)
	}
	delete(g.streams, st.id)
}

// halfClosed notes that the client sends no more on the stream.
func (g *grpcConn) halfClosed(st *grpcStream) {
	st.half = true
	switch {
	case len(st.in) > 0:
		g.end(st, repository.CodeInternal, "the stream ends inside a message")
	case st.head.path == kserve.ModelStreamInferMethod:
		if len(st.calls) == 0 {
			g.end(st, repository.CodeOK, "")
		}
	case st.got == 0:
		g.end(st, repository.CodeInternal, "the request has no message")
	}
}

func (g *grpcConn) messages(st *grpcStream, p []byte, read time.Time) {
	kept := len(st.in) > 0
	if kept {
		st.in = append(st.in, p...)
		p = st.in
	}
	for len(p) >= 5 && !st.ending && !g.dead {
		size := int(binary.BigEndian.Uint32(p[1:]))
		if size > maxBody {
			g.end(st, repository.CodeResourceExhausted, fmt.Sprintf("Received message larger than max (%d vs. %d)", size, maxBody))
			return
		}
		if len(p) < 5+size {
			break
		}
		message, packed := p[5:5+size], p[0] != 0
		p = p[5+size:]
		if packed {
			var err error
			if message, err = g.unpack(st, message); err != nil {
				g.end(st, repository.CodeInternal, "decompress a message: "+err.Error())
				return
			}
		}
		st.got++
		g.message(st, message, read)
	}
	switch {
	case !kept:
		st.in = append(st.in[:0], p...)
	case len(p) == 0 && cap(st.in) > 1<<20:
		st.in = nil
	default:
		st.in = st.in[:copy(st.in, p)]
	}
}

// unpack undoes the compression that the stream's head names.
func (g *grpcConn) unpack(st *grpcStream, p []byte) ([]byte, error) {
	r, err := decompress(st.head.encoding, p)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, errors.New("the request does not name the algorithm")
	}
	b := bytes.NewBuffer(g.unpacked[:0])
	n, err := io.Copy(b, io.LimitReader(r, maxBody+1))
	if err == nil && n > maxBody {
		err = fmt.Errorf("more than %d bytes", maxBody)
	}
	g.unpacked = b.Bytes()
	return g.unpacked, err
}

func (g *grpcConn) message(st *grpcStream, p []byte, read time.Time) {
	switch {
	case st.head.path == kserve.ModelStreamInferMethod, st.unary() && st.got == 1:
		g.infer(st, p, read)
	case st.got == 1:
		answer, err := g.s.control(st.head.path, p)
		if err != nil {
			g.end(st, err.Code, err.Message)
			return
		}
		g.push(st, appendMessage(nil, answer))
		g.end(st, repository.CodeOK, "")
	}
}

// appendMessage writes a message with the prefix that gRPC gives it.
func appendMessage(b, message []byte) []byte {
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(message)))
	return append(b, message...)
}

// drop forgets a stream that the client has given up, with its calls.
func (g *grpcConn) drop(st *grpcStream) {
	delete(g.streams, st.id)
	for len(st.calls) > 0 {
		st.calls[len(st.calls)-1].cancel()
	}
	st.held = nil
}

// pace sends what becomes due while the reader waits for the client.
func (g *grpcConn) pace() {
	n := timer.NewNap()
	for {
		g.mu.Lock()
		g.takeAdmitted()
		now := g.s.clock.Now()
		for !g.dead && len(g.due) > 0 && g.due[0].Due <= now {
			next := g.due[0]
			g.due.Remove(next)
			next.Value.step(now)
		}
		g.flush()
		if g.dead {
			g.mu.Unlock()
			return
		}
		g.wakeAt = math.MaxInt64
		next := now + int64(time.Hour)
		if len(g.due) > 0 {
			next, g.wakeAt = g.due[0].Due, g.due[0].Due
		}
		g.mu.Unlock()
		if !g.s.clock.Until(n, next, g.kick) && g.s.isClosed() {
			return
		}
	}
}

// later puts a call among those that wait for their time.
func (g *grpcConn) later(c *grpcCall) {
	c.turn.Due = c.due
	g.due.Push(&c.turn)
	g.startPacer()
	if c.due < g.wakeAt {
		g.wake()
	}
}

func (g *grpcConn) startPacer() {
	if !g.pacing {
		g.pacing = true
		g.s.active.Go(g.pace)
	}
}

// admit is called by the model, from any connection's work, when a queued call has its place.
func (g *grpcConn) admit(c *grpcCall) {
	g.placeMu.Lock()
	g.admitted = append(g.admitted, c)
	g.placeMu.Unlock()
	g.wake()
}

// takeAdmitted starts the calls that got their place.
func (g *grpcConn) takeAdmitted() {
	g.placeMu.Lock()
	calls := g.admitted
	g.admitted = nil
	g.placeMu.Unlock()
	for _, c := range calls {
		if c.queued {
			c.queued = false
			c.run(g.s.clock.Now())
		}
	}
}
