package otlp

import (
	"context"
	"encoding/json"
	"io"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// Exporter sends the spans of a run's requests. It belongs to one goroutine.
type Exporter struct {
	maker maker
	out   *otlp.Spans
}

// New begins an export. Where the settings name no collector, spans go to file.
func New(ctx context.Context, s Settings, r Run, o *dialect.Options, file io.Writer) *Exporter {
	e := &Exporter{maker: maker{run: r, opt: o, perStage: s.PerStage, groups: map[string]*group{}}}
	resource := []otlp.Attribute{otlp.Text("service.name", s.Service), otlp.Text("service.version", r.Version), otlp.Text("telemetry.sdk.language", "go")}
	e.out = otlp.NewSpans(ctx, s.Settings, otlp.Batch{Resource: resource, Version: r.Version})
	if s.Endpoint == "" {
		e.out.File = func(b *otlp.Batch) error { return json.NewEncoder(file).Encode(b.JSON()) }
	}
	return e
}

// Add exports a request.
func (e *Exporter) Add(rec *record.Record) { e.out.Add(e.maker.request(rec)) }

// Close exports what is left. It gives how many spans arrived; the error says why others
// did not.
func (e *Exporter) Close() (sent int64, err error) {
	for _, s := range e.maker.rest() {
		e.out.Add(s)
	}
	return e.out.Close()
}
