package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
)

// What net/http reads of an encoded request must be what was meant.
func TestEncodedRequests(t *testing.T) {
	fields := []Field{{"User-Agent", "inferometer"}, {"Content-Type", "application/json"}, {"Authorization", "Bearer key"}}
	for _, tt := range []struct {
		name, url, proxy string
		body             string
		own              []Field
		wantURI          string
		wantHost         string
		wantProxyAuth    string
	}{
		{"plain", "http://localhost:8000/v1/chat/completions", "", `{"model":"m"}`, nil, "/v1/chat/completions", "localhost:8000", ""},
		{"no body", "http://localhost:8000/v1", "", "", nil, "/v1", "localhost:8000", ""},
		{"no path", "http://localhost:8000", "", "x", nil, "/", "localhost:8000", ""},
		{"query", "https://api.example.com/v1/completions?api-version=2&x=%20y", "", "{}", nil, "/v1/completions?api-version=2&x=%20y", "api.example.com", ""},
		{"path to escape", "http://h/a b/ü", "", "{}", nil, "/a%20b/%C3%BC", "h", ""},
		{"user in the URL", "http://user:word@h:81/v1", "", "{}", nil, "/v1", "h:81", ""},
		{"IPv6", "http://[::1]:8000/v1", "", "{}", nil, "/v1", "[::1]:8000", ""},
		{"fields of its own", "http://h/v1", "", "{}", []Field{{"X-Request-Id", "run-1"}, {"X-Two", "2"}}, "/v1", "h", ""},
		{"body of line ends", "http://h/v1", "", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", nil, "/v1", "h", ""},
		{"proxy", "http://h:82/v1?q=1", "http://proxy:3128", "{}", nil, "http://h:82/v1?q=1", "h:82", ""},
		{"proxy with a user", "http://h/v1", "http://me:secret@proxy:3128", "{}", nil, "http://h/v1", "h", "Basic bWU6c2VjcmV0"},
		{"https through a tunnel", "https://h/v1", "http://me:secret@proxy:3128", "{}", nil, "/v1", "h", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := url.Parse(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			var proxy *url.URL
			if tt.proxy != "" {
				if proxy, err = url.Parse(tt.proxy); err != nil {
					t.Fatal(err)
				}
			}
			h := NewHead(u, fields, proxy)
			r := h.Encode([]byte(tt.body), tt.own...)
			second := h.Encode([]byte("second")) // shares the head and must not share memory
			in := bufio.NewReader(bytes.NewReader(r.wire))
			got, err := http.ReadRequest(in)
			if err != nil {
				t.Fatalf("net/http does not read %q: %v", r.wire, err)
			}
			body, err := io.ReadAll(got.Body)
			if err != nil || string(body) != tt.body || string(r.Body()) != tt.body {
				t.Errorf("body %q, error %v; ours says %q; want %q", body, err, r.Body(), tt.body)
			}
			if got.Method != "POST" || got.Proto != "HTTP/1.1" || got.RequestURI != tt.wantURI || got.Host != tt.wantHost {
				t.Errorf("%s %s %s, host %s; want POST %s HTTP/1.1, host %s", got.Method, got.RequestURI, got.Proto, got.Host, tt.wantURI, tt.wantHost)
			}
			want := http.Header{"Content-Length": {strconv.Itoa(len(tt.body))}}
			for _, f := range append(fields[:len(fields):len(fields)], tt.own...) {
				want.Set(f.Name, f.Value)
			}
			if tt.wantProxyAuth != "" {
				want.Set("Proxy-Authorization", tt.wantProxyAuth)
			}
			for name := range want {
				if got.Header.Get(name) != want.Get(name) || len(got.Header[name]) != 1 {
					t.Errorf("%s: %q, want %q", name, got.Header[name], want[name])
				}
			}
			if len(got.Header) != len(want) {
				t.Errorf("headers %v, want %v", got.Header, want)
			}
			if rest, _ := io.ReadAll(in); len(rest) > 0 {
				t.Errorf("%q stands behind the request", rest)
			}
			if string(second.Body()) != "second" {
				t.Errorf("the second request's body is %q", second.Body())
			}
		})
	}
}
