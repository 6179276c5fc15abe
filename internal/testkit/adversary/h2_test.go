//go:build linux

package adversary

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2conn is an HTTP/2 connection on the server's side. It is no more than the situations
// need: what goes out is framed and written in one write, so that a moment is that of a write.
type h2conn struct {
	server *server
	conn   net.Conn
	stamps *stampedReader
	frames *http2.Framer
	work   sync.WaitGroup

	mu      sync.Mutex
	room    sync.Cond // somebody may write again
	out     bytes.Buffer
	framer  *http2.Framer // writes into out
	fields  bytes.Buffer
	encoder *hpack.Encoder
	batch   int             // the frames that came since the socket was last empty
	from    map[uint32]bool // streams that they belong to
	calls   []*call         // that they began
	window  int64           // of the connection
	initial int64           // of a new stream
	streams map[uint32]*h2stream
	ended   bool
}

// h2stream is one request and its response.
type h2stream struct {
	conn    *h2conn
	id      uint32
	window  int64
	header  http.Header
	method  string
	path    string
	arrived time.Time
	body    []byte
	status  string // of the head that goes ahead of the next data; empty: it is out
	kind    string
	ended   bool
}

// serveH2 serves a connection to its end.
func (s *server) serveH2(conn net.Conn, stamps *stampedReader) {
	preface := make([]byte, len(http2.ClientPreface))
	for n := 0; n < len(preface); {
		m, err := conn.Read(preface[n:])
		if err != nil {
			return
		}
		n += m
	}
	h := &h2conn{server: s, conn: conn, stamps: stamps, window: 65535, initial: 65535, streams: map[uint32]*h2stream{},
		from: map[uint32]bool{}}
	h.room.L = &h.mu
	h.frames = http2.NewFramer(nil, conn)
	h.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.framer, h.encoder = http2.NewFramer(&h.out, nil), hpack.NewEncoder(&h.fields)
	h.control(func(f *http2.Framer) error {
		if err := f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1 << 16},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 24}); err != nil {
			return err
		}
		return f.WriteWindowUpdate(0, 1<<28)
	})
	nth := 0
	for {
		stamps.arm()
		frame, err := h.frames.ReadFrame()
		if err != nil || !h.take(frame, &nth) {
			break
		}
	}
	h.mu.Lock()
	h.ended = true
	h.room.Broadcast()
	h.mu.Unlock()
	h.work.Wait()
}

// note keeps account of frames that can have one stamp between them, because the kernel
// merged them while nobody read: the calls among them may have come earlier.
func (h *h2conn) note(frame http2.Frame) {
	if h.batch != h.stamps.empty {
		h.batch, h.from, h.calls = h.stamps.empty, map[uint32]bool{}, nil
	}
	h.from[frame.Header().StreamID] = true
	if len(h.from) > 1 {
		for _, c := range h.calls {
			c.unsure = true
		}
	}
}

// take acts on a frame; false: the connection is over.
func (h *h2conn) take(frame http2.Frame, nth *int) bool {
	h.note(frame)
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if f.IsAck() {
			return true
		}
		h.mu.Lock()
		if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
			for _, s := range h.streams {
				s.window += int64(v) - h.initial
			}
			h.initial = int64(v)
			h.room.Broadcast()
		}
		h.mu.Unlock()
		h.control(func(f *http2.Framer) error { return f.WriteSettingsAck() })
	case *http2.PingFrame:
		if !f.IsAck() {
			h.control(func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
		}
	case *http2.WindowUpdateFrame:
		h.mu.Lock()
		if s := h.streams[f.StreamID]; s != nil {
			s.window += int64(f.Increment)
		} else if f.StreamID == 0 {
			h.window += int64(f.Increment)
		}
		h.room.Broadcast()
		h.mu.Unlock()
	case *http2.RSTStreamFrame:
		h.mu.Lock()
		if s := h.streams[f.StreamID]; s != nil {
			s.ended = true
		}
		h.room.Broadcast()
		h.mu.Unlock()
	case *http2.MetaHeadersFrame:
		s := &h2stream{conn: h, id: f.StreamID, header: http.Header{}, method: f.PseudoValue("method"), path: f.PseudoValue("path"), arrived: h.stamps.at}
		for _, field := range f.RegularFields() {
			s.header.Add(field.Name, field.Value)
		}
		h.mu.Lock()
		s.window = h.initial
		h.streams[s.id] = s
		h.mu.Unlock()
		if f.StreamEnded() {
			h.begin(s, nth)
		}
	case *http2.DataFrame:
		h.mu.Lock()
		s := h.streams[f.StreamID]
		h.mu.Unlock()
		if s == nil {
			return true
		}
		s.body = append(s.body, f.Data()...)
		if f.StreamEnded() {
			h.begin(s, nth)
		}
	case *http2.GoAwayFrame:
		return false
	}
	return true
}

// begin answers a request that has come as a whole.
func (h *h2conn) begin(s *h2stream, nth *int) {
	if s.method != http.MethodPost {
		s.head(http.StatusOK, "application/json")
		_ = s.write([]byte(models), true)
		return
	}
	x := &call{server: h.server, conn: h.conn, over: s, nth: *nth, id: s.header.Get("X-Request-Id"), path: s.path, header: s.header, body: s.body, arrived: s.arrived, read: time.Now()}
	*nth++
	x.unsure = len(h.from) > 1
	h.calls = append(h.calls, x)
	h.work.Go(func() {
		h.server.take(x)
		_ = s.write(nil, true)
	})
}

// control writes a frame that belongs to no response.
func (h *h2conn) control(add func(*http2.Framer) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if add(h.framer) == nil {
		_, _ = h.conn.Write(h.out.Bytes())
	}
	h.out.Reset()
}

// head sets the head that goes ahead of what is written next.
func (s *h2stream) head(status int, kind string) { s.status, s.kind = strconv.Itoa(status), kind }

// write sends data as soon as the client has room for it, and the head ahead of it.
func (s *h2stream) write(b []byte, last bool) error {
	h := s.conn
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		for len(b) > 0 && min(h.window, s.window) <= 0 && !h.ended && !s.ended {
			h.room.Wait()
		}
		if h.ended || s.ended {
			return net.ErrClosed
		}
		if s.status != "" {
			h.fields.Reset()
			_ = h.encoder.WriteField(hpack.HeaderField{Name: ":status", Value: s.status})
			_ = h.encoder.WriteField(hpack.HeaderField{Name: "content-type", Value: s.kind})
			s.status = ""
			_ = h.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: h.fields.Bytes(), EndHeaders: true})
		}
		n := 0
		for n < len(b) && min(h.window, s.window) > 0 {
			k := int(min(int64(len(b)-n), 16384, h.window, s.window))
			_ = h.framer.WriteData(s.id, last && n+k == len(b), b[n:n+k])
			n, h.window, s.window = n+k, h.window-int64(k), s.window-int64(k)
		}
		if last && len(b) == 0 {
			_ = h.framer.WriteData(s.id, true, nil)
		}
		b = b[n:]
		s.ended = last && len(b) == 0
		_, err := h.conn.Write(h.out.Bytes())
		h.out.Reset()
		if err != nil || len(b) == 0 {
			return err
		}
	}
}

// over reports whether nobody waits for the response any more.
func (s *h2stream) over() bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.ended || s.conn.ended
}
