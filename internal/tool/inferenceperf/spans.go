package inferenceperf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/otlp"
)

// SpansFile is where spans go that no collector is named for.
const SpansFile = "otel_spans.jsonl"

// export gives the requests out as spans, after the reports, which a missing collector does not
// cost.
func (t *job) export(ctx context.Context, s otlp.Settings) error {
	switch {
	case s.Endpoint != "":
		return t.exportTo(ctx, s, nil)
	case t.action.Options.Dir == "":
		return t.exportTo(ctx, s, t.env.Out)
	}
	return t.write(SpansFile, func(w io.Writer) error { return t.exportTo(ctx, s, w) })
}

func (t *job) exportTo(ctx context.Context, s otlp.Settings, file io.Writer) error {
	o, target := &t.action.Options, &t.action.Plan.Target
	// What the conventions call the work of an endpoint.
	operation := cmp.Or(map[string]string{"completions": "text_completion", "embeddings": "embeddings"}[target.Endpoint], "chat")
	var e *otlp.Exporter
	_, err := t.records.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			e = otlp.New(ctx, s, otlp.Run{
				Start: l.Header.Start, Seed: l.Header.Seed, Version: t.env.Version, Operation: operation, Provider: o.Server,
				Model: target.Model, Servers: target.URLs,
			}, &dialect.Options{ServerTokens: o.Lifecycle.ServerTokens, Tokenizer: o.TokenizerGiven, Faithful: o.Faithful}, file)
		case l.Request != nil:
			e.Add(l.Request)
		}
		return nil
	})
	if e == nil {
		return fmt.Errorf("reading the records for the spans: %w", err)
	}
	sent, lost := e.Close()
	if sent > 0 && s.Endpoint != "" {
		fmt.Fprintf(t.env.Log, "INFO - %d OpenTelemetry spans exported\n", sent)
	}
	return errors.Join(err, lost)
}
