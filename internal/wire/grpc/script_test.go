package grpc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// peer is the server's end of a connection, played by a test.
type peer struct {
	conn   *net.TCPConn
	framer *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
}

// play starts a server whose n-th connection is played by the n-th script; the
// last one plays all that follow.
func play(t testing.TB, scripts ...func(p *peer)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				p := &peer{conn: c.(*net.TCPConn), framer: http2.NewFramer(c, c)}
				p.framer.AllowIllegalWrites = true
				p.enc = hpack.NewEncoder(&p.block)
				_ = c.SetDeadline(time.Now().Add(patience))
				if _, err := io.CopyN(io.Discard, c, int64(len(http2.ClientPreface))); err != nil {
					return
				}
				_ = p.framer.WriteSettings()
				scripts[min(n, len(scripts)-1)](p)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return &server{addr: l.Addr().String()}
}

// request waits for the next message on the connection; id 0: there is none.
func (p *peer) request() (stream uint32, text string) {
	for {
		f, err := p.framer.ReadFrame()
		if err != nil {
			return 0, ""
		}
		if d, ok := f.(*http2.DataFrame); ok && len(d.Data()) > prefix {
			return d.StreamID, string(d.Data()[prefix:])
		}
	}
}

func (p *peer) head(stream uint32, end bool, pairs ...string) {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	_ = p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.block.Bytes(), EndStream: end, EndHeaders: true})
}

// begin sends the headers of a response.
func (p *peer) begin(stream uint32, pairs ...string) {
	p.head(stream, false, append([]string{":status", "200", "content-type", contentType}, pairs...)...)
}

// framed is a message with its prefix.
func framed(text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
}

func (p *peer) say(stream uint32, text string) { _ = p.framer.WriteData(stream, false, framed(text)) }

// hold reads until the client leaves.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.conn) }

// answering answers all requests on a connection.
func answering(p *peer) {
	begun := map[uint32]bool{}
	for {
		stream, text := p.request()
		if stream == 0 {
			return
		}
		if !begun[stream] {
			begun[stream] = true
			p.begin(stream)
		}
		p.say(stream, "."+text+" fine")
	}
}

// However a stream breaks, its request fails with the reason, and the next one
// goes well on a new stream.
func TestHowStreamsBreak(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script func(p *peer, stream uint32)
		class  record.Class
		status int
		text   string
	}{
		{"reset", func(p *peer, s uint32) { _ = p.framer.WriteRSTStream(s, http2.ErrCodeInternal) }, record.Reset, 0, "INTERNAL_ERROR"},
		{"reset inside", func(p *peer, s uint32) {
			p.begin(s)
			p.say(s, ">a 1")
			_ = p.framer.WriteRSTStream(s, http2.ErrCodeCancel)
		}, record.Reset, 200, "reset the stream (RST_STREAM): CANCEL"},
		{"closed", func(p *peer, s uint32) { _ = p.conn.CloseWrite() }, record.Dropped, 0, "closed the connection without a response"},
		{"closed inside", func(p *peer, s uint32) {
			p.begin(s)
			p.say(s, ">a 1")
			_ = p.conn.CloseWrite()
		}, record.Truncated, 200, "closed the connection"},
		{"closed inside a message", func(p *peer, s uint32) {
			p.begin(s)
			_ = p.framer.WriteData(s, false, framed(".a complete")[:9])
			_ = p.conn.CloseWrite()
		}, record.Truncated, 200, "inside a response"},
		{"ended without trailers", func(p *peer, s uint32) {
			p.begin(s)
			_ = p.framer.WriteData(s, true, framed(">a 1"))
		}, record.Truncated, 200, "ended the stream before"},
		{"trailers only", func(p *peer, s uint32) {
			p.head(s, true, ":status", "200", "content-type", contentType, "grpc-status", "8", "grpc-message", "too%20much%2")
		}, record.GRPCStatus, 8, "RESOURCE_EXHAUSTED: too much%2"},
		{"no status", func(p *peer, s uint32) {
			p.begin(s)
			p.say(s, ">a 1")
			p.head(s, true, "x", "y")
		}, record.Truncated, 200, "without a grpc-status"},
		{"an odd status", func(p *peer, s uint32) {
			p.begin(s)
			p.head(s, true, "grpc-status", "zero")
		}, record.BadBody, 200, `grpc-status "zero"`},
		{"bytes that are no message", func(p *peer, s uint32) {
			p.begin(s)
			_ = p.framer.WriteData(s, false, []byte("<html>"))
		}, record.BadBody, 200, "begins with the byte 60"},
		{"compressed with nothing", func(p *peer, s uint32) {
			p.begin(s)
			_ = p.framer.WriteData(s, false, []byte{1, 0, 0, 0, 1, 7})
		}, record.BadBody, 200, "did not name the encoding"},
		{"compressed with what was not offered", func(p *peer, s uint32) {
			p.begin(s, "grpc-encoding", "zstd")
			_ = p.framer.WriteData(s, false, []byte{1, 0, 0, 0, 1, 7})
		}, record.BadBody, 200, `"zstd", which was not offered`},
		{"compressed and broken", func(p *peer, s uint32) {
			p.begin(s, "grpc-encoding", "gzip")
			_ = p.framer.WriteData(s, false, []byte{1, 0, 0, 0, 1, 7})
		}, record.BadBody, 200, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := true
			var mu sync.Mutex
			s := play(t, func(p *peer) {
				mu.Lock()
				breaks := first
				first = false
				mu.Unlock()
				if breaks {
					stream, _ := p.request()
					tt.script(p, stream)
				}
				answering(p)
			})
			c := s.client(t, Options{})
			wantFailure(t, ask(t, t.Context(), c, 0, "a", "a"), tt.class, tt.status, tt.text)
			wantOK(t, ask(t, t.Context(), c, 0, "b", "b"), ".b fine")
		})
	}
}

// Requests that the server says it has not looked at go again.
func TestRequestsThatGoAgain(t *testing.T) {
	for name, script := range map[string]func(p *peer, stream uint32){
		"refused": func(p *peer, s uint32) { _ = p.framer.WriteRSTStream(s, http2.ErrCodeRefusedStream) },
		"GOAWAY":  func(p *peer, s uint32) { _ = p.framer.WriteGoAway(0, http2.ErrCodeNo, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, func(p *peer) {
				stream, _ := p.request()
				script(p, stream)
				answering(p)
			}, answering)
			wantOK(t, ask(t, t.Context(), s.client(t, Options{}), 0, "a", "a"), ".a fine")
		})
	}
	s := play(t, func(p *peer) {
		for {
			stream, _ := p.request()
			if stream == 0 {
				return
			}
			_ = p.framer.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}
	})
	wantFailure(t, ask(t, t.Context(), s.client(t, Options{}), 0, "a", "a"), record.Reset, 0, "refused the stream")
}

// A request on a connection that the server ends without a response goes again only
// where it cannot have been taken, and the record says so.
func TestDroppedRequests(t *testing.T) {
	for name, soon := range map[string]time.Duration{"after some work": 0, "at once": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := play(t, func(p *peer) {
				stream, _ := p.request()
				p.begin(stream)
				p.say(stream, ".a fine")
				p.request() // and no response
				_ = p.conn.SetLinger(0)
			}, answering)
			c := s.client(t, Options{})
			c.soon = soon
			wantOK(t, ask(t, t.Context(), c, 0, "a", "a"), ".a fine")
			rec := ask(t, t.Context(), c, 0, "b", "b")
			if soon > 0 {
				wantOK(t, rec, ".b fine")
				if rec.Resent != 1 || rec.LastTry <= rec.Sent {
					t.Errorf("sent again %d times, at %v and %v", rec.Resent, rec.Sent, rec.LastTry)
				}
				return
			}
			wantFailure(t, rec, record.Dropped, 200, "")
			if rec.Resent != 0 || rec.Sent == record.Never {
				t.Errorf("sent again %d times, first at %v", rec.Resent, rec.Sent)
			}
		})
	}
}

// Messages come in any pieces: many in a frame, one over many frames, frames cut
// anywhere by the network.
func TestMessagesInPieces(t *testing.T) {
	var all []byte
	var text []string
	for i := range 40 {
		m := fmt.Sprintf(">a %d %s", i, strings.Repeat("x", i*i))
		if i == 39 {
			m = ".a last"
		}
		text = append(text, m)
		all = append(all, framed(m)...)
		if i%5 == 0 {
			all = append(all, framed("")...) // of nobody, and without an id
			text = append(text, "")
		}
	}
	for _, piece := range []int{1, 3, 7, 100, 16 << 10} {
		s := play(t, func(p *peer) {
			stream, _ := p.request()
			p.begin(stream)
			var wire bytes.Buffer
			f := http2.NewFramer(&wire, nil)
			for rest := all; len(rest) > 0; {
				n := min(piece, len(rest))
				_ = f.WriteData(stream, false, rest[:n])
				rest = rest[n:]
			}
			for b := wire.Bytes(); len(b) > 0; {
				n := min(piece*11+1, len(b))
				_, _ = p.conn.Write(b[:n])
				b = b[n:]
			}
			p.hold()
		})
		wantOK(t, ask(t, t.Context(), s.client(t, Options{}), 0, "a", "a"), strings.Join(text, "|"))
	}
}

// A request keeps to the windows of its stream and connection.
func TestStreamWindow(t *testing.T) {
	const size = 200_000
	s := play(t, func(p *peer) {
		got, stream := 0, uint32(0)
		for got < size+prefix {
			f, err := p.framer.ReadFrame()
			if err != nil {
				return
			}
			if d, ok := f.(*http2.DataFrame); ok {
				stream = d.StreamID
				if got += len(d.Data()); got%65_535 == 0 { // all that was allowed
					_ = p.framer.WriteWindowUpdate(0, 65_535)
					_ = p.framer.WriteWindowUpdate(stream, 65_535)
				}
			}
		}
		p.begin(stream)
		p.say(stream, ".a fine")
		p.hold()
	})
	c := s.client(t, Options{})
	wantOK(t, ask(t, t.Context(), c, 0, "a", "%s", strings.Repeat("x", size)), ".a fine")
}

// A request that is given up before it went leaves no bytes behind; one that went in
// part goes on, so that those after it can be read.
func TestGivenUpWhileWaitingForTheWindow(t *testing.T) {
	const size = 100_000 // more than the first window
	full, open := make(chan struct{}), make(chan struct{})
	s := play(t, func(p *peer) {
		var got []byte
		stream := uint32(0)
		for opened := false; ; {
			f, err := p.framer.ReadFrame()
			if err != nil {
				return
			}
			d, ok := f.(*http2.DataFrame)
			if !ok {
				continue
			}
			stream = d.StreamID
			if got = append(got, d.Data()...); !opened && len(got) == 65_535 {
				close(full)
				<-open
				opened = true
				_ = p.framer.WriteWindowUpdate(0, 1<<20)
				_ = p.framer.WriteWindowUpdate(stream, 1<<20)
				p.begin(stream)
			}
			for len(got) >= prefix {
				n := prefix + int(binary.BigEndian.Uint32(got[1:]))
				if len(got) < n {
					break
				}
				if m := string(got[prefix:n]); len(m) < 10 {
					p.say(stream, "."+m+" fine")
				}
				got = got[n:]
			}
		}
	})
	c := s.client(t, Options{Streams: 1, Limits: timedconn.Timeouts{Request: 5 * time.Second}})
	var wg sync.WaitGroup
	ctx, cancel := newCancel(t)
	wg.Go(func() {
		wantFailure(t, ask(t, ctx, c, 0, "big", "%s", strings.Repeat("x", size)), record.Cancelled, 0, "stopped")
	})
	<-full // as much of it has gone as may, and nothing of those behind it
	wg.Go(func() { wantFailure(t, ask(t, ctx, c, 1, "lost", "lost"), record.Cancelled, 0, "stopped") })
	waitFor(t, c, "lost")
	var last sync.WaitGroup
	last.Go(func() { wantOK(t, ask(t, t.Context(), c, 2, "kept", "kept"), ".kept fine") })
	waitFor(t, c, "kept")
	cancel()
	wg.Wait()
	close(open)
	last.Wait()
}

// A silent server is pinged, and given up if it stays silent.
func TestKeepAlive(t *testing.T) {
	pings := make(chan struct{}, 100)
	s := play(t, func(p *peer) {
		answered := 0
		for {
			f, err := p.framer.ReadFrame()
			if err != nil {
				return
			}
			if f, ok := f.(*http2.PingFrame); ok && !f.IsAck() {
				pings <- struct{}{}
				if answered++; answered <= 2 {
					_ = p.framer.WritePing(true, f.Data)
				}
			}
		}
	})
	n := 0
	for timeout := 150 * time.Millisecond; n < 3 && timeout < patience; timeout *= 2 { // until the machine answers two in time
		c := s.client(t, Options{KeepAlive: 15 * time.Millisecond, KeepAliveTimeout: timeout})
		rec := ask(t, t.Context(), c, 0, "a", "a")
		wantFailure(t, rec, record.Reset, 0, "did not answer a PING")
		for n = 0; len(pings) > 0; n++ {
			<-pings
		}
	}
	if n != 3 {
		t.Errorf("%d pings, want 3", n)
	}
}
