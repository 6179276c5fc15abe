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
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// batchSize is how many spans go in one export.
const batchSize = 512

// tries is how often an export is sent before it is given up, and pause how long the
// first wait between them is.
const (
	tries = 4
	pause = 500 * time.Millisecond
)

// exportTime is how long a collector may take for one export, and maxAnswer how much of
// its answer is read.
const (
	exportTime = 10 * time.Second
	maxAnswer  = 1 << 20
)

const scopeName = "inferometer"

// Exporter sends the spans of a run's requests. It belongs to one goroutine.
type Exporter struct {
	settings Settings
	file     io.Writer
	ctx      context.Context
	maker    maker
	batch    []span
	sent     int64
	lost     int64
	client   *http.Client
	err      error
	broken   bool // an export was given up
}

// New begins an export. Where the settings name no collector, spans go to file.
func New(ctx context.Context, s Settings, r Run, o *dialect.Options, file io.Writer) *Exporter {
	e := &Exporter{settings: s, file: file, ctx: ctx, maker: maker{run: r, opt: o, perStage: s.PerStage, groups: map[string]*group{}}, client: http.DefaultClient}
	if s.Protocol == GRPC {
		e.client = &http.Client{Transport: grpcTransport()}
	}
	return e
}

// Add exports a request.
func (e *Exporter) Add(rec *record.Record) { e.put(e.maker.request(rec)) }

// Close exports what is left. It gives how many spans arrived; the error says why others
// did not.
func (e *Exporter) Close() (sent int64, err error) {
	for _, s := range e.maker.rest() {
		e.put(s)
	}
	e.flush()
	if e.settings.Protocol == GRPC {
		e.client.CloseIdleConnections()
	}
	if e.err != nil {
		return e.sent, fmt.Errorf("%d spans were exported and %d were not: %w", e.sent, e.lost, e.err)
	}
	return e.sent, nil
}

func (e *Exporter) put(s span) {
	if e.batch = append(e.batch, s); len(e.batch) == batchSize {
		e.flush()
	}
}

// flush exports the batch. After one that was given up no other is tried: a run may have
// a million spans, and each would wait in vain.
func (e *Exporter) flush() {
	n := int64(len(e.batch))
	if n == 0 {
		return
	}
	defer func() { e.batch = e.batch[:0] }()
	if e.broken {
		e.lost += n
		return
	}
	var rejected int64
	var err error
	if e.settings.Endpoint == "" {
		err = json.NewEncoder(e.file).Encode(e.message())
	} else {
		rejected, err = e.deliver()
	}
	if err != nil && rejected == 0 {
		rejected, e.broken = n, true
	}
	rejected = min(rejected, n)
	e.sent, e.lost = e.sent+n-rejected, e.lost+rejected
	if e.err == nil {
		e.err = err
	}
}

// message is an export request with the batch.
func (e *Exporter) message() any {
	type object map[string]any
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": e.resource()},
		"scopeSpans": []object{{"scope": object{"name": scopeName, "version": e.maker.run.Version}, "spans": e.batch}},
	}}}
}

// resource says who sends the spans.
func (e *Exporter) resource() []attribute {
	return []attribute{text("service.name", e.settings.Service), text("service.version", e.maker.run.Version), text("telemetry.sdk.language", "go")}
}

// deliver sends the batch until a collector takes it or refuses it for good.
func (e *Exporter) deliver() (rejected int64, err error) {
	var body []byte
	if e.settings.Protocol == HTTPJSON {
		if body, err = json.Marshal(e.message()); err != nil {
			return 0, err
		}
	} else {
		body = e.protobuf()
	}
	for try, wait := 1, pause; ; try, wait = try+1, wait*2 {
		again := false
		rejected, again, err = e.send(body)
		if err == nil || !again || try == tries {
			return rejected, err
		}
		select {
		case <-time.After(wait):
		case <-e.ctx.Done():
			return rejected, errors.Join(err, e.ctx.Err())
		}
	}
}

// send sends an export once, and says how many of its spans were refused.
func (e *Exporter) send(body []byte) (rejected int64, again bool, err error) {
	shown := e.settings.Endpoint
	if u, err := url.Parse(shown); err == nil {
		shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String() // no user, no query
	}
	by := e.post
	if e.settings.Protocol == GRPC {
		by = e.call
	}
	answer, again, err := by(body)
	if err != nil {
		return 0, again, fmt.Errorf("exporting spans to %s: %w", shown, err)
	}
	rejected, why := partial(answer)
	if e.settings.Protocol == HTTPJSON {
		rejected, why = partialJSON(answer)
	}
	if rejected > 0 {
		return rejected, false, fmt.Errorf("exporting spans to %s: it rejected %d: %.200s", shown, rejected, why)
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

// passing reports whether an answer with this status may be another one later.
func passing(code int) bool {
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, code)
}

// exchange posts a body with the headers that the settings name and those of its protocol,
// and reads the answer.
func (e *Exporter) exchange(address string, headers map[string]string, body []byte) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(e.ctx, exportTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for _, list := range []map[string]string{e.settings.Headers, headers} {
		for name, value := range list {
			req.Header.Set(name, value)
		}
	}
	res, err := e.client.Do(req)
	if err != nil {
		hint := "is it a collector's port for OTLP over HTTP (usually 4318)? For gRPC set OTEL_EXPORTER_OTLP_PROTOCOL=" + GRPC
		if e.settings.Protocol == GRPC {
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
func (e *Exporter) post(body []byte) (answer []byte, again bool, err error) {
	form := "application/json"
	if e.settings.Protocol == HTTPProtobuf {
		form = "application/x-protobuf"
	}
	res, answer, err := e.exchange(e.settings.Endpoint, map[string]string{"Content-Type": form}, body)
	if err != nil {
		return nil, true, err
	}
	if res.StatusCode/100 != 2 {
		return nil, passing(res.StatusCode), fmt.Errorf("it returned %s: %.200q", res.Status, answer)
	}
	return answer, false, nil
}

// partialJSON is partial for an answer in JSON.
func partialJSON(answer []byte) (rejected int64, why string) {
	var a struct {
		PartialSuccess struct {
			RejectedSpans json.Number
			ErrorMessage  string
		}
	}
	_ = json.Unmarshal(answer, &a) // what is not JSON refuses nothing
	rejected, _ = a.PartialSuccess.RejectedSpans.Int64()
	return rejected, a.PartialSuccess.ErrorMessage
}
