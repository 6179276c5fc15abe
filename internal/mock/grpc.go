package mock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/mock/timer"
)

// Sizes that a connection announces and keeps to.
const (
	frameHead     = 9
	maxFrameIn    = 16 << 10 // HTTP/2's own default
	windowIn      = 16 << 20 // what a client may send on a stream ahead of its use
	windowInConn  = 64 << 20
	giveBack      = 1 << 20 // used bytes after which the client may send as many more
	maxHeaderList = 256 << 10
	maxStreams    = 1 << 20
)

// grpcConn serves one connection that speaks gRPC. A loop of its own rather than
// grpc-go's server, for the same reasons as with HTTP/1.1: the time right before
// each write(2), one write for all that is due at a given time, and responses that can be
// broken anywhere.
//
// One goroutine reads and answers what is due at once. A second one is started when
// something has to wait, and sends what becomes due. Both work under mu.
type grpcConn struct {
	s    *Server
	wire *wire    // below TLS
	nc   net.Conn // wire, or TLS above it
	port int

	// The reader's own.
	in      []byte // what was read and not yet used is in[r:w]
	r, w    int
	decoder *hpack.Decoder
	fields  grpcHead // of the header block being decoded
	block   []byte   // of a header block in several frames
	blockOf uint32   // its stream; 0: none is open
	blockIs h2.Flags

	mu       sync.Mutex
	out      []byte
	batch    []*grpcCall // calls with events in out, or held back by flow control
	streams  map[uint32]*grpcStream
	last     uint32 // the highest stream that the client opened
	window   int64  // what may be sent on the connection
	initial  int64  // the window of new streams
	maxFrame int    // what the client takes
	used     int    // bytes read since the connection's window was last given back
	due      timer.Heap[*grpcCall]
	pacing   bool
	wakeAt   int64 // when the pacer wakes
	dead     bool
	free     []*grpcCall
	reqs     repository.Request // of the message being read
	unpacked []byte             // a message that came compressed

	kick     chan struct{}
	placeMu  sync.Mutex
	admitted []*grpcCall // calls that got their place in the model's batch
}

// ServeGRPC accepts connections that speak gRPC until the listener fails or the
// server is closed; the latter is no error. It may be called with several listeners.
func (s *Server) ServeGRPC(l net.Listener) error { return s.accept(l, s.serveGRPC) }

func newGRPCConn(s *Server, w *wire, nc net.Conn) *grpcConn {
	g := &grpcConn{
		s: s, wire: w, nc: nc, port: remotePort(w.RemoteAddr()), in: make([]byte, 32<<10),
		streams: make(map[uint32]*grpcStream), window: 65535, initial: 65535, maxFrame: 16 << 10,
		kick: make(chan struct{}, 1), out: make([]byte, 0, 4096),
	}
	g.decoder = hpack.NewDecoder(4096, g.fields.addField)
	g.decoder.SetMaxStringLength(maxHeaderList)
	return g
}

func (s *Server) serveGRPC(w *wire) {
	nc, err := secure(w, s.grpcTLS)
	if err != nil {
		return
	}
	g := newGRPCConn(s, w, nc)
	s.mu.Lock()
	s.grpcs[g] = struct{}{}
	s.mu.Unlock()
	err = g.serve()
	s.mu.Lock()
	delete(s.grpcs, g)
	s.mu.Unlock()
	g.mu.Lock()
	if err != nil && !g.dead {
		g.goAway(err)
	}
	g.die()
	g.mu.Unlock()
	_ = nc.Close()
}

// die ends all that runs on the connection. mu is held.
func (g *grpcConn) die() {
	g.dead = true
	for _, st := range g.streams {
		g.drop(st)
	}
	for _, c := range g.batch {
		c.settled(false)
	}
	g.batch = g.batch[:0]
	g.wake()
}

// wake makes the pacer look again.
func (g *grpcConn) wake() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// connError is a client's breach of HTTP/2, which ends the connection.
type connError struct {
	code h2.ErrCode
	why  string
}

func (e connError) Error() string { return fmt.Sprintf("%v: %s", e.code, e.why) }

// serve reads frames until the connection ends.
func (g *grpcConn) serve() error {
	g.mu.Lock()
	g.out = appendSettings(g.out)
	g.flush()
	g.mu.Unlock()
	for preface := h2.ClientPreface; len(preface) > 0; {
		if g.r == g.w {
			if err := g.fill(1); err != nil {
				return err
			}
		}
		n := min(len(preface), g.w-g.r)
		if string(g.in[g.r:g.r+n]) != preface[:n] {
			return connError{h2.ErrCodeProtocol, "bad connection preface"}
		}
		preface = preface[n:]
		g.r += n
	}
	for {
		read := time.Now()
		g.mu.Lock()
		err := g.frames(read)
		g.flush()
		dead := g.dead
		g.mu.Unlock()
		if err != nil || dead {
			return err
		}
		if err := g.fill(1); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// fill reads at least once, with room for n bytes and more.
func (g *grpcConn) fill(n int) error {
	if g.r == g.w {
		g.r, g.w = 0, 0
	}
	if g.w+n > len(g.in) || len(g.in)-g.w < 4<<10 {
		g.w = copy(g.in, g.in[g.r:g.w])
		g.r = 0
	}
	k, err := g.nc.Read(g.in[g.w:])
	g.w += k
	if k > 0 {
		return nil
	}
	return err
}

func (g *grpcConn) frames(read time.Time) error {
	for g.w-g.r >= frameHead {
		b := g.in[g.r:g.w]
		size := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		if size > maxFrameIn {
			return connError{h2.ErrCodeFrameSize, "frame larger than SETTINGS_MAX_FRAME_SIZE"}
		}
		if len(b) < frameHead+size {
			return nil
		}
		kind, flags, id := h2.FrameType(b[3]), h2.Flags(b[4]), binary.BigEndian.Uint32(b[5:])&(1<<31-1)
		g.r += frameHead + size
		if err := g.frame(kind, flags, id, b[frameHead:frameHead+size], read); err != nil {
			return err
		}
		if g.dead {
			return nil
		}
	}
	return nil
}

func (g *grpcConn) frame(kind h2.FrameType, flags h2.Flags, id uint32, p []byte, read time.Time) error {
	if g.blockOf != 0 && (kind != h2.FrameContinuation || id != g.blockOf) {
		return connError{h2.ErrCodeProtocol, "header block interrupted by another frame"}
	}
	switch kind {
	case h2.FrameData:
		return g.data(flags, id, p, read)
	case h2.FrameHeaders:
		return g.headers(flags, id, p, read)
	case h2.FrameContinuation:
		if g.blockOf == 0 {
			return connError{h2.ErrCodeProtocol, "CONTINUATION without HEADERS"}
		}
		return g.headerBlock(flags, p, read)
	case h2.FrameSettings:
		return g.settings(flags, p)
	case h2.FramePing:
		if len(p) != 8 {
			return connError{h2.ErrCodeFrameSize, "PING frame is not 8 bytes long"}
		}
		if flags&h2.FlagPingAck == 0 {
			g.out = appendFrameHead(g.out, 8, h2.FramePing, h2.FlagPingAck, 0)
			g.out = append(g.out, p...)
		}
	case h2.FrameWindowUpdate:
		return g.windowUpdate(id, p)
	case h2.FrameRSTStream:
		if st := g.streams[id]; st != nil {
			g.drop(st)
		}
	case h2.FramePushPromise:
		return connError{h2.ErrCodeProtocol, "PUSH_PROMISE from a client"}
	}
	return nil
}

// unpad takes the padding off.
func unpad(flags h2.Flags, p []byte) ([]byte, error) {
	if flags&h2.FlagDataPadded == 0 {
		return p, nil
	}
	if len(p) == 0 || int(p[0]) > len(p)-1 {
		return nil, connError{h2.ErrCodeProtocol, "padding longer than the frame"}
	}
	return p[1 : len(p)-int(p[0])], nil
}

func (g *grpcConn) headers(flags h2.Flags, id uint32, p []byte, read time.Time) error {
	if id&1 == 0 {
		return connError{h2.ErrCodeProtocol, "even stream ID from a client"}
	}
	p, err := unpad(flags, p)
	if err != nil {
		return err
	}
	if flags&h2.FlagHeadersPriority != 0 {
		if len(p) < 5 {
			return connError{h2.ErrCodeFrameSize, "truncated priority"}
		}
		p = p[5:]
	}
	g.fields = grpcHead{}
	g.block, g.blockOf, g.blockIs = g.block[:0], id, flags
	return g.headerBlock(flags, p, read)
}

// headerBlock takes in a part of a header block, and opens the stream after the last.
func (g *grpcConn) headerBlock(flags h2.Flags, p []byte, read time.Time) error {
	if flags&h2.FlagHeadersEndHeaders == 0 || len(g.block) > 0 {
		if g.block = append(g.block, p...); len(g.block) > maxHeaderList {
			return connError{h2.ErrCodeEnhanceYourCalm, "header block too long"}
		}
		if flags&h2.FlagHeadersEndHeaders == 0 {
			return nil
		}
		p = g.block
	}
	id := g.blockOf
	g.blockOf = 0
	if _, err := g.decoder.Write(p); err != nil {
		return connError{h2.ErrCodeCompression, err.Error()}
	}
	if err := g.decoder.Close(); err != nil {
		return connError{h2.ErrCodeCompression, err.Error()}
	}
	end := g.blockIs&h2.FlagHeadersEndStream != 0
	if st := g.streams[id]; st != nil {
		// The trailers of a request, which say nothing here.
		if end {
			g.halfClosed(st)
		}
		return nil
	}
	if id <= g.last {
		return nil // of a stream that is over
	}
	g.last = id
	g.open(id, end, read)
	return nil
}

func (g *grpcConn) settings(flags h2.Flags, p []byte) error {
	if flags&h2.FlagSettingsAck != 0 {
		return nil
	}
	if len(p)%6 != 0 {
		return connError{h2.ErrCodeFrameSize, "truncated SETTINGS frame"}
	}
	for ; len(p) > 0; p = p[6:] {
		v := binary.BigEndian.Uint32(p[2:])
		switch h2.SettingID(binary.BigEndian.Uint16(p)) {
		case h2.SettingInitialWindowSize:
			if v > 1<<31-1 {
				return connError{h2.ErrCodeFlowControl, "SETTINGS_INITIAL_WINDOW_SIZE out of range"}
			}
			delta := int64(v) - g.initial
			g.initial = int64(v)
			for _, st := range g.streams {
				st.window += delta
			}
			defer g.pumpAll()
		case h2.SettingMaxFrameSize:
			if v < 16<<10 || v > 1<<24-1 {
				return connError{h2.ErrCodeProtocol, "SETTINGS_MAX_FRAME_SIZE out of range"}
			}
			g.maxFrame = int(v)
		}
	}
	g.out = appendFrameHead(g.out, 0, h2.FrameSettings, h2.FlagSettingsAck, 0)
	return nil
}

func (g *grpcConn) windowUpdate(id uint32, p []byte) error {
	if len(p) != 4 {
		return connError{h2.ErrCodeFrameSize, "WINDOW_UPDATE frame is not 4 bytes long"}
	}
	n := int64(binary.BigEndian.Uint32(p) & (1<<31 - 1))
	if id == 0 {
		if g.window += n; g.window > 1<<31-1 {
			return connError{h2.ErrCodeFlowControl, "connection window too large"}
		}
		g.pumpAll()
		return nil
	}
	if st := g.streams[id]; st != nil {
		st.window += n
		g.pump(st)
	}
	return nil
}

func (g *grpcConn) data(flags h2.Flags, id uint32, p []byte, read time.Time) error {
	if g.used += len(p); g.used >= giveBack {
		g.out = appendWindowUpdate(g.out, 0, g.used)
		g.used = 0
	}
	st := g.streams[id]
	if st == nil {
		return nil // a stream that is over
	}
	size := len(p)
	p, err := unpad(flags, p)
	if err != nil {
		return err
	}
	end := flags&h2.FlagDataEndStream != 0
	if st.used += size; st.used >= giveBack && !end {
		g.out = appendWindowUpdate(g.out, id, st.used)
		st.used = 0
	}
	g.messages(st, p, read)
	if end && g.streams[id] == st {
		g.halfClosed(st)
	}
	return nil
}

// shutDown tells the client that the server is shutting down. A client that does not read holds it up for no longer than patience.
func (g *grpcConn) shutDown() {
	const patience = 100 * time.Millisecond
	_ = g.nc.SetWriteDeadline(time.Now().Add(patience))
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.dead {
		g.goAway(nil)
	}
}

// goAway tells the client why the connection ends.
func (g *grpcConn) goAway(err error) {
	code, why := h2.ErrCodeNo, ""
	var e connError
	if errors.As(err, &e) {
		code, why = e.code, e.why
	}
	g.out = appendFrameHead(g.out, 8+len(why), h2.FrameGoAway, 0, 0)
	g.out = binary.BigEndian.AppendUint32(g.out, g.last)
	g.out = binary.BigEndian.AppendUint32(g.out, uint32(code))
	g.out = append(g.out, why...)
	g.flush()
}
