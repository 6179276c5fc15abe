package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/protostruct"
)

// tries is how often an export is sent at most, and pause the first wait between tries.
const (
	tries = 4
	pause = 500 * time.Millisecond
)

// exportTime is how long a collector may take for an export, maxAnswer how much of its response is
// read.
const (
	exportTime = 10 * time.Second
	maxAnswer  = 1 << 20
)

const scopeName = "inferometer"

// Batch is what goes in one export: spans or metrics.
type Batch struct {
	Resource []Attribute // who sends them
	Version  string      // of this program
	Spans    []Span
	Metrics  []Metric
}

type signal struct {
	noun   string // what is sent
	method string // the path of the one method that takes it over gRPC
}

func (b *Batch) signal() signal {
	if b.Metrics != nil {
		return signal{"metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"}
	}
	return signal{"spans", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}
}

// Len is how many spans or points there are.
func (b *Batch) Len() int64 {
	n := len(b.Spans)
	for i := range b.Metrics {
		n += b.Metrics[i].Len()
	}
	return int64(n)
}

// JSON is the export in OTLP's JSON.
func (b *Batch) JSON() any {
	type object map[string]any
	resource, scope := object{"attributes": b.Resource}, object{"name": scopeName, "version": b.Version}
	if b.Metrics != nil {
		return object{"resourceMetrics": []object{{"resource": resource, "scopeMetrics": []object{{"scope": scope, "metrics": b.Metrics}}}}}
	}
	return object{"resourceSpans": []object{{"resource": resource, "scopeSpans": []object{{"scope": scope, "spans": b.Spans}}}}}
}

// protobuf is the export as an ExportTraceServiceRequest or ExportMetricsServiceRequest: alike.
func (b *Batch) protobuf() []byte {
	type (
		scope struct {
			Name    string `pb:"1"`
			Version string `pb:"2"`
		}
		scoped struct {
			Scope   scope    `pb:"1"`
			Spans   []Span   `pb:"2"`
			Metrics []Metric `pb:"2"`
		}
		resource struct {
			Attributes []Attribute `pb:"1"`
		}
		group struct {
			Resource resource `pb:"1"`
			Scoped   scoped   `pb:"2"`
		}
		request struct {
			Group group `pb:"1"`
		}
	)
	return protostruct.Append(nil, request{group{resource{b.Resource}, scoped{scope{scopeName, b.Version}, b.Spans, b.Metrics}}})
}

// Client sends exports to a collector.
type Client struct {
	settings Settings
	http     *http.Client
}

// NewClient makes a client of the collector that the settings name.
func NewClient(s Settings) *Client {
	c := &Client{settings: s, http: http.DefaultClient}
	if s.Protocol == GRPC {
		c.http = &http.Client{Transport: grpcTransport()}
	}
	return c
}

// Close gives up connections.
func (c *Client) Close() {
	if c.settings.Protocol == GRPC {
		c.http.CloseIdleConnections()
	}
}

// Export sends a batch until the collector takes it or refuses it for good. With an error,
// rejected is how many of its spans or points were refused; 0: all are lost.
func (c *Client) Export(ctx context.Context, b *Batch) (rejected int64, err error) {
	var body []byte
	if c.settings.Protocol == HTTPJSON {
		if body, err = json.Marshal(b.JSON()); err != nil {
			return 0, err
		}
	} else {
		body = b.protobuf()
	}
	for try, wait := 1, pause; ; try, wait = try+1, wait*2 {
		again := false
		rejected, again, err = c.send(ctx, b.signal(), body)
		if err == nil || !again || try == tries {
			return rejected, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return rejected, errors.Join(err, ctx.Err())
		}
	}
}

// send sends an export once, and says how much of it was refused.
func (c *Client) send(ctx context.Context, s signal, body []byte) (rejected int64, again bool, err error) {
	shown := c.settings.Endpoint
	if u, err := url.Parse(shown); err == nil {
		shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String() // no user, no query
	}
	by := c.post
	if c.settings.Protocol == GRPC {
		by = c.call
	}
	answer, again, err := by(ctx, s, body)
	if err != nil {
		return 0, again, fmt.Errorf("exporting %s to %s: %w", s.noun, shown, err)
	}
	rejected, why := partial(answer)
	if c.settings.Protocol == HTTPJSON {
		rejected, why = partialJSON(answer)
	}
	if rejected > 0 {
		return rejected, false, fmt.Errorf("exporting %s to %s: it rejected %d: %.200s", s.noun, shown, rejected, why)
	}
	return 0, false, nil
}

// bare is a client's error without the address, which may hold a password.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// passing reports whether a response with this status may be another one later.
func passing(code int) bool {
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout}, code)
}

// exchange posts a body with the headers of the settings and the protocol, and reads the response.
func (c *Client) exchange(ctx context.Context, address string, headers map[string]string, body []byte) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, exportTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for _, list := range []map[string]string{c.settings.Headers, headers} {
		for name, value := range list {
			req.Header.Set(name, value)
		}
	}
	res, err := c.http.Do(req)
	if err != nil {
		hint := "is it a collector's port for OTLP over HTTP (usually 4318)? For gRPC set OTEL_EXPORTER_OTLP_PROTOCOL=" + GRPC
		if c.settings.Protocol == GRPC {
			hint = "is it a collector's port for OTLP over gRPC (usually 4317)? For HTTP set OTEL_EXPORTER_OTLP_PROTOCOL=" + HTTPProtobuf
		}
		return nil, nil, fmt.Errorf("%w; %s", bare(err), hint)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the response: %w", err)
	}
	return res, answer, nil
}

// post sends an export once over HTTP; again: the same may go well later.
func (c *Client) post(ctx context.Context, _ signal, body []byte) (answer []byte, again bool, err error) {
	form := "application/json"
	if c.settings.Protocol == HTTPProtobuf {
		form = "application/x-protobuf"
	}
	res, answer, err := c.exchange(ctx, c.settings.Endpoint, map[string]string{"Content-Type": form}, body)
	if err != nil {
		return nil, true, err
	}
	if res.StatusCode/100 != 2 {
		return nil, passing(res.StatusCode), fmt.Errorf("it returned %s: %.200q", res.Status, answer)
	}
	return answer, false, nil
}

func partialJSON(answer []byte) (rejected int64, why string) {
	var a struct {
		PartialSuccess struct {
			RejectedSpans      json.Number
			RejectedDataPoints json.Number
			ErrorMessage       string
		}
	}
	_ = json.Unmarshal(answer, &a) // what is not JSON refuses nothing
	spans, _ := a.PartialSuccess.RejectedSpans.Int64()
	points, _ := a.PartialSuccess.RejectedDataPoints.Int64()
	return max(spans, points), a.PartialSuccess.ErrorMessage
}

// Counts are numbers that JSON has as texts.
type Counts []uint64

// MarshalJSON gives a list of texts.
func (c Counts) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, n := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendUint(append(out, '"'), n, 10), '"')
	}
	return append(out, ']'), nil
}
