//go:build linux

package canned

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// serveCanned starts a canned server for a test.
func serveCanned(t *testing.T, spec Spec) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Start(ctx, netip.MustParseAddrPort("127.0.0.1:0"), 2, spec)
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
		want       request
	}{
		{"not streamed", post(`{"model":"mock"}`), request{kind: askChat}},
		{"streamed", post(streamBody), request{askChat, true}},
		{"said not to be streamed", post(`{"stream":false}`), request{kind: askChat}},
		{"a prompt about streams", post(`{"content":"\"stream\":true"}`), request{kind: askChat}},
		{"models", "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", request{kind: askModels}},
		{"metrics", "GET /metrics HTTP/1.1\r\n\r\n", request{kind: askMetrics}},
		{"something else", "GET /v2 HTTP/1.1\r\n\r\n", request{kind: askElse}},
		{"no method", "\r\n\r\n", request{kind: askElse}},
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

// However a request is cut and however many come at once, each gets its response.
func TestCannedCuts(t *testing.T) {
	c := serveCanned(t, Spec{Events: 3, Writes: 2, Prompt: 5})
	long := post(`{"content":"` + strings.Repeat("x", 200<<10) + `"}`) // more than one read
	requests := post(`{}`) + post(streamBody) + long + "GET /v1/models HTTP/1.1\r\n\r\n" + "GET /v2 HTTP/1.1\r\n\r\n"
	for _, cut := range []int{1, 20, 50, 70, len(post(`{}`)), len(post(`{}`)) + 30, len(requests) - 30, len(requests)} {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			conn, err := net.Dial("tcp", c.Addr.String())
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
					t.Fatalf("response %d: %v", i, err)
				}
				body, err := io.ReadAll(resp.Body)
				if err != nil || !bytes.Contains(body, []byte(want)) {
					t.Errorf("response %d is %.300q, %v; want %q in it", i, body, err, want)
				}
			}
		})
	}
}

// A client that asks much and reads late gets everything, and meanwhile others are served.
func TestCannedLateReader(t *testing.T) {
	const requests, events = 12, 2000 // 4 MB, more than sockets hold
	c := serveCanned(t, Spec{Events: events, Writes: 3, Prompt: 5})
	conn, err := net.Dial("tcp", c.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, strings.Repeat(post(streamBody), requests)); err != nil {
		t.Fatal(err)
	}
	for range 20 { // on either loop
		other, err := net.Dial("tcp", c.Addr.String())
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
			t.Fatalf("response %d: %v", i, err)
		}
		body, err := io.ReadAll(resp.Body)
		if n := bytes.Count(body, []byte("data: ")); err != nil || n != events+3 {
			t.Fatalf("response %d has %d events, %v; want %d", i, n, err, events+3)
		}
	}
}

func TestCannedRefuses(t *testing.T) {
	c := serveCanned(t, Spec{Events: 1, Writes: 1})
	conn, err := net.Dial("tcp", c.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
	text, err := io.ReadAll(conn) // until it is closed
	if err != nil || !bytes.HasPrefix(text, []byte("HTTP/1.1 400 ")) {
		t.Errorf("got %q, %v", text, err)
	}
	for _, spec := range []Spec{{Events: 0, Writes: 1}, {Events: 1}} {
		if _, err := Start(t.Context(), c.Addr, 1, spec); err == nil {
			t.Errorf("%+v was accepted", spec)
		}
	}
}

// The bytes are the same in however many writes, and no write is empty.
func TestCannedWrites(t *testing.T) {
	whole := slices.Concat(streamOf(Spec{Events: 5, Writes: 1}, "{}")...)
	for _, writes := range []int{2, 3, 8, 100} {
		pieces := streamOf(Spec{Events: 5, Writes: writes}, "{}")
		if len(pieces) != min(writes, 8) || !bytes.Equal(slices.Concat(pieces...), whole) {
			t.Errorf("%d writes: %d pieces", writes, len(pieces))
		}
		if slices.ContainsFunc(pieces, func(p []byte) bool { return len(p) == 0 }) {
			t.Errorf("%d writes: one is empty", writes)
		}
	}
}
