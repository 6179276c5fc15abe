package h2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"inferometer/internal/exchange"
	"inferometer/internal/netclock"
	"inferometer/internal/record"
)

// peer is the server's end of a connection, played by a test. Its framing is not ours.
type peer struct {
	t      *testing.T
	conn   *net.TCPConn
	framer *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
	dec    *hpack.Decoder
}

// play starts a server whose n-th connection is played by the n-th script; the
// last one plays all that follow.
func play(t *testing.T, scripts ...func(p *peer)) target {
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
				p := &peer{t: t, conn: c.(*net.TCPConn), framer: http2.NewFramer(c, c)}
				p.framer.AllowIllegalWrites = true
				p.enc = hpack.NewEncoder(&p.block)
				p.dec = hpack.NewDecoder(4096, nil)
				_ = c.SetDeadline(time.Now().Add(patience))
				hello := make([]byte, len(preface))
				if _, err := io.ReadFull(c, hello); err != nil || string(hello) != preface {
					t.Errorf("the client began with %q, error %v", hello, err)
					return
				}
				scripts[min(n, len(scripts)-1)](p)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return target{url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/p"}}
}

// settings greets the client.
func (p *peer) settings(s ...http2.Setting) { _ = p.framer.WriteSettings(s...) }

// next is the client's next frame of a type; others are passed over.
func next[F http2.Frame](p *peer) (f F, ok bool) {
	for {
		any, err := p.framer.ReadFrame()
		if err != nil {
			return f, false
		}
		if f, ok := any.(F); ok {
			return f, true
		}
	}
}

// request waits for the headers of a request.
func (p *peer) request() (id uint32, fields map[string]string) {
	h, ok := next[*http2.HeadersFrame](p)
	if !ok {
		return 0, nil
	}
	fields = make(map[string]string)
	list, err := p.dec.DecodeFull(h.HeaderBlockFragment())
	if err != nil {
		p.t.Errorf("the client's headers: %v", err)
	}
	for _, f := range list {
		fields[f.Name] = f.Value
	}
	return h.StreamID, fields
}

// encode makes a block of headers of names and values.
func (p *peer) encode(pairs ...string) []byte {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return p.block.Bytes()
}

// head sends the headers of an answer.
func (p *peer) head(id uint32, end bool, pairs ...string) {
	_ = p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.encode(pairs...), EndStream: end, EndHeaders: true})
}

func (p *peer) data(id uint32, end bool, text string) {
	_ = p.framer.WriteData(id, end, []byte(text))
}

// answer answers a request in full.
func (p *peer) answer(id uint32, text string) {
	p.head(id, false, ":status", "200")
	p.data(id, true, text)
}

// hold reads until the client leaves.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.conn) }

// echo answers every request with its name.
func echo(p *peer) {
	p.settings()
	for {
		id, fields := p.request()
		if id == 0 {
			return
		}
		p.answer(id, "again "+fields["name"])
	}
}

func name(s string) exchange.Field { return exchange.Field{Name: "Name", Value: s} }

func TestFarewellAheadOfARequest(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		p.request()
		_ = p.framer.WriteGoAway(0, http2.ErrCodeNo, nil)
		p.hold()
	}, echo)
	rec := to.do(t.Context(), to.client(t, netclock.Limits{}, 8), 0, "body", name("a"))
	wantOK(t, rec, "again a")
	if rec.Conn.Reused || rec.Conn.Connect == 0 {
		t.Errorf("connection %+v, want a new one", rec.Conn)
	}
}

func TestFarewellBetweenTwoRequests(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		first, fields := p.request()
		p.request()
		_ = p.framer.WriteGoAway(first, http2.ErrCodeNo, nil)
		p.answer(first, "seen "+fields["name"])
		p.hold() // the client closes when it has its answer
	}, echo)
	c := to.client(t, netclock.Limits{}, 8)
	if err := c.Warm(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	bodies := make([]string, 2)
	for slot := range bodies {
		wg.Go(func() {
			rec := to.do(t.Context(), c, slot, "", name("a"))
			if rec.Failure != nil {
				t.Errorf("failure %+v", rec.Failure)
			}
			bodies[slot] = string(rec.Body)
		})
	}
	wg.Wait()
	if all := strings.Join(bodies, ","); all != "seen a,again a" && all != "again a,seen a" {
		t.Errorf("got %q", all)
	}
}

func TestRefusedStreams(t *testing.T) {
	refuse := func(p *peer) {
		p.settings()
		for {
			id, _ := p.request()
			if id == 0 {
				return
			}
			_ = p.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}
	}
	to := play(t, refuse)
	wantFailure(t, to.do(t.Context(), to.client(t, netclock.Limits{}, 8), 0, ""), record.Reset, "refused the stream")
	to = play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		_ = p.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		id, fields := p.request()
		p.answer(id, "second try of "+fields["name"])
		p.hold()
	})
	wantOK(t, to.do(t.Context(), to.client(t, netclock.Limits{}, 8), 0, "", name("a")), "second try of a")
}

// A server that closes an idle connection as a request sets out is no failure.
func TestIdleConnectionClosedByTheServer(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		p.answer(id, "first")
		p.request() // and no answer
	}, echo)
	c := to.client(t, netclock.Limits{}, 8)
	wantOK(t, to.do(t.Context(), c, 0, ""), "first")
	cn := (*c.conns.Load())[0]
	cn.mu.Lock()
	cn.idle -= 2 * staleAfter
	cn.mu.Unlock()
	wantOK(t, to.do(t.Context(), c, 0, "", name("a")), "again a")
}

func TestHowConnectionsEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script func(p *peer, id uint32) (abrupt bool)
		class  record.Class
		text   string
	}{
		{"closed without an answer", func(p *peer, id uint32) bool { return false }, record.Reset, "closed the connection without an answer"},
		{"closed inside an answer", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200")
			p.data(id, false, "be")
			return false
		}, record.Truncated, "inside an answer"},
		{"closed inside a frame", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200")
			_, _ = p.conn.Write(append(appendFrame(nil, 10, frameData, flagEndStream, id), "half"...))
			return false
		}, record.Truncated, "inside an answer"},
		{"with a reason", func(p *peer, id uint32) bool {
			_ = p.framer.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte("too many pings"))
			return false
		}, record.Reset, `it said ENHANCE_YOUR_CALM "too many pings"`},
		{"reset by TCP", func(p *peer, id uint32) bool {
			_ = p.conn.SetLinger(0)
			return true
		}, record.Reset, "reset"},
		{"stream reset", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200")
			_ = p.framer.WriteRSTStream(id, http2.ErrCodeInternal)
			return false
		}, record.Reset, "INTERNAL_ERROR"},
		{"an unknown reason", func(p *peer, id uint32) bool {
			_ = p.framer.WriteRSTStream(id, 77)
			return false
		}, record.Reset, "error code 77"},
		{"fewer bytes than promised", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200", "content-length", "10")
			p.data(id, true, "12345")
			return false
		}, record.Truncated, "5 bytes before its Content-Length"},
		{"more bytes than promised", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200", "content-length", "3")
			p.data(id, true, "12345")
			return false
		}, record.BadBody, "longer than its Content-Length"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := play(t, func(p *peer) {
				p.settings()
				id, _ := p.request()
				if next[*http2.DataFrame](p); tt.script(p, id) {
					return
				}
				_ = p.conn.CloseWrite()
				p.hold()
			})
			rec := to.do(t.Context(), to.client(t, netclock.Limits{}, 8), 0, "body")
			wantFailure(t, rec, tt.class, tt.text)
			if rec.Sent == record.Never || rec.End < rec.Sent || rec.Failure.At < rec.End {
				t.Errorf("sent %v, ended %v, noticed %v", rec.Sent, rec.End, rec.Failure.At)
			}
		})
	}
}

// Whatever a server does to the protocol, its requests fail with the reason.
func TestBreaches(t *testing.T) {
	type script = func(p *peer, id uint32)
	raw := func(kind, flags byte, stream uint32, payload string) script {
		return func(p *peer, id uint32) {
			if stream == 1 {
				stream = id
			}
			_ = p.framer.WriteRawFrame(http2.FrameType(kind), http2.Flags(flags), stream, []byte(payload))
		}
	}
	then := func(all ...script) script {
		return func(p *peer, id uint32) {
			for _, f := range all {
				f(p, id)
			}
		}
	}
	head := func(p *peer, id uint32) { p.head(id, false, ":status", "200") }
	for text, s := range map[string]script{
		"a push":                        raw(framePush, 0, 1, "\x00\x00\x00\x02"),
		"data on no stream":             raw(frameData, 0, 0, "x"),
		"which nobody opened":           raw(frameData, 0, 7, "x"),
		"for stream 2, which nobody":    raw(frameHeaders, flagEndHeaders, 2, "\x88"),
		"data ahead of the headers":     raw(frameData, 0, 1, "x"),
		"more padding than payload":     then(head, raw(frameData, flagPadded, 1, "\x09x")),
		"without the length of its pad": then(head, raw(frameData, flagPadded, 1, "")),
		"headers with more padding":     raw(frameHeaders, flagPadded|flagEndHeaders, 1, "\x09\x88"),
		"padded headers without":        raw(frameHeaders, flagPadded|flagEndHeaders, 1, ""),
		"headers of 2 bytes":            raw(frameHeaders, flagPriority|flagEndHeaders, 1, "\x00\x00"),
		"a frame of 16385 bytes":        raw(frameData, 0, 1, strings.Repeat("x", maxFrame+1)),
		"headers that cannot be read":   raw(frameHeaders, flagEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"),
		"an answer without a status":    raw(frameHeaders, flagEndHeaders, 1, ""),
		"that ends before its status":   func(p *peer, id uint32) { p.head(id, true, ":status", "103") },
		`the status "2x0"`:              func(p *peer, id uint32) { p.head(id, false, ":status", "2x0") },
		`the Content-Length "-1"`:       func(p *peer, id uint32) { p.head(id, false, ":status", "200", "content-length", "-1") },
		"in the middle of an answer":    then(head, head),
		"a continuation of nothing":     raw(frameContinuation, flagEndHeaders, 1, "\x88"),
		"inside headers":                then(raw(frameHeaders, 0, 1, ""), raw(framePing, 0, 0, "12345678")),
		"settings on a stream":          raw(frameSettings, 0, 1, ""),
		"settings of 5 bytes":           raw(frameSettings, 0, 0, "12345"),
		"settings of 6 bytes":           raw(frameSettings, flagAck, 0, "123456"),
		"an initial window of":          raw(frameSettings, 0, 0, "\x00\x04\xff\xff\xff\xff"),
		"a largest frame of 1 bytes":    raw(frameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01"),
		"a ping of 3 bytes":             raw(framePing, 0, 0, "123"),
		"a reset of 3 bytes":            raw(frameReset, 0, 1, "123"),
		"a farewell of 7 bytes":         raw(frameGoAway, 0, 0, "1234567"),
		"a window update of 3 bytes":    raw(frameWindow, 0, 0, "123"),
		"a window update of 0 bytes":    raw(frameWindow, 0, 0, "\x00\x00\x00\x00"),
		"a window update of 2147483647": raw(frameWindow, 0, 0, "\x7f\xff\xff\xff"),
		"a bad window update":           raw(frameWindow, 0, 1, "\x7f\xff\xff\xff"),
		"headers longer than": func(p *peer, id uint32) {
			raw(frameHeaders, 0, 1, "")(p, id)
			for range maxBlock/maxFrame + 1 {
				raw(frameContinuation, 0, 1, strings.Repeat("\x00", maxFrame))(p, id)
			}
		},
	} {
		t.Run(text, func(t *testing.T) {
			to := play(t, func(p *peer) {
				p.settings()
				id, _ := p.request()
				s(p, id)
				_ = p.conn.CloseWrite()
				p.hold()
			})
			wantFailure(t, to.do(t.Context(), to.client(t, netclock.Limits{}, 8), 0, "body"), record.BadBody, text)
		})
	}
	t.Run("first frame", func(t *testing.T) {
		to := play(t, func(p *peer) {
			_ = p.framer.WritePing(false, [8]byte{})
			p.hold()
		})
		wantFailure(t, to.do(t.Context(), to.client(t, netclock.Limits{}, 8), 0, ""), record.BadBody, "must be settings")
	})
	t.Run("pings without end", func(t *testing.T) {
		to := play(t, func(p *peer) {
			p.settings()
			for p.framer.WritePing(false, [8]byte{}) == nil { // and reads nothing
			}
		})
		wantFailure(t, to.do(t.Context(), to.client(t, netclock.Limits{Request: patience}, 8), 0, strings.Repeat("x", 8<<20)), record.BadBody, "more questions")
	})
}

// All that the protocol allows and an ordinary server does not do.
func TestOddButLawful(t *testing.T) {
	to := play(t, func(p *peer) {
		_ = p.framer.WriteRawFrame(frameSettings, 0, 0, []byte("\x00\x99\x00\x00\x00\x01")) // a setting that nobody knows
		id, _ := p.request()
		_ = p.framer.WriteRawFrame(0x77, 0xff, 0, []byte("a frame of a type that nobody knows"))
		_ = p.framer.WritePriority(id, http2.PriorityParam{Weight: 3})
		_ = p.framer.WritePing(false, [8]byte{1, 2, 3})
		if f, ok := next[*http2.PingFrame](p); !ok || !f.IsAck() || f.Data != [8]byte{1, 2, 3} {
			t.Errorf("answer to a ping: %v", f)
		}
		p.head(id, false, ":status", "103", "link", "x")
		block := bytes.Clone(p.encode(":status", "200", "content-type", "text/odd", "content-length", "8"))
		_ = p.framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: id, BlockFragment: block[:1], PadLength: 7, Priority: http2.PriorityParam{Weight: 9, StreamDep: 5},
		})
		_ = p.framer.WriteContinuation(id, false, nil)
		_ = p.framer.WriteContinuation(id, true, block[1:])
		_ = p.framer.WriteDataPadded(id, false, []byte("pad"), make([]byte, 200))
		_ = p.framer.WriteDataPadded(id, false, nil, make([]byte, 5))
		_ = p.framer.WriteDataPadded(id, false, []byte("d"), []byte{})
		p.data(id, false, "")
		p.data(id, false, "more")
		p.head(id, true, "x-trailer", "1")
		_ = p.framer.WriteWindowUpdate(id, 5) // for a stream that has ended
		_ = p.framer.WriteRSTStream(id, http2.ErrCodeNo)
		p.data(id, true, "ghost")
		id, _ = p.request()
		p.answer(id, "next")
		p.hold()
	})
	c := to.client(t, netclock.Limits{}, 8)
	rec := to.do(t.Context(), c, 0, "body")
	wantOK(t, rec, "padd"+"more")
	if rec.ContentType != "text/odd" || rec.Status != 200 {
		t.Errorf("status %d, type %q", rec.Status, rec.ContentType)
	}
	wantOK(t, to.do(t.Context(), c, 0, ""), "next")
}

// Bodies keep to the windows of stream and connection, through all their changes.
func TestSendWindows(t *testing.T) {
	body := pattern(200_000)
	took := func(p *peer, id uint32, got *strings.Builder, n int) (ended bool) {
		for got.Len() < n {
			f, ok := next[*http2.DataFrame](p)
			if !ok || f.StreamID != id {
				p.t.Errorf("after %d bytes: %v", got.Len(), f)
				return true
			}
			got.Write(f.Data())
			ended = f.StreamEnded()
		}
		if got.Len() != n {
			p.t.Errorf("the client sent %d bytes where %d were allowed", got.Len(), n)
		}
		// Whatever it sends on, it does before it answers this.
		_ = p.framer.WritePing(false, [8]byte{})
		for {
			switch f, err := p.framer.ReadFrame(); f := f.(type) {
			case *http2.DataFrame:
				p.t.Errorf("%d bytes beyond the window of %d", f.Length, n)
			case *http2.PingFrame:
				return ended
			default:
				if err != nil {
					p.t.Error(err)
					return true
				}
			}
		}
	}
	to := play(t, func(p *peer) {
		window := func(n uint32) http2.Setting { return http2.Setting{ID: http2.SettingInitialWindowSize, Val: n} }
		p.settings(window(10))
		if _, ok := next[*http2.SettingsFrame](p); !ok {
			return
		}
		for { // the request goes out once the client knows the window
			if f, ok := next[*http2.SettingsFrame](p); !ok || f.IsAck() {
				break
			}
		}
		id, _ := p.request()
		var got strings.Builder
		took(p, id, &got, 10)
		p.settings(window(4)) // six less than nothing
		_ = p.framer.WriteWindowUpdate(id, 16)
		took(p, id, &got, 20)
		p.settings(window(1 << 20)) // now the connection's window of 65,535 bounds
		took(p, id, &got, 65_535)
		_ = p.framer.WriteWindowUpdate(0, 100)
		took(p, id, &got, 65_635)
		_ = p.framer.WriteWindowUpdate(0, 1<<20)
		if !took(p, id, &got, len(body)) {
			p.t.Error("the body did not end")
		}
		if got.String() != body {
			p.t.Error("another body came")
		}
		p.answer(id, "done")
		p.hold()
	})
	c := to.client(t, netclock.Limits{}, 8)
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	rec := to.do(t.Context(), c, 0, body)
	wantOK(t, rec, "done")
}

// A server that keeps no table of headers gets them in full each time.
func TestServerWithoutHeaderTable(t *testing.T) {
	to := play(t, func(p *peer) {
		p.dec.SetAllowedMaxDynamicTableSize(4096)
		p.settings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
		for i := range 3 {
			id, fields := p.request()
			if want := map[string]string{
				":method": "POST", ":scheme": "http", ":path": "/p", ":authority": fields[":authority"],
				"content-type": "text/plain", "name": "a", "content-length": "4",
			}; fmt.Sprint(fields) != fmt.Sprint(want) || fields[":authority"] == "" {
				p.t.Errorf("request %d came with %v", i, fields)
			}
			p.dec.SetAllowedMaxDynamicTableSize(0) // from the first block after the acknowledgement on
			p.answer(id, "ok")
		}
		p.hold()
	})
	c := to.client(t, netclock.Limits{}, 8)
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wantOK(t, to.do(t.Context(), c, 0, "body", name("a")), "ok")
	}
}

func TestServerThatAllowsNoStreams(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		for {
			id, _ := p.request()
			if id == 0 {
				return
			}
			_ = p.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}
	})
	c := to.client(t, netclock.Limits{}, 8)
	if err := c.Warm(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "no HTTP/2 streams") {
		t.Errorf("warming up: %v", err)
	}
	if rec := to.do(t.Context(), c, 0, ""); rec.Failure == nil {
		t.Error("a request went well")
	}
}

// A server that stops reading holds up neither limits nor the end.
func TestServerThatDoesNotRead(t *testing.T) {
	release := make(chan struct{})
	to := play(t, func(p *peer) {
		p.settings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
		_ = p.framer.WriteWindowUpdate(0, 1<<30)
		<-release
	})
	t.Cleanup(func() { close(release) })
	c := to.client(t, netclock.Limits{Request: 50 * time.Millisecond}, 8)
	if err := c.Warm(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for slot := range 3 {
		wg.Go(func() {
			rec := to.do(t.Context(), c, slot, strings.Repeat("x", 32<<20))
			if rec.Failure == nil || rec.Failure.Class != record.TimedOut || rec.Written != record.Never {
				t.Errorf("written %v, failure %+v", rec.Written, rec.Failure)
			}
		})
	}
	wg.Wait()
}

// Frames of a stream that share a read count as merged if the kernel may have put
// them together, and do not if they came in one segment.
func TestMergedReads(t *testing.T) {
	for _, together := range []bool{true, false} {
		headed, proceed, sent := make(chan uint32, 1), make(chan struct{}), make(chan struct{})
		to := play(t, func(p *peer) {
			p.settings()
			id, _ := p.request()
			p.head(id, false, ":status", "200")
			headed <- id
			<-proceed
			var all []byte
			for i := range 4 {
				frame := append(appendFrame(nil, 9, frameData, byte(i/3*flagEndStream), id), "data: x\n\n"...)
				if all = append(all, frame...); !together {
					_, _ = p.conn.Write(frame)
				}
			}
			if together {
				_, _ = p.conn.Write(all)
			}
			close(sent)
			p.hold()
		})
		c := to.client(t, netclock.Limits{}, 8)
		if err := c.Warm(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		got := make(chan *record.Record)
		go func() { got <- to.do(t.Context(), c, 0, "") }()
		cn, id := (*c.conns.Load())[0], <-headed
		for seen := false; !seen; { // until the headers have been read
			cn.mu.Lock()
			i := cn.find(id)
			if seen = i >= 0 && cn.live[i].headed; !seen {
				cn.mu.Unlock()
				<-time.After(time.Millisecond)
			}
		}
		close(proceed) // the reader gets stuck with what it reads first
		<-sent
		cn.mu.Unlock()
		rec := <-got
		wantOK(t, rec, strings.Repeat("data: x\n\n", 4))
		switch {
		case !c.dialer.KernelStamps():
		case together && (rec.Merged != 0 || len(rec.Marks) != 2):
			t.Errorf("one segment, and %d are said to be merged over %d reads", rec.Merged, len(rec.Marks))
		case !together && rec.Merged != 4-(len(rec.Marks)-1):
			t.Errorf("%d segments merged over %d reads", rec.Merged, len(rec.Marks))
		}
	}
}

// Any cut of the server's bytes into reads gives the same frames.
func TestSplitterDoesNotMindReads(t *testing.T) {
	var wire bytes.Buffer
	framer := http2.NewFramer(&wire, nil)
	_ = framer.WriteSettings(http2.Setting{ID: 1, Val: 2})
	_ = framer.WriteDataPadded(1, false, []byte("padded"), make([]byte, 3))
	_ = framer.WriteDataPadded(1, false, nil, make([]byte, 4))
	_ = framer.WriteData(3, true, nil)
	_ = framer.WriteData(1, true, []byte("plain"))
	_ = framer.WriteSettingsAck()
	_ = framer.WriteRawFrame(0x55, 0, 9, []byte("unwanted"))
	_ = framer.WritePing(true, [8]byte{1})
	whole := splitAll(t, wire.Bytes(), wire.Len())
	for n := 1; n < wire.Len(); n++ {
		if got := splitAll(t, wire.Bytes(), n); got != whole {
			t.Fatalf("in pieces of %d bytes: %s\nin one: %s", n, got, whole)
		}
	}
	if want := "settings:6 1:padded. 1:. 3:. 1:plain. settings:0 ping:8 "; whole != want {
		t.Errorf("got  %s\nwant %s", whole, want)
	}
}

// notes writes down what a splitter gives.
type notes struct {
	strings.Builder
	open map[uint32]string
}

func (n *notes) begin(f frame) (bool, error) { return f.kind != 0x55, nil }

func (n *notes) data(f frame, p []byte, last bool) error {
	if f.stream == 0 {
		return nil
	}
	n.open[f.stream] += string(p)
	if last {
		fmt.Fprintf(n, "%d:%s. ", f.stream, n.open[f.stream])
		delete(n.open, f.stream)
	}
	return nil
}

func (n *notes) whole(f frame, p []byte) error {
	switch f.kind {
	case frameSettings:
		fmt.Fprintf(n, "settings:%d ", len(p))
	case framePing:
		fmt.Fprintf(n, "ping:%d ", len(p))
	default:
		return errors.New("an unwanted frame")
	}
	return nil
}

func splitAll(t *testing.T, wire []byte, piece int) string {
	t.Helper()
	n := &notes{open: make(map[uint32]string)}
	var s splitter
	for len(wire) > 0 {
		k := min(piece, len(wire))
		if err := s.feed(wire[:k], n); err != nil {
			t.Fatal(err)
		}
		wire = wire[k:]
	}
	return n.String()
}
