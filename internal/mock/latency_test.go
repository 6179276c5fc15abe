package mock

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/timer"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// pipes is a listener whose connections stay inside the process, so that a
// test's fake clock holds for them.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// inBubble runs f with a server on a fake clock and returns the truth.
func inBubble(t *testing.T, change func(*config.Server), f func(p *pipes)) []truthfile.Request {
	t.Helper()
	var all []truthfile.Request
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		change(&c)
		truth := new(buffer)
		s, err := New(c, WithTruth(truth), func(o *options) { o.alarm = timer.NewTimerAlarm })
		if err != nil {
			t.Fatal(err)
		}
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		served := make(chan error)
		go func() { served <- s.Serve(p) }()
		f(p)
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		if all, err = truthfile.Read(&truth.b); err != nil {
			t.Error(err)
		}
	})
	return all
}

// ask sends one chat request and reads the response, on a connection of its own.
func ask(t *testing.T, p *pipes, id, fields string) string {
	nc := p.dial()
	defer nc.Close()
	body := `{` + hello + fields + `}`
	go fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n%s", chatPath, id, len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// offsets are the times of a request's events of a kind, in ms since its head was read.
func offsets(tr truthfile.Request, kind string) []float64 {
	var out []float64
	for _, e := range tr.Events {
		if e.Kind == kind {
			out = append(out, float64(e.At-tr.Read)/1e6)
		}
	}
	return out
}

func TestLatencyFixed(t *testing.T) {
	all := inBubble(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL = 50*time.Millisecond, 10*time.Millisecond
	}, func(p *pipes) {
		ask(t, p, "s", `,"max_tokens":4,"stream":true`)
		ask(t, p, "w", `,"max_tokens":4`)
	})
	got := [][]float64{offsets(all[0], "role"), offsets(all[0], "content"), offsets(all[0], "done"), offsets(all[1], "body")}
	if d := cmp.Diff([][]float64{{50}, {50, 60, 70, 80}, {80}, {80}}, got); d != "" {
		t.Error(d)
	}
	if all[0].ID != "s" || all[1].ID != "w" {
		t.Errorf("ids %q, %q", all[0].ID, all[1].ID)
	}
}

// TestLatencyGroups has events of several tokens, and writes of several events.
func TestLatencyGroups(t *testing.T) {
	all := inBubble(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL = 50*time.Millisecond, 10*time.Millisecond
		c.Output.TokensPerEvent, c.Output.Coalesce, c.Output.Role, c.Output.EarlyHeaders = 2, 2, false, true
	}, func(p *pipes) { ask(t, p, "", `,"max_tokens":7,"stream":true`) })
	if d := cmp.Diff([]float64{70, 70, 100, 100}, offsets(all[0], "content")); d != "" {
		t.Error(d)
	}
}

func TestLatencyBatch(t *testing.T) {
	all := inBubble(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL, c.Latency.ITLPerSeq = 10*time.Millisecond, 4*time.Millisecond, 3*time.Millisecond
		c.Latency.PrefillPerToken, c.Latency.MaxSeqs = 5*time.Millisecond, 2
	}, func(p *pipes) {
		done := make(chan struct{})
		for i := range 3 {
			go func() {
				ask(t, p, fmt.Sprint(i), `,"max_tokens":2,"stream":true`)
				done <- struct{}{}
			}()
			synctest.Wait() // they arrive in this order, at the same time
		}
		for range 3 {
			<-done
		}
	})
	got := map[string][]float64{}
	for _, tr := range all {
		got[tr.ID] = offsets(tr, "content")
	}
	// Prefill is 4 words of 5 ms. Two run at once, a step of both takes 10 ms; the
	// third starts when one of them is done, at 40, with a step of 7 ms alone.
	want := map[string][]float64{"0": {30, 40}, "1": {30, 40}, "2": {70, 77}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestUnstreamedFollowsTheBatch(t *testing.T) {
	all := inBubble(t, func(c *config.Server) {
		c.Latency.ITL, c.Latency.ITLPerSeq = 4*time.Millisecond, time.Millisecond
	}, func(p *pipes) {
		done := make(chan struct{})
		go func() {
			ask(t, p, "long", `,"max_tokens":11`)
			close(done)
		}()
		synctest.Wait()
		ask(t, p, "short", `,"max_tokens":6`)
		<-done
	})
	got := map[string][]float64{}
	for _, tr := range all {
		got[tr.ID] = offsets(tr, "body")
	}
	// The first step was begun alone, five more together, the last four alone.
	if d := cmp.Diff(map[string][]float64{"short": {30}, "long": {55}}, got); d != "" {
		t.Error(d)
	}
}

func TestQueueLeftByClient(t *testing.T) {
	all := inBubble(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.MaxSeqs = 100*time.Millisecond, 1
	}, func(p *pipes) {
		done := make(chan struct{})
		go func() {
			ask(t, p, "first", `,"max_tokens":1,"stream":true`)
			close(done)
		}()
		synctest.Wait()
		nc := p.dial()
		body := `{` + hello + `}`
		fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nX-Request-Id: left\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
		synctest.Wait()
		nc.Close()
		ask(t, p, "next", `,"max_tokens":1,"stream":true`)
		<-done
	})
	got := map[string][]float64{}
	for _, tr := range all {
		got[tr.ID+" "+tr.Finish] = offsets(tr, "content")
	}
	if d := cmp.Diff(map[string][]float64{"first length": {100}, "left abort": nil, "next length": {200}}, got); d != "" {
		t.Error(d)
	}
}

func TestKeepAliveComments(t *testing.T) {
	var text string
	all := inBubble(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL, c.Output.KeepAlive = 35*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	}, func(p *pipes) { text = ask(t, p, "", `,"max_tokens":2,"stream":true`) })
	if n := strings.Count(text, ": keep-alive\n\n"); n != 3 || !strings.HasPrefix(text, ": keep-alive") {
		t.Errorf("%d comments in\n%s", n, text)
	}
	if d := cmp.Diff([]float64{10, 20, 30}, offsets(all[0], "comment")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{35, 45}, offsets(all[0], "content")); d != "" {
		t.Error(d)
	}
}
