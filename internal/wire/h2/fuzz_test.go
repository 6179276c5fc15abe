package h2

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/wire/http1"
	netclock "github.com/inferometer/inferometer/internal/wire/timedconn"
)

// script makes frames of fuzzed bytes, so that most inputs get past the framing:
// type, flags, stream, length, payload. The rest goes as it is.
func script(in []byte) []byte {
	out := appendFrame(nil, 0, frameSettings, 0, 0)
	for len(in) >= 4 {
		n := min(int(in[3]), len(in)-4)
		out = appendFrame(out, n, in[0]%12, in[1], uint32(in[2]%10))
		out = append(out, in[4:4+n]...)
		in = in[4+n:]
	}
	return append(out, in...)
}

// FuzzServer lets a server send arbitrary bytes: every request ends, and so do the
// client and its goroutines.
func FuzzServer(f *testing.F) {
	f.Add([]byte{}, false, uint8(0))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), false, uint8(0))
	f.Add([]byte{frameHeaders, flagEndHeaders, 1, 1, 0x88, frameData, flagEndStream, 1, 2, 'h', 'i'}, true, uint8(3))
	f.Add([]byte{frameHeaders, 0, 1, 0, frameContinuation, flagEndHeaders | flagEndStream, 1, 1, 0x88}, true, uint8(1))
	f.Add([]byte{frameGoAway, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, frameReset, 0, 1, 4, 0, 0, 0, 7}, true, uint8(0))
	f.Add([]byte{frameSettings, 0, 0, 6, 0, 3, 0, 0, 0, 1, frameWindow, 0, 1, 4, 0, 0, 0, 9, framePing, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8},
		true, uint8(9))
	f.Add([]byte{frameHeaders, flagEndHeaders | flagPadded | flagPriority, 3, 8, 1, 0, 0, 0, 0, 0, 0x88, 0, frameData, flagPadded, 3, 3, 1,
		'x', 0}, true, uint8(2))
	mutate.Fuzz(f, func(t *testing.T, in []byte, framed bool, piece uint8) {
		if framed {
			in = script(in)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				wg.Go(func() {
					defer nc.Close()
					for rest := in; len(rest) > 0; {
						n := len(rest)
						if piece > 0 {
							n = min(n, int(piece))
						}
						if _, err := nc.Write(rest[:n]); err != nil {
							return
						}
						rest = rest[n:]
					}
					_ = nc.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, nc)
				})
			}
		})
		to := target{url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}}
		clock := netclock.NewClock()
		d := netclock.NewDialer(clock, to.url.Host, netclock.DialOptions{})
		c := NewClient(clock, d, Options{Streams: 2, Limits: netclock.Timeouts{Request: patience}})
		var requests sync.WaitGroup
		for slot := range 3 {
			requests.Go(func() {
				rec := to.do(t.Context(), c, slot, "some body", http1.Field{Name: "name", Value: "a"})
				if rec.Failure == nil && (rec.Status < 200 || rec.Status > 299 || len(rec.Marks) == 0) {
					t.Errorf("it went well with status %d and %d reads", rec.Status, len(rec.Marks))
				}
				if rec.Failure != nil && rec.Failure.Class == record.TimedOut {
					t.Errorf("a request hung: %+v", rec.Failure)
				}
				for i, m := range rec.Marks {
					if m.Off > len(rec.Body) || i > 0 && m.Off < rec.Marks[i-1].Off {
						t.Errorf("marks %+v of %d bytes", rec.Marks, len(rec.Body))
					}
				}
			})
		}
		open := newListener()
		s, err := c.Open(t.Context(), 0, to.fields(), open)
		if err == nil {
			s.Send([]byte("piece"), newWrote())
		}
		requests.Wait()
		c.Close()
		if err == nil {
			<-open.ended
		}
		l.Close()
		wg.Wait()
	})
}

// FuzzSplitter: any bytes, cut anywhere, give the same frames.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte{0, 0, 5, 0, 8, 0, 0, 0, 1, 2, 'a', 'b', 0, 0}, uint8(1))
	f.Add(script([]byte{1, 4, 1, 1, 0x88, 0, 1, 1, 2, 'h', 'i'}), uint8(4))
	mutate.Fuzz(f, func(t *testing.T, in []byte, piece uint8) {
		whole, wholeErr := fedTo(in, len(in))
		cut, cutErr := fedTo(in, max(int(piece), 1))
		if (wholeErr == nil) != (cutErr == nil) || whole != cut {
			t.Fatalf("whole: %q, %v\ncut: %q, %v", whole, wholeErr, cut, cutErr)
		}
	})
}

func fedTo(in []byte, piece int) (string, error) {
	n := &notes{open: make(map[uint32]string)}
	var s splitter
	for len(in) > 0 {
		k := min(piece, len(in))
		if err := s.feed(in[:k], n); err != nil {
			return n.String(), err
		}
		in = in[k:]
	}
	return n.String(), nil
}
