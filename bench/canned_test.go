//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/cli"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool"
)

// serveCanned starts a canned server for a test.
func serveCanned(t *testing.T, spec cannedSpec) *canned {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c, err := startCanned(ctx, netip.MustParseAddrPort("127.0.0.1:0"), 2, spec)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); c.done.Wait() })
	return c
}

// post is a request for a chat completion.
func post(body string) string {
	return fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\ncontent-LENGTH: %d\r\n\r\n%s", len(body), body)
}

const streamBody = `{"model":"mock","stream" : true}`

func TestParseRequest(t *testing.T) {
	tests := []struct {
		name, text string
		want       cannedRequest
	}{
		{"not streamed", post(`{"model":"mock"}`), cannedRequest{kind: askChat}},
		{"streamed", post(streamBody), cannedRequest{askChat, true}},
		{"said not to be streamed", post(`{"stream":false}`), cannedRequest{kind: askChat}},
		{"a prompt about streams", post(`{"content":"\"stream\":true"}`), cannedRequest{kind: askChat}},
		{"models", "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", cannedRequest{kind: askModels}},
		{"metrics", "GET /metrics HTTP/1.1\r\n\r\n", cannedRequest{kind: askMetrics}},
		{"something else", "GET /v2 HTTP/1.1\r\n\r\n", cannedRequest{kind: askElse}},
		{"no method", "\r\n\r\n", cannedRequest{kind: askElse}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range len(tt.text) {
				if _, n := parseRequest([]byte(tt.text[:i])); n != 0 {
					t.Fatalf("%q is taken for a whole request of %d bytes", tt.text[:i], n)
				}
			}
			if got, n := parseRequest([]byte(tt.text + "POST /")); got != tt.want || n != len(tt.text) {
				t.Errorf("%+v of %d bytes, want %+v of %d", got, n, tt.want, len(tt.text))
			}
		})
	}
	for _, text := range []string{
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
		strings.Repeat("x", largestHead+1),
	} {
		if got, n := parseRequest([]byte(text)); got.kind != askNonsense || n != len(text) {
			t.Errorf("%.60q is read as %+v of %d bytes", text, got, n)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(post(streamBody)))
	mutate.Fuzz(f, func(t *testing.T, text []byte) {
		if _, n := parseRequest(text); n < 0 || n > len(text) {
			t.Errorf("%d of %d bytes are a request", n, len(text))
		}
	})
}

// However a request is cut and however many come at once, each gets its answer.
func TestCannedCuts(t *testing.T) {
	c := serveCanned(t, cannedSpec{events: 3, writes: 2, prompt: 5})
	long := post(`{"content":"` + strings.Repeat("x", 200<<10) + `"}`) // more than one read
	requests := post(`{}`) + post(streamBody) + long + "GET /v1/models HTTP/1.1\r\n\r\n" + "GET /v2 HTTP/1.1\r\n\r\n"
	for _, cut := range []int{1, 20, 50, 70, len(post(`{}`)), len(post(`{}`)) + 30, len(requests) - 30, len(requests)} {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			conn, err := net.Dial("tcp", c.addr.String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for _, part := range []string{requests[:cut], requests[cut:]} {
				if _, err := io.WriteString(conn, part); err != nil {
					t.Fatal(err)
				}
			}
			read := bufio.NewReader(conn)
			for i, want := range []string{`"completion_tokens":3}}`, "data: [DONE]\n\n", `"completion_tokens":3}}`, `"id":"mock"`, "no such page"} {
				resp, err := http.ReadResponse(read, nil)
				if err != nil {
					t.Fatalf("answer %d: %v", i, err)
				}
				body, err := io.ReadAll(resp.Body)
				if err != nil || !bytes.Contains(body, []byte(want)) {
					t.Errorf("answer %d is %.300q, %v; want %q in it", i, body, err, want)
				}
			}
		})
	}
}

// A client that asks much and reads late gets everything, and meanwhile others are served.
func TestCannedLateReader(t *testing.T) {
	const requests, events = 12, 2000 // 4 MB, more than sockets hold
	c := serveCanned(t, cannedSpec{events: events, writes: 3, prompt: 5})
	conn, err := net.Dial("tcp", c.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, strings.Repeat(post(streamBody), requests)); err != nil {
		t.Fatal(err)
	}
	for range 20 { // on either loop
		other, err := net.Dial("tcp", c.addr.String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(other, "GET /v1/models HTTP/1.1\r\n\r\n")
		if resp, err := http.ReadResponse(bufio.NewReader(other), nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("another client got %v, %v", resp, err)
		}
		other.Close()
	}
	read := bufio.NewReader(conn)
	for i := range requests {
		resp, err := http.ReadResponse(read, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		body, err := io.ReadAll(resp.Body)
		if n := bytes.Count(body, []byte("data: ")); err != nil || n != events+3 {
			t.Fatalf("answer %d has %d events, %v; want %d", i, n, err, events+3)
		}
	}
}

func TestCannedRefuses(t *testing.T) {
	c := serveCanned(t, cannedSpec{events: 1, writes: 1})
	conn, err := net.Dial("tcp", c.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
	text, err := io.ReadAll(conn) // until it is closed
	if err != nil || !bytes.HasPrefix(text, []byte("HTTP/1.1 400 ")) {
		t.Errorf("got %q, %v", text, err)
	}
	for _, spec := range []cannedSpec{{events: 0, writes: 1}, {events: 1}} {
		if _, err := startCanned(t.Context(), c.addr, 1, spec); err == nil {
			t.Errorf("%+v was accepted", spec)
		}
	}
}

// The bytes are the same in however many writes, and no write is empty.
func TestCannedWrites(t *testing.T) {
	whole := slices.Concat(cannedStream(cannedSpec{events: 5, writes: 1}, "{}")...)
	for _, writes := range []int{2, 3, 8, 100} {
		pieces := cannedStream(cannedSpec{events: 5, writes: writes}, "{}")
		if len(pieces) != min(writes, 8) || !bytes.Equal(slices.Concat(pieces...), whole) {
			t.Errorf("%d writes: %d pieces", writes, len(pieces))
		}
		if slices.ContainsFunc(pieces, func(p []byte) bool { return len(p) == 0 }) {
			t.Errorf("%d writes: one is empty", writes)
		}
	}
}

// The program under test takes the answers for what they say they are.
func TestCannedRun(t *testing.T) {
	c := serveCanned(t, cannedSpec{events: 7, writes: 3, prompt: promptWords})
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream %v", stream), func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"run", "http://" + c.addr.String(), "--model", "mock", "--concurrency", "5", "--requests", "30"},
				commonFlags(work{stream: stream, events: 7}, dir)...)
			var out bytes.Buffer
			code := cli.Main(tool.Env{Args: args, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Restore: func() {}})
			if code > 1 && code != 4 {
				t.Fatalf("exit code %d: %s", code, &out)
			}
			r, err := readResult(dir)
			if err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
			if counts := r.Stages[0].Counts; counts.OK != 30 {
				t.Errorf("%d of 30 requests succeeded: %s", counts.OK, &out)
			}
			m := r.Stages[0].Metrics
			for name, want := range map[string]float64{"output_sequence_length": 7, "input_sequence_length": promptWords} {
				if got := m[name]; got.Distribution == nil || got.Avg != want {
					t.Errorf("%s is %+v, want %v", name, got, want)
				}
			}
			if _, err := readRecords(dir, func(r *record.Record) {
				if stream && len(r.Events) != 7+3 {
					t.Errorf("request %d has %d events in %s", r.Seq, len(r.Events), filepath.Base(dir))
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCannedMetrics(t *testing.T) {
	c := serveCanned(t, cannedSpec{events: 1, writes: 1})
	s := &server{url: "http://" + c.addr.String()}
	for range 3 {
		resp, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	// An answer may be read before it is counted.
	for served, last := int64(0), int64(0); served != 3 || last == 0; {
		got, err := s.counters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at, err := s.lastCanned(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		served, last = got.served, at.UnixNano()
	}
}
