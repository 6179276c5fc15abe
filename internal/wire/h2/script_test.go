package h2

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func TestGoAwayAheadOfARequest(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		p.request()
		_ = p.framer.WriteGoAway(0, http2.ErrCodeNo, nil)
		p.hold()
	}, echo)
	rec := to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, "body", name("a"))
	wantOK(t, rec, "again a")
	if rec.Conn.Reused || rec.Conn.Connect == 0 {
		t.Errorf("connection %+v, want a new one", rec.Conn)
	}
}

func TestGoAwayBetweenTwoRequests(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		first, fields := p.request()
		p.request()
		_ = p.framer.WriteGoAway(first, http2.ErrCodeNo, nil)
		p.answer(first, "seen "+fields["name"])
		p.hold() // the client closes when it has its response
	}, echo)
	c := to.client(t, timedconn.Timeouts{}, 8)
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
	wantFailure(t, to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, ""), record.Reset, "refused the stream")
	to = play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		_ = p.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		id, fields := p.request()
		p.answer(id, "second try of "+fields["name"])
		p.hold()
	})
	wantOK(t, to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, "", name("a")), "second try of a")
}

// A request on a connection that the server ends without a response goes again only
// where it cannot have been taken, and the record says so.
func TestDroppedRequests(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reset bool
		soon  time.Duration
		again bool
	}{
		{"closed", false, 0, false},
		{"reset after some work", true, 0, false},
		{"reset at once", true, time.Hour, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := play(t, func(p *peer) {
				p.settings()
				id, _ := p.request()
				p.answer(id, "first")
				p.request() // and no response
				if tt.reset {
					_ = p.conn.SetLinger(0)
				}
			}, echo)
			c := to.client(t, timedconn.Timeouts{}, 8)
			c.soon = tt.soon
			wantOK(t, to.do(t.Context(), c, 0, ""), "first")
			rec := to.do(t.Context(), c, 0, "", name("a"))
			if tt.again {
				wantOK(t, rec, "again a")
				if rec.Resent != 1 || rec.Conn.Reused || rec.LastTry <= rec.Sent {
					t.Errorf("sent again %d times, on connection %+v, at %v and %v", rec.Resent, rec.Conn, rec.Sent, rec.LastTry)
				}
				return
			}
			wantFailure(t, rec, record.Dropped, "")
			if rec.Resent != 0 || rec.Sent == record.Never {
				t.Errorf("sent again %d times, first at %v", rec.Resent, rec.Sent)
			}
		})
	}
}

// What the server says it has seen was taken, however soon it leaves.
func TestDroppedAfterGoAway(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		p.answer(id, "first")
		id, _ = p.request()
		_ = p.framer.WriteGoAway(id, http2.ErrCodeNo, nil)
		_ = p.conn.SetLinger(0)
	}, echo)
	c := to.client(t, timedconn.Timeouts{}, 8)
	c.soon = time.Hour
	wantOK(t, to.do(t.Context(), c, 0, ""), "first")
	rec := to.do(t.Context(), c, 0, "", name("a"))
	wantFailure(t, rec, record.Dropped, "")
	if rec.Resent != 0 {
		t.Errorf("sent again %d times", rec.Resent)
	}
}

func TestHowConnectionsEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script func(p *peer, id uint32) (abrupt bool)
		class  record.Class
		text   string
	}{
		{"closed without an answer", func(p *peer, id uint32) bool { return false }, record.Dropped, "closed the connection without a response"},
		{"closed inside an answer", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200")
			p.data(id, false, "be")
			return false
		}, record.Truncated, "inside a response"},
		{"closed inside a frame", func(p *peer, id uint32) bool {
			p.head(id, false, ":status", "200")
			_, _ = p.conn.Write(append(appendFrame(nil, 10, frameData, flagEndStream, id), "half"...))
			return false
		}, record.Truncated, "inside a response"},
		{"with a reason", func(p *peer, id uint32) bool {
			_ = p.framer.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte("too many pings"))
			return false
		}, record.Dropped, `GOAWAY ENHANCE_YOUR_CALM "too many pings"`},
		{"reset by TCP", func(p *peer, id uint32) bool {
			_ = p.conn.SetLinger(0)
			return true
		}, record.Dropped, "reset"},
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
			rec := to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, "body")
			wantFailure(t, rec, tt.class, tt.text)
			if rec.Sent == record.Never || rec.End < rec.Sent || rec.Failure.At < rec.End {
				t.Errorf("sent %v, ended %v, noticed %v", rec.Sent, rec.End, rec.Failure.At)
			}
		})
	}
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
	c := to.client(t, timedconn.Timeouts{}, 8)
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
	c := to.client(t, timedconn.Timeouts{}, 8)
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
	c := to.client(t, timedconn.Timeouts{}, 8)
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
	c := to.client(t, timedconn.Timeouts{}, 8)
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
	c := to.client(t, timedconn.Timeouts{Request: 50 * time.Millisecond}, 8)
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

// Events of a stream that share a read came at any moment since the read before, unless they came
// in one segment.
func TestBlurOfReads(t *testing.T) {
	t.Run("several segments", func(t *testing.T) {
		rec, gone, stamped := readLate(t, false)
		if !stamped {
			t.Skip("this system does not stamp what it receives")
		}
		for i, m := range rec.Marks {
			came := 4 // events with this read and those behind it
			if i > 0 {
				came -= rec.Marks[i-1].Off / 9
			}
			// The first event had come at gone[0], and a read that holds several may have the first that
			// was left.
			if from := m.Time() - m.Blur; m.Off > 0 && m.Off/9 > 4-came+1 && from > gone[4-came] {
				t.Errorf("read %d of %+v: its first event had come at %v", i, m, gone[4-came])
			}
			if m.Loose && m.Kernel != record.Never { // the kernel begins to stamp a while after it was asked to
				t.Errorf("read %d of %+v ends with its last event", i, m)
			}
		}
	})
	// On a busy machine the kernel may put other things into the read. It does not do so each time.
	t.Run("one segment", func(t *testing.T) {
		var rec *record.Exchange
		for range 50 {
			var stamped bool
			if rec, _, stamped = readLate(t, true); !stamped || len(rec.Marks) == 2 && rec.Marks[1].Blur <= 100*time.Microsecond {
				return
			}
		}
		t.Errorf("one segment, and reads of %+v", rec.Marks)
	})
}

// readLate has a peer send four frames, together or one by one, while the client's reader
// is held up. gone: when each had been sent and so had come, one by one; stamped: the kernel stamps what comes.
func readLate(t *testing.T, together bool) (rec *record.Exchange, gone []time.Duration, stamped bool) {
	t.Helper()
	headed, proceed, sent := make(chan uint32, 1), make(chan struct{}), make(chan struct{})
	var times []time.Time
	to := play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		p.head(id, false, ":status", "200", "content-type", "text/event-stream")
		headed <- id
		<-proceed
		var all []byte
		for i := range 4 {
			frame := append(appendFrame(nil, 9, frameData, byte(i/3*flagEndStream), id), "data: x\n\n"...)
			if all = append(all, frame...); !together {
				_, _ = p.conn.Write(frame)
				times = append(times, time.Now())
			}
		}
		if together {
			_, _ = p.conn.Write(all)
		}
		close(sent)
		p.hold()
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	got := make(chan *record.Exchange)
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
	rec = <-got
	wantOK(t, rec, strings.Repeat("data: x\n\n", 4))
	for _, at := range times {
		gone = append(gone, at.Sub(c.clock.Start()))
	}
	return rec, gone, c.dialer.KernelStamps()
}
