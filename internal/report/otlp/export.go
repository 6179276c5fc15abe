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
	"time"

	dialect "inferometer/internal/dialect/inferenceperf"
	"inferometer/internal/record"
)

// batchSize is how many spans go in one export.
const batchSize = 512

// tries is how often an export is sent before it is given up, and pause how long the
// first wait between them is.
const (
	tries = 4
	pause = 500 * time.Millisecond
)

// exportTime is how long a collector may take for one export.
const exportTime = 10 * time.Second

// Exporter sends the spans of a run's requests. It belongs to one goroutine.
type Exporter struct {
	settings Settings
	file     io.Writer
	ctx      context.Context
	maker    maker
	batch    []span
	sent     int64
	lost     int64
	err      error
	broken   bool // an export was given up
}

// New begins an export. Where the settings name no collector, spans go to file.
func New(ctx context.Context, s Settings, r Run, o *dialect.Options, file io.Writer) *Exporter {
	return &Exporter{settings: s, file: file, ctx: ctx, maker: maker{run: r, opt: o, perStage: s.PerStage, groups: map[string]*group{}}}
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
	body, err := json.Marshal(e.message())
	var rejected int64
	switch {
	case err != nil:
	case e.settings.Endpoint == "":
		_, err = e.file.Write(append(body, '\n'))
	default:
		rejected, err = e.deliver(body)
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
	resource := []attribute{text("service.name", e.settings.Service), text("service.version", e.maker.run.Version), text("telemetry.sdk.language", "go")}
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": resource},
		"scopeSpans": []object{{"scope": object{"name": "inferometer", "version": e.maker.run.Version}, "spans": e.batch}},
	}}}
}

// deliver sends an export until a collector takes it or refuses it for good.
func (e *Exporter) deliver(body []byte) (rejected int64, err error) {
	for try, wait := 1, pause; ; try, wait = try+1, wait*2 {
		again := false
		rejected, again, err = e.post(body)
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

// post sends an export once; again: the same may go well later.
func (e *Exporter) post(body []byte) (rejected int64, again bool, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, exportTime)
	defer cancel()
	to := e.settings.Endpoint
	shown := to
	if u, err := url.Parse(to); err == nil {
		shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String() // no user, no query
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, false, fmt.Errorf("exporting spans to %s: %w", shown, err)
	}
	for name, value := range e.settings.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address is in the message already, without a password
		}
		return 0, true, fmt.Errorf("exporting spans to %s: %w; is it a collector's port for OTLP over HTTP (usually 4318, not 4317)?", shown, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return 0, true, fmt.Errorf("reading the answer of %s to an export of spans: %w", shown, err)
	}
	if res.StatusCode/100 != 2 {
		switch res.StatusCode {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			again = true
		}
		return 0, again, fmt.Errorf("exporting spans to %s: it answered %s: %.200q", shown, res.Status, answer)
	}
	var partial struct {
		PartialSuccess struct {
			RejectedSpans json.Number
			ErrorMessage  string
		}
	}
	if json.Unmarshal(answer, &partial) == nil {
		if n, err := partial.PartialSuccess.RejectedSpans.Int64(); err == nil && n > 0 {
			return n, false, fmt.Errorf("exporting spans to %s: it refused %d: %.200s", shown, n, partial.PartialSuccess.ErrorMessage)
		}
	}
	return 0, false, nil
}
