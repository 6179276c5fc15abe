package otlp

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// grpcTransport speaks HTTP/2 from the first byte, also without TLS, as gRPC does.
func grpcTransport() *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), Proxy: func(r *http.Request) (*url.URL, error) {
		if r.URL.Scheme != "https" {
			return nil, nil // a proxy would have to speak HTTP/2 without TLS
		}
		return http.DefaultTransport.(*http.Transport).Proxy(r)
	}}
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	return t
}

// call sends an export once, as a gRPC call; again: the same may go well later.
func (c *Client) call(ctx context.Context, s signal, body []byte) (answer []byte, again bool, err error) {
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))) // not compressed
	res, answer, err := c.exchange(ctx, c.settings.Endpoint+s.method, map[string]string{
		"Content-Type": "application/grpc", "TE": "trailers", "Grpc-Timeout": fmt.Sprintf("%dm", exportTime.Milliseconds()),
	}, append(framed, body...))
	if err != nil {
		return nil, true, err
	}
	code := res.Trailer.Get("Grpc-Status")
	about := res.Trailer.Get("Grpc-Message")
	if code == "" { // a response of nothing but its end
		code, about = res.Header.Get("Grpc-Status"), res.Header.Get("Grpc-Message")
	}
	switch {
	case code == "":
		return nil, passing(res.StatusCode), fmt.Errorf("it returned %s, which is not gRPC: %.200q", res.Status, answer)
	case code != "0":
		if text, err := url.PathUnescape(about); err == nil {
			about = text
		}
		return nil, passingCode(code), fmt.Errorf("it returned gRPC status %s: %.200q", code, about)
	case len(answer) < 5 || answer[0] != 0:
		return nil, false, nil // nothing was refused that we could read of
	}
	return answer[5:], false, nil
}

// passingCode reports whether OTLP lets an export go again after this status: cancelled,
// deadline exceeded, resource exhausted, aborted, out of range, unavailable, data loss.
func passingCode(code string) bool {
	return slices.Contains([]string{"1", "4", "8", "10", "11", "14", "15"}, code)
}
