package http1

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Field is one header field.
type Field struct{ Name, Value string }

// Head is what all requests to one URL share: the request line and the headers.
type Head struct {
	target *url.URL
	bytes  []byte  // HTTP/1.1: up to the fields that differ from request to request
	pseudo []Field // HTTP/2: the same, names in lower case
}

// NewHead encodes the shared part of POST requests to u. Proxy is nil for a
// direct connection. A Host among the fields takes the place of the URL's.
func NewHead(u *url.URL, fields []Field, proxy *url.URL) *Head {
	h := &Head{target: u}
	host := u.Host
	for _, f := range fields {
		if strings.EqualFold(f.Name, "Host") {
			host = f.Value
		}
	}
	b := append(h.bytes, "POST "...)
	if proxy != nil && u.Scheme == "http" {
		b = append(b, "http://"+u.Host...)
	}
	b = append(b, u.RequestURI()...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, "\r\n"...)
	h.pseudo = []Field{{":method", "POST"}, {":scheme", u.Scheme}, {":authority", host}, {":path", u.RequestURI()}}
	for _, f := range fields {
		name := strings.ToLower(f.Name)
		if ours(name) {
			continue
		}
		b = appendField(b, f)
		if !ofConnection(name) {
			h.pseudo = append(h.pseudo, Field{name, f.Value})
		}
	}
	if proxy != nil && u.Scheme == "http" {
		if auth := timedconn.ProxyAuthorization(proxy); auth != "" {
			b = appendField(b, Field{"Proxy-Authorization", auth})
		}
	}
	h.bytes = b
	return h
}

// ours reports whether a field is written by this package: a second one would be invalid.
func ours(name string) bool {
	return name == "host" || name == "content-length" || name == "transfer-encoding"
}

// ofConnection reports whether a field speaks of the connection, which has no
// place in HTTP/2.
func ofConnection(name string) bool {
	return slices.Contains([]string{"connection", "proxy-connection", "keep-alive", "upgrade", "te", "http2-settings"}, name)
}

func appendField(b []byte, f Field) []byte {
	b = append(b, f.Name...)
	b = append(b, ": "...)
	b = append(b, f.Value...)
	return append(b, "\r\n"...)
}

// Request is a request encoded to the last byte.
type Request struct {
	Head  *Head
	own   []Field
	wire  []byte // HTTP/1.1: head and body in one piece
	start int    // of the body in wire

	Want string // header of the response that is kept; empty: none
	Got  string // its value, after the request; empty: the response had none
}

// Encode makes a request of a body; own are the fields that only this one has.
func (h *Head) Encode(body []byte, own ...Field) *Request {
	b := make([]byte, 0, len(h.bytes)+len(body)+96)
	b = append(b, h.bytes...)
	for _, f := range own {
		b = appendField(b, f)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	start := len(b)
	return &Request{Head: h, own: own, wire: append(b, body...), start: start}
}

// Fields are those that only this request has.
func (r *Request) Fields() []Field { return r.own }

// Body is the request's body.
func (r *Request) Body() []byte { return r.wire[r.start:] }

// Host is the server that the requests go to.
func (h *Head) Host() string { return h.target.Host }

// HTTP2 are the shared fields as HTTP/2 has them: pseudo-fields first, names in
// lower case.
func (h *Head) HTTP2() []Field { return h.pseudo }
