package exchange

import (
	"net/url"
	"slices"
	"strconv"

	"inferometer/internal/netclock"
)

// Field is one header field.
type Field struct{ Name, Value string }

// Head is what all requests to one URL share: the request line and the headers.
type Head struct {
	target *url.URL
	fields []Field
	bytes  []byte // up to the fields that differ from request to request
}

// NewHead encodes the shared part of POST requests to u. Proxy is nil for a
// direct connection.
func NewHead(u *url.URL, fields []Field, proxy *url.URL) *Head {
	h := &Head{target: u, fields: slices.Clone(fields)}
	b := append(h.bytes, "POST "...)
	if proxy != nil && u.Scheme == "http" {
		b = append(b, "http://"+u.Host...)
	}
	b = append(b, u.RequestURI()...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, u.Host...)
	b = append(b, "\r\n"...)
	for _, f := range fields {
		b = appendField(b, f)
	}
	if proxy != nil && u.Scheme == "http" {
		if auth := netclock.ProxyAuthorization(proxy); auth != "" {
			b = appendField(b, Field{"Proxy-Authorization", auth})
		}
	}
	h.bytes = b
	return h
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

// Body is the request's body.
func (r *Request) Body() []byte { return r.wire[r.start:] }

// Host is the server that the requests go to.
func (h *Head) Host() string { return h.target.Host }
