package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	real "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func TestRequestsOnAStream(t *testing.T) {
	s := serve(t, counting)
	c := s.client(t, Options{})
	for i := range 3 {
		id := fmt.Sprint("id", i)
		rec := ask(t, t.Context(), c, 0, id, "%s %d hello", id, 4+i)
		wantOK(t, rec, want(id, 4+i, "hello"))
		if first := i == 0; rec.Conn.Reused == first || (rec.Conn.Connect > 0) != first {
			t.Errorf("request %d went over %+v", i, rec.Conn)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections for one slot", n)
	}
}

// Slots that share streams get their own messages, whatever comes between.
func TestSharedStreams(t *testing.T) {
	const slots, each = 24, 12
	for _, o := range []Options{{}, {Streams: 1}, {Streams: 5}, {Streams: 8, Sharing: 4}, {Sharing: 100}, {Compression: "gzip", Streams: 3}} {
		t.Run(fmt.Sprintf("%d streams, %d on a connection", o.Streams, o.Sharing), func(t *testing.T) {
			s := serve(t, func(_ any, st real.ServerStream) error {
				var mu sync.Mutex
				var wg sync.WaitGroup
				defer wg.Wait()
				for {
					m, err := recv(st)
					if err != nil {
						return nil
					}
					wg.Go(func() { // so that answers mix
						var id string
						var n int
						_, _ = fmt.Sscan(m, &id, &n)
						for i := 1; i <= n; i++ {
							mark := ">"
							if i == n {
								mark = "."
							}
							mu.Lock()
							_ = send(st, "%s%s %d x", mark, id, i)
							mu.Unlock()
						}
					})
				}
			})
			c := s.client(t, o)
			if err := c.Open(t.Context(), streamMethod, sortTest, slots); err != nil {
				t.Fatal(err)
			}
			if err := c.Open(t.Context(), streamMethod, sortTest, slots); err != nil { // nothing is left to do
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for slot := range slots {
				wg.Go(func() {
					for k := range each {
						id := fmt.Sprintf("%d.%d", slot, k)
						rec := ask(t, t.Context(), c, slot, id, "%s %d x", id, 1+(slot+k)%7)
						if rec.Failure != nil {
							t.Errorf("%s: %+v", id, rec.Failure)
							return
						}
						if got := strings.Join(texts(t, rec), "|"); got != want(id, 1+(slot+k)%7, "x") {
							t.Errorf("%s: %q", id, got)
						}
						checkTimes(t, rec)
					}
				})
			}
			wg.Wait()
			streams := o.Streams
			if streams == 0 {
				streams = slots
			}
			conns := (streams + max(o.Sharing, 1) - 1) / max(o.Sharing, 1)
			if n := s.conns.Load(); n != int64(conns) {
				t.Errorf("%d connections, want %d", n, conns)
			}
		})
	}
}

// Each message has the mark of its own read: the next one is sent when the client has
// heard it, and its mark lies between the moments before it was sent and after it was heard.
func TestMarkOfEachMessage(t *testing.T) {
	proceed := make(chan struct{})
	s := serve(t, func(_ any, st real.ServerStream) error {
		if _, err := recv(st); err != nil {
			return err
		}
		for _, m := range []string{">a 1", ">a 2", ">other 1", ">a 3", ".a 4"} {
			<-proceed
			_ = send(st, "%s", m)
		}
		_, err := recv(st)
		return err
	})
	c := s.client(t, Options{})
	var before, after []time.Duration
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, heard := range []int{1, 2, 2, 3, none} { // messages of a's by then
			before = append(before, c.clock.Now())
			proceed <- struct{}{}
			await(t, func() bool { return c.heard(0, "a") == heard })
			after = append(after, c.clock.Now())
		}
	})
	rec := ask(t, t.Context(), c, 0, "a", "a")
	wg.Wait()
	wantOK(t, rec, ">a 1|>a 2|>a 3|.a 4")
	before, after = slices.Delete(before, 2, 3), slices.Delete(after, 2, 3)
	off, seen := 0, 0
	for i, m := range texts(t, rec) {
		off += prefix + len(m)
		for seen < len(rec.Marks) && rec.Marks[seen].Off < off {
			seen++
		}
		// The kernel stamps by the wall clock, which may be off by a little.
		if at := rec.Marks[seen]; at.Time() < before[i]-time.Millisecond || at.User < before[i] || at.User > after[i] {
			t.Errorf("message %d came at %+v, was sent after %v and heard before %v", i, at, before[i], after[i])
		}
	}
}

func TestLargeMessages(t *testing.T) {
	s := serve(t, counting)
	for _, o := range []Options{{}, {Compression: "gzip"}} {
		c := s.client(t, o)
		text := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
		rec := ask(t, t.Context(), c, 0, "big", "big 3 %s", text)
		wantOK(t, rec, want("big", 3, text))
		wantOK(t, ask(t, t.Context(), c, 0, "small", "small 1 x"), want("small", 1, "x"))
	}
}

func TestMessageLimit(t *testing.T) {
	s := serve(t, counting)
	c := s.client(t, Options{MaxMessage: 1000})
	if _, err := c.Prepare(make([]byte, 1001)); err == nil || !strings.Contains(err.Error(), "1001 bytes, where 1000 are allowed") {
		t.Errorf("preparing too large a message: %v", err)
	}
	rec := ask(t, t.Context(), c, 0, "a", "a 1 %s", strings.Repeat("x", 996))
	wantFailure(t, rec, record.BadBody, 200, "where 1000 are allowed: raise the limit")
	wantOK(t, ask(t, t.Context(), c, 0, "b", "b 1 x"), want("b", 1, "x"))
}

// A message beyond a limit of the plan is refused by its prefix, and names the limit.
func TestLargestMessage(t *testing.T) {
	s := serve(t, counting)
	c := s.client(t, Options{Largest: limitio.Limit{Name: "limits.event", Bytes: 1000}})
	rec := ask(t, t.Context(), c, 0, "a", "a 1 %s", strings.Repeat("x", 2000))
	wantFailure(t, rec, record.TooLarge, 200, "a message of 2005 bytes is larger than 1000 bytes: raise limits.event")
	wantOK(t, ask(t, t.Context(), c, 0, "b", "b 1 x"), want("b", 1, "x"))
}

// An error inside a stream is that of its request alone.
func TestErrorInsideAStream(t *testing.T) {
	s := serve(t, func(_ any, st real.ServerStream) error {
		for {
			m, err := recv(st)
			if err != nil {
				return nil
			}
			id, rest, _ := strings.Cut(m, " ")
			switch rest {
			case "bad":
				_ = send(st, "!%s no such tensor", id)
			case "half":
				_ = send(st, ">%s 1", id)
				_ = send(st, "!%s broke", id)
				_ = send(st, ".%s late", id)
			case "nameless":
				_ = send(st, "! what was that")
			default:
				_ = send(st, ".%s fine", id)
			}
		}
	})
	c := s.client(t, Options{})
	for i, tt := range []struct{ text, body string }{
		{"bad", "!%s no such tensor"}, {"good", ".%s fine"}, {"half", ">%s 1|!%s broke"}, {"good", ".%s fine"}, {"nameless", "! what was that"}, {"good", ".%s fine"},
	} {
		id := fmt.Sprint("id", i)
		rec := ask(t, t.Context(), c, 0, id, "%s %s", id, tt.text)
		body := strings.ReplaceAll(tt.body, "%s", id)
		if tt.text == "good" {
			wantOK(t, rec, body)
			continue
		}
		wantFailure(t, rec, record.StreamError, 200, "")
		if got := strings.Join(texts(t, rec), "|"); got != body {
			t.Errorf("%s: body %q, want %q", tt.text, got, body)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A status ends the stream and all requests on it; the next one opens another.
func TestStatusEndsAStream(t *testing.T) {
	s := serve(t, func(_ any, st real.ServerStream) error {
		m, err := recv(st)
		if err != nil {
			return nil
		}
		id, rest, _ := strings.Cut(m, " ")
		switch rest {
		case "at once":
			return status.Error(codes.Unavailable, "the model is not ready: 100 % of it\n")
		case "inside":
			_ = send(st, ">%s 1", id)
			return status.Error(codes.Internal, "")
		case "short":
			_ = send(st, ">%s 1", id)
			return nil
		case "nothing":
			return nil
		case "odd":
			return status.Error(codes.Code(77), "odd")
		}
		for {
			_ = send(st, ".%s fine", id)
			if m, err = recv(st); err != nil {
				return nil
			}
			id, _, _ = strings.Cut(m, " ")
		}
	})
	c := s.client(t, Options{})
	for _, tt := range []struct {
		text   string
		class  record.Class
		status int
		says   string
	}{
		{"at once", record.GRPCStatus, 14, "UNAVAILABLE: the model is not ready: 100 % of it\n"},
		{"inside", record.GRPCStatus, 13, "INTERNAL"},
		{"short", record.Truncated, 200, "ended the stream before the response was complete"},
		{"nothing", record.Dropped, 200, "no message of this response had come"},
		{"odd", record.GRPCStatus, 77, "gRPC status 77: odd"},
	} {
		wantFailure(t, ask(t, t.Context(), c, 0, "x", "x %s", tt.text), tt.class, tt.status, tt.says)
		wantOK(t, ask(t, t.Context(), c, 1, "y", "y fine"), ".y fine")
		wantOK(t, ask(t, t.Context(), c, 0, "z", "z fine"), ".z fine")
		_ = c.lane(0).flow.Load().leave()
	}
}

// A request that runs into a limit does so alone.
func TestLimits(t *testing.T) {
	gone := make(chan error, 1000)
	s := serve(t, func(_ any, st real.ServerStream) error {
		for {
			m, err := recv(st)
			if err != nil {
				gone <- st.Context().Err()
				return nil
			}
			switch id, rest, _ := strings.Cut(m, " "); rest {
			case "never":
			case "stall":
				_ = send(st, ">%s 1", id)
			default:
				_ = send(st, ".%s fine", id)
			}
		}
	})
	for _, tt := range []struct {
		lim    timedconn.Timeouts
		text   string
		class  record.Class
		status int
	}{
		{timedconn.Timeouts{FirstByte: 30 * time.Millisecond}, "never", record.NoFirstByte, 0},
		{timedconn.Timeouts{Request: 30 * time.Millisecond}, "never", record.TimedOut, 0},
		{timedconn.Timeouts{Stall: 30 * time.Millisecond}, "stall", record.Stalled, 200},
	} {
		c := s.client(t, Options{Streams: 1, Limits: tt.lim})
		var wg sync.WaitGroup
		for _, id := range []string{"a", "b"} {
			wg.Go(func() {
				wantFailure(t, ask(t, t.Context(), c, 0, id, "%s %s", id, tt.text), tt.class, tt.status, "")
			})
		}
		wg.Wait()
		var rec *record.Exchange
		for begin := time.Now(); time.Since(begin) < patience; { // on a busy machine, some run into the limit as well
			if rec = ask(t, t.Context(), c, 2, "c", "c fine"); rec.Failure == nil || rec.Failure.Class != tt.class {
				break
			}
		}
		wantOK(t, rec, ".c fine")
		// The stream that nobody was on any more has been cancelled.
		select {
		case err := <-gone:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the server saw %v", err)
			}
		case <-time.After(patience):
			t.Error("the server was not told")
		}
	}
}

// A request that is cancelled leaves the stream to the others on it.
func TestCancelOneAmongOthers(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(_ any, st real.ServerStream) error {
		var wg sync.WaitGroup
		var one sync.Mutex // a stream is no place for two to write at once
		defer wg.Wait()
		for {
			m, err := recv(st)
			if err != nil {
				return nil
			}
			wg.Go(func() {
				<-release
				one.Lock()
				defer one.Unlock()
				_ = send(st, ".%s late", m)
			})
		}
	})
	c := s.client(t, Options{Streams: 1})
	ctx, cancel := context.WithCancelCause(t.Context())
	var first, second *record.Exchange
	var one, other sync.WaitGroup
	one.Go(func() { first = ask(t, ctx, c, 0, "a", "a") })
	waitFor(t, c, "a")
	other.Go(func() { second = ask(t, t.Context(), c, 1, "b", "b") })
	waitFor(t, c, "b")
	f := c.lane(0).flow.Load()
	cancel(record.ErrCutOff)
	one.Wait()
	wantFailure(t, first, record.CutOff, 0, "drain time")
	close(release)
	other.Wait()
	wantOK(t, second, ".b late")
	if c.lane(0).flow.Load() != f || !f.takes() {
		t.Error("the stream was given up, though another request was on it")
	}
	// And one that comes with a context that has ended.
	rec := ask(t, ctx, c, 0, "c", "c")
	if rec.Failure == nil || rec.Failure.Class != record.CutOff || rec.Sent != record.Never {
		t.Errorf("sent %v, failure %+v", rec.Sent, rec.Failure)
	}
}

// A user who goes away leaves the stream to the others on it; one that is alone on it ends it.
func TestUserCancels(t *testing.T) {
	gone := make(chan error, 1000)
	s := serve(t, func(_ any, st real.ServerStream) error {
		for {
			m, err := recv(st)
			if err != nil {
				gone <- st.Context().Err()
				return nil
			}
			if id, rest, _ := strings.Cut(m, " "); rest != "never" {
				_ = send(st, ".%s fine", id)
			}
		}
	})
	c := s.client(t, Options{Streams: 1})
	for range 2 {
		rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}, CancelAfter: 30 * time.Millisecond}
		c.Stream(t.Context(), streamMethod, "a", message(t, c, "a never"), rec, sortTest)
		if rec.Failure == nil || rec.Failure.Class != record.UserCancelled {
			t.Fatalf("failure %+v", rec.Failure)
		}
		if late := rec.End - rec.Written; late < rec.CancelAfter {
			t.Errorf("gave up %v after it was written", late)
		}
		select {
		case <-gone:
		case <-time.After(patience):
			t.Fatal("the server was not told")
		}
		wantOK(t, ask(t, t.Context(), c, 0, "b", "b fine"), ".b fine")
	}
}

// waitFor waits until a request is on the first stream.
func waitFor(t testing.TB, c *Client, id string) {
	t.Helper()
	await(t, func() bool { return c.heard(0, id) != none })
}

// A server that dies takes its requests along, and the next ones find the new one.
func TestServerRestarts(t *testing.T) {
	s := serve(t, func(_ any, st real.ServerStream) error {
		m, _ := recv(st)
		id, _, _ := strings.Cut(m, " ")
		_ = send(st, ">%s 1", id)
		<-st.Context().Done()
		return nil
	})
	c := s.client(t, Options{})
	var wg sync.WaitGroup
	for slot := range 4 {
		wg.Go(func() {
			rec := ask(t, t.Context(), c, slot, "a", "a 1 x")
			if rec.Failure == nil || rec.Failure.Class != record.Truncated && rec.Failure.Class != record.Reset {
				t.Errorf("failure %+v", rec.Failure)
			}
		})
	}
	for slot := range 4 {
		await(t, func() bool { return c.heard(slot, "a") > 0 })
	}
	s.srv.Stop()
	wg.Wait()
	rec := ask(t, t.Context(), c, 0, "b", "b 1 x")
	wantFailure(t, rec, record.ConnectFailed, 0, "refused")
	serveOn(t, s.addr, counting)
	wantOK(t, ask(t, t.Context(), c, 0, "c", "c 2 x"), want("c", 2, "x"))
}

// A server that leaves in order gets to finish, and no request is lost.
func TestServerLeavesInOrder(t *testing.T) {
	got, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(_ any, st real.ServerStream) error {
		for {
			m, err := recv(st)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			id, _, _ := strings.Cut(m, " ")
			if id == "slow" {
				close(got)
				<-release
			}
			_ = send(st, ".%s fine", id)
		}
	})
	c := s.client(t, Options{})
	wantOK(t, ask(t, t.Context(), c, 1, "a", "a"), ".a fine") // leaves an idle stream
	var wg sync.WaitGroup
	wg.Go(func() { wantOK(t, ask(t, t.Context(), c, 0, "slow", "slow"), ".slow fine") })
	<-got
	stopped := make(chan struct{})
	go func() { s.srv.GracefulStop(); close(stopped) }()
	<-c.lane(1).flow.Load().ended
	close(release)
	wg.Wait()
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Error("the server waits for a stream that nobody uses")
	}
}
