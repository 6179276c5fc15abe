package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// outcome is all that a response says once its connection has ended.
type outcome struct {
	Status      int
	Body        string
	ContentType string
	RetryAfter  string
	KeepAlive   bool
	Done        bool   // complete before the connection ended
	Err         string // "" for a complete answer
}

// feedAll feeds the pieces and ends the connection where the answer needs it.
func feedAll(r *response, pieces ...[]byte) outcome {
	var o outcome
	var err error
	for _, p := range pieces {
		if o.Done, err = r.feed(p); err != nil || o.Done {
			break
		}
	}
	if err == nil && !o.Done {
		err = r.closed()
	}
	if err != nil {
		o.Err = err.Error()
		return o
	}
	o.Status, o.Body, o.ContentType, o.RetryAfter = r.status, string(r.body), r.contentType, r.retryAfter
	o.KeepAlive = r.keepAlive
	return o
}

func fresh() *response {
	r := new(response)
	r.reset(nil)
	return r
}

const (
	ok       = "HTTP/1.1 200 OK\r\n"
	chunked  = ok + "Transfer-Encoding: chunked\r\n\r\n"
	longName = "a-field-with-a-name-that-takes-its-time"
)

var responses = []struct {
	name, wire string
	want       outcome
}{
	{"length", ok + "Content-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello",
		outcome{Status: 200, Body: "hello", ContentType: "text/plain", KeepAlive: true, Done: true}},
	{"length zero", ok + "Content-Length: 0\r\n\r\n", outcome{Status: 200, KeepAlive: true, Done: true}},
	{"length said twice", ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"names in any case", "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:2\r\ncontent-TYPE:\tx \r\n\r\nhi",
		outcome{Status: 200, Body: "hi", ContentType: "x", KeepAlive: true, Done: true}},
	{"no reason phrase", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"line ends mixed", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"folded header", ok + "X: a\r\n b: c\r\nContent-Length: 2\r\n\r\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},

	{"chunked", chunked + "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n",
		outcome{Status: 200, Body: "hello, world", KeepAlive: true, Done: true}},
	{"chunk extensions and digits of both cases", chunked + "A;name=value;x=\"y\"\r\n0123456789\r\n0b ; z\r\nabcdefghijk\r\n000\r\n\r\n",
		outcome{Status: 200, Body: "0123456789abcdefghijk", KeepAlive: true, Done: true}},
	{"chunks with line feeds alone", chunked + "2\nhi\n0\n\n",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"chunks of line ends", chunked + "4\r\n\r\n\r\n\r\n2\r\n0\r\r\n0\r\n\r\n",
		outcome{Status: 200, Body: "\r\n\r\n0\r", KeepAlive: true, Done: true}},
	{"trailers", chunked + "2\r\nhi\r\n0\r\nX-Checksum: 1\r\n" + longName + ": 2\r\n\r\n",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"no chunk but the last", chunked + "0\r\n\r\n", outcome{Status: 200, KeepAlive: true, Done: true}},
	{"chunked wins over a length", ok + "Content-Length: 99\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},

	{"until close", ok + "Content-Type: text/event-stream\r\n\r\ndata: 1\n\ndata: 2\n\n",
		outcome{Status: 200, Body: "data: 1\n\ndata: 2\n\n", ContentType: "text/event-stream"}},
	{"until close, nothing", ok + "\r\n", outcome{Status: 200}},
	{"identity", ok + "Transfer-Encoding: identity\r\n\r\nhi", outcome{Status: 200, Body: "hi"}},

	{"continue, then the answer", "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"early hints leave no trace", "HTTP/1.1 103 Early Hints\r\nContent-Type: text/css\r\nRetry-After: 9\r\nConnection: close\r\nContent-Length: 7\r\n\r\n" +
		"HTTP/1.1 102 Processing\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},
	{"no content", "HTTP/1.1 204 No Content\r\n\r\n", outcome{Status: 204, KeepAlive: true, Done: true}},
	{"not modified, with the length it would have", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
		outcome{Status: 304, KeepAlive: true, Done: true}},
	{"refused, come back later", "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy",
		outcome{Status: 503, Body: "busy", RetryAfter: "7", KeepAlive: true, Done: true}},

	{"close", ok + "Connection: close\r\nContent-Length: 2\r\n\r\nhi", outcome{Status: 200, Body: "hi", Done: true}},
	{"close among others", ok + "Connection: keep-alive, Close\r\nContent-Length: 2\r\n\r\nhi", outcome{Status: 200, Body: "hi", Done: true}},
	{"old server", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", outcome{Status: 200, Body: "hi", Done: true}},
	{"old server that keeps alive", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi",
		outcome{Status: 200, Body: "hi", KeepAlive: true, Done: true}},

	{"ended in the head", ok + "Content-Le", outcome{Err: "the connection ended inside the response's headers"}},
	{"ended in the body", ok + "Content-Length: 5\r\n\r\nhel", outcome{Err: "the connection ended 2 bytes before the response's Content-Length"}},
	{"ended before a chunk", chunked + "2\r\nhi\r\n", outcome{Err: "the connection ended inside a chunked response"}},
	{"ended in a chunk", chunked + "5\r\nhel", outcome{Err: "the connection ended inside a chunked response"}},
	{"ended in the trailer", chunked + "0\r\n", outcome{Err: "the connection ended inside a chunked response"}},
	{"ended before anything", "", outcome{Err: "the server closed the connection without a response"}},

	{"no HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n", outcome{Err: `not an HTTP/1.1 response: it begins with "SSH-2.0-OpenSSH_9.6"`}},
	{"HTTP of another century", "HTTP/2 200\r\n\r\n", outcome{Err: `not an HTTP/1.1 response: it begins with "HTTP/2 200"`}},
	{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", outcome{Err: `the response's status line is "HTTP/1.1 20 OK"`}},
	{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", outcome{Err: `the response's status line is "HTTP/1.1 2000 OK"`}},
	{"status below all", "HTTP/1.1 099 OK\r\n\r\n", outcome{Err: `the response's status line is "HTTP/1.1 099 OK"`}},
	{"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
		outcome{Err: "the server switched protocols without being asked to"}},
	{"no colon", ok + "what is this\r\n\r\n", outcome{Err: `the response has a header line without a colon: "what is this"`}},
	{"length in words", ok + "Content-Length: five\r\n\r\nhello", outcome{Err: `the response's Content-Length is "five"`}},
	{"length below zero", ok + "Content-Length: -1\r\n\r\n", outcome{Err: `the response's Content-Length is "-1"`}},
	{"length with a sign", ok + "Content-Length: +5\r\n\r\nhello", outcome{Err: `the response's Content-Length is "+5"`}},
	{"length beyond all", ok + "Content-Length: 99999999999999999999\r\n\r\n", outcome{Err: `the response's Content-Length is "99999999999999999999"`}},
	{"two lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", outcome{Err: "the response has two lengths, 5 and 6"}},
	{"compressed", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", outcome{Err: `the response's Transfer-Encoding is "gzip, chunked", which was not requested`}},
	{"coded twice", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", outcome{Err: `the response's Transfer-Encoding is "chunked", which was not requested`}},
	{"chunk size in words", chunked + "five\r\nhello\r\n", outcome{Err: `"five" is not a chunk size`}},
	{"chunk size and more", chunked + "5 5\r\nhello\r\n", outcome{Err: `"5 5" is not a chunk size`}},
	{"chunk size missing", chunked + "\r\nhello\r\n", outcome{Err: `"" where a chunk size should be`}},
	{"chunk extension without a size", chunked + ";a=b\r\n", outcome{Err: `";a=b" where a chunk size should be`}},
	{"chunk size beyond all", chunked + "fffffffffffffffff\r\n", outcome{Err: `chunk size "fffffffffffffffff" is too large`}},
	{"chunk longer than it says", chunked + "2\r\nhiho\r\n0\r\n\r\n", outcome{Err: `"ho" where a chunk of the response should end`}},
}

func TestResponse(t *testing.T) {
	for _, tt := range responses {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, feedAll(fresh(), []byte(tt.wire))); diff != "" {
				t.Errorf("in one piece (-want +got):\n%s", diff)
			}
		})
	}
}

// sameKind takes the words out of an error that quotes what has come so far.
func sameKind(o outcome) outcome {
	if i := strings.Index(o.Err, "begins with"); i >= 0 {
		o.Err = o.Err[:i]
	}
	return o
}

func TestResponseIsTheSameHoweverItIsSplit(t *testing.T) {
	reused := fresh()
	for _, tt := range responses {
		t.Run(tt.name, func(t *testing.T) {
			want := sameKind(tt.want)
			wire := []byte(tt.wire)
			check := func(how string, pieces ...[]byte) {
				t.Helper()
				reused.reset(reused.body[:0])
				if diff := cmp.Diff(want, sameKind(feedAll(reused, pieces...))); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", how, diff)
				}
			}
			for i := range wire {
				check(fmt.Sprintf("split at %d", i), wire[:i], wire[i:])
				for k := i + 1; k < len(wire); k += 11 {
					check(fmt.Sprintf("split at %d and %d", i, k), wire[:i], wire[i:k], wire[k:])
				}
			}
			check("byte by byte", singly(wire)...)
		})
	}
}

func singly(wire []byte) [][]byte {
	var pieces [][]byte
	for i := range wire {
		pieces = append(pieces, wire[i:i+1])
	}
	return pieces
}

func TestBytesAfterTheAnswerEndTheConnection(t *testing.T) {
	for _, wire := range []string{
		ok + "Content-Length: 2\r\n\r\nhi",
		ok + "Content-Length: 0\r\n\r\n",
		chunked + "2\r\nhi\r\n0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
	} {
		r := fresh()
		if done, err := r.feed([]byte(wire + "x")); !done || err != nil || r.keepAlive {
			t.Errorf("%q and one byte: done %v, error %v, kept alive %v; want done, and the connection not used again", wire, done, err, r.keepAlive)
		}
	}
}

func TestAnswerToARequestThatAllowsNoBody(t *testing.T) {
	r := fresh()
	r.bare = true
	if done, err := r.feed([]byte(ok + "Content-Length: 10\r\n\r\n")); !done || err != nil || len(r.body) != 0 || !r.keepAlive {
		t.Errorf("done %v, error %v, body %q, kept alive %v", done, err, r.body, r.keepAlive)
	}
}

func TestEndlessHeadsAndLinesAreCutShort(t *testing.T) {
	for _, tt := range []struct{ name, begin, more, want string }{
		{"head", ok + "X: ", strings.Repeat("x", 1000), "headers are longer than"},
		{"headers", ok, "X: y\r\n", "headers are longer than"},
		{"chunk line", chunked + "1;", strings.Repeat("x", 1000), "a line longer than"},
		{"trailer line", chunked + "0\r\nX: ", strings.Repeat("x", 1000), "a line longer than"},
	} {
		r, once := fresh(), fresh()
		r.most, once.most = 256<<10, 256<<10
		_, err := r.feed([]byte(tt.begin))
		for n := 0; err == nil && n < 1<<20; n += len(tt.more) {
			_, err = r.feed([]byte(tt.more))
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v after a megabyte, want one with %q", tt.name, err, tt.want)
		}
		whole := tt.begin + strings.Repeat(tt.more, 1+(1<<20)/len(tt.more)) + "\r\n\r\n"
		if _, err := once.feed([]byte(whole)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in one piece: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// FuzzResponse takes any bytes, cut anywhere. The result must not depend on the
// cuts, and where net/http reads the same bytes as an answer too, it must read the
// same one.
func FuzzResponse(f *testing.F) {
	for i, tt := range responses {
		f.Add([]byte(tt.wire), uint16(i), uint16(3*i))
	}
	mutate.Fuzz(f, func(t *testing.T, wire []byte, a, b uint16) {
		if len(wire) > 64<<10 {
			return
		}
		whole := feedAll(fresh(), wire)
		i := int(a) % (len(wire) + 1)
		k := i + int(b)%(len(wire)-i+1)
		for _, pieces := range [][][]byte{{wire[:i], wire[i:]}, {wire[:i], wire[i:k], wire[k:]}, singly(wire)} {
			got := feedAll(fresh(), pieces...)
			if whole.Done && got.Done {
				got.KeepAlive = whole.KeepAlive // bytes behind the answer are only seen in the piece with its end
			}
			if diff := cmp.Diff(sameKind(whole), sameKind(got)); diff != "" {
				t.Fatalf("%d pieces (-whole +pieces):\n%s", len(pieces), diff)
			}
		}
		if whole.Err != "" {
			return
		}
		std, ok := readStandard(wire)
		if ok && !cmp.Equal(std, whole) {
			t.Errorf("(-net/http +ours):\n%s", cmp.Diff(std, whole))
		}
	})
}

// readStandard reads an answer with net/http, past interim ones. false: it does not
// take it, or takes it by other rules.
func readStandard(wire []byte) (outcome, bool) {
	if bytes.Contains(wire, []byte("\n ")) || bytes.Contains(wire, []byte("\n\t")) {
		return outcome{}, false // it unfolds headers
	}
	in := bufio.NewReader(bytes.NewReader(wire))
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodPost})
		if err != nil {
			return outcome{}, false
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return outcome{}, false
		}
		if resp.StatusCode < 200 {
			continue
		}
		if !resp.ProtoAtLeast(1, 1) && bytes.Contains(bytes.ToLower(wire), []byte("transfer-encoding")) {
			return outcome{}, false // it does not heed the header in answers of HTTP/1.0
		}
		if len(resp.Header["Content-Type"]) > 1 || len(resp.Header["Retry-After"]) > 1 {
			return outcome{}, false // it takes the first
		}
		_, err = in.ReadByte()
		last := errors.Is(err, io.EOF)
		untilClose := resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
		return outcome{
			Status: resp.StatusCode, Body: string(body),
			ContentType: resp.Header.Get("Content-Type"), RetryAfter: resp.Header.Get("Retry-After"),
			KeepAlive: !resp.Close && last, Done: !untilClose,
		}, true
	}
}
