package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// exportMethod is the path of the one method that takes spans.
const exportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

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
func (e *Exporter) call(body []byte) (answer []byte, again bool, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, exportTime)
	defer cancel()
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))) // not compressed
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.Endpoint+exportMethod, bytes.NewReader(append(framed, body...)))
	if err != nil {
		return nil, false, err
	}
	e.dress(req, "application/grpc")
	req.Header.Set("TE", "trailers")
	req.Header.Set("Grpc-Timeout", strconv.FormatInt(int64(exportTime/time.Millisecond), 10)+"m")
	res, err := e.client.Do(req)
	if err != nil {
		return nil, true, fmt.Errorf("%w; is it a collector's port for OTLP over gRPC (usually 4317)? For HTTP set OTEL_EXPORTER_OTLP_PROTOCOL=%s", bare(err), HTTPProtobuf)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, true, fmt.Errorf("reading the answer: %w", err)
	}
	code := res.Trailer.Get("Grpc-Status")
	about := res.Trailer.Get("Grpc-Message")
	if code == "" { // an answer of nothing but its end
		code, about = res.Header.Get("Grpc-Status"), res.Header.Get("Grpc-Message")
	}
	switch {
	case code == "":
		return nil, passing(res.StatusCode), fmt.Errorf("it answered %s, which is not gRPC: %.200q", res.Status, answer)
	case code != "0":
		if text, err := url.PathUnescape(about); err == nil {
			about = text
		}
		return nil, passingCode(code), fmt.Errorf("it answered with gRPC status %s: %.200q", code, about)
	case len(answer) < 5 || answer[0] != 0:
		return nil, false, nil // nothing was refused that we could read of
	}
	return answer[5:], false, nil
}

// passingCode reports whether OTLP lets an export go again after this status: cancelled,
// deadline exceeded, resource exhausted, aborted, out of range, unavailable, data loss.
func passingCode(code string) bool {
	switch code {
	case "1", "4", "8", "10", "11", "14", "15":
		return true
	}
	return false
}
