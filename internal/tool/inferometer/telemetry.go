package inferometer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/remote/remotewrite"
	"github.com/inferometer/inferometer/internal/report/telemetry"
	"github.com/inferometer/inferometer/internal/report/timeline"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// pointBatch is how many points of metrics go in one export.
const pointBatch = 2000

// sending is where a run is sent to when it is over. All of it is made of the records, so
// that it costs the measurement nothing, and after the reports, so that it costs none.
type sending struct {
	traces, metrics otlp.Settings // without an endpoint: they are not wanted
	ratio           float64       // share of traces
	resource        []otlp.Attribute
	receiver        *remotewrite.Client // nil means none
}

// sendingOf finds out what a command line and the environment want; nil means nothing. The
// environment alone is asked right after a run: who only looks at one does not mean to send it
// again.
func sendingOf(env tool.Env, to args.SendTo, fresh bool) (*sending, error) {
	s := &sending{ratio: 1}
	var faults plan.Faults
	note := func(where string, err error) {
		if err != nil {
			faults = append(faults, plan.Fault{Where: where, Text: err.Error()})
		}
	}
	for _, signal := range []struct {
		name, exporter string
		to             *otlp.Settings
	}{{otlp.Traces, "OTEL_TRACES_EXPORTER", &s.traces}, {otlp.Metrics, "OTEL_METRICS_EXPORTER", &s.metrics}} {
		exporter := strings.TrimSpace(env.Getenv(signal.exporter))
		asked := fresh && exporter == "otlp" && !otlp.IsTrue(env.Getenv("OTEL_SDK_DISABLED"))
		if exporter == "none" || to.OTLP == "" && !asked {
			continue
		}
		found, err := collector(env, to.OTLP, signal.name)
		*signal.to = found
		note("", err)
	}
	if s.traces.Endpoint != "" {
		var err error
		s.ratio, err = sampled(env)
		note("", err)
	}
	if to.RemoteWrite != "" {
		var err error
		s.receiver, err = receiver(env, to.RemoteWrite)
		note("--remote-write", err)
	}
	var err error
	s.resource, err = resource(env)
	note("", err)
	switch {
	case s.traces.Endpoint == "" && s.metrics.Endpoint == "" && s.receiver == nil && len(faults) == 0:
		return nil, nil
	case len(faults) > 0:
		return nil, faults
	}
	return s, nil
}

// collector finds where a signal goes. OpenTelemetry's own place is that where nothing else is
// said.
func collector(env tool.Env, base, signal string) (otlp.Settings, error) {
	// An address with a signal's path is the same as one without.
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/v1/"+otlp.Traces), "/v1/"+otlp.Metrics)
	l := otlp.Lookup{Getenv: env.Getenv, Signal: signal, Base: base, Name: "--otlp", Likely: func(u *url.URL) string {
		if u.Port() == "4317" {
			return otlp.GRPC
		}
		return otlp.HTTPProtobuf
	}}
	s, err := l.Settings()
	if err == nil && s.Endpoint == "" {
		l.Base = "http://localhost:4318"
		s, err = l.Settings()
	}
	return s, err
}

// sampled is the share of traces that OpenTelemetry's variables ask for.
func sampled(env tool.Env) (float64, error) {
	const name, share = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	switch sampler := strings.TrimPrefix(env.Getenv(name), "parentbased_"); sampler {
	case "", "always_on":
		return 1, nil
	case "always_off":
		return 0, nil
	case "traceidratio":
		v, err := strconv.ParseFloat(cmp.Or(env.Getenv(share), "1"), 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return 0, fmt.Errorf("%s is %q: use a share from 0 to 1", share, env.Getenv(share))
		}
		return v, nil
	default:
		return 0, fmt.Errorf("%s is %q: use always_on, always_off or traceidratio", name, sampler)
	}
}

// resource says who sends, as OpenTelemetry's variables and this program have it.
func resource(env tool.Env) ([]otlp.Attribute, error) {
	const name = "OTEL_RESOURCE_ATTRIBUTES"
	given, err := otlp.Pairs(env.Getenv(name), name)
	if err != nil {
		return nil, err
	}
	all := map[string]string{"service.name": "inferometer", "service.version": env.Version}
	if host, err := os.Hostname(); err == nil {
		all["host.name"] = host
	}
	maps.Copy(all, given)
	if service := env.Getenv("OTEL_SERVICE_NAME"); service != "" {
		all["service.name"] = service
	}
	var list []otlp.Attribute
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, otlp.Text(key, all[key]))
	}
	return list, nil
}

// receiver is what takes time series.
func receiver(env tool.Env, address string) (*remotewrite.Client, error) {
	if err := remotewrite.Check(address); err != nil {
		return nil, err
	}
	const name = "INFEROMETER_REMOTE_WRITE_HEADERS"
	headers, err := otlp.Pairs(env.Getenv(name), name)
	if err != nil {
		return nil, err
	}
	if token := env.Getenv("INFEROMETER_REMOTE_WRITE_TOKEN"); token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	return &remotewrite.Client{URL: address, Headers: headers, Agent: strings.TrimSuffix("inferometer/"+env.Version, "/")}, nil
}

// send sends a run, and tells how much arrived. The error says what did not.
func (s *sending) send(ctx context.Context, log io.Writer, version, dir string) error {
	return aside.Call("Sending the run", func() error { return s.sendAll(ctx, log, version, dir) })
}

func (s *sending) sendAll(ctx context.Context, log io.Writer, version, dir string) error {
	if ctx.Err() != nil {
		return errors.New("the run was aborted and is not sent: inferometer report DIR sends one that was kept")
	}
	saved, err := saved.Read(dir, saved.Options{})
	if err != nil {
		return fmt.Errorf("reading the records to send: %w", err)
	}
	p := saved.Plan
	r := &telemetry.RunInfo{
		Result: saved.Result, Start: saved.Facts.Header.Start, Version: version, Name: p.Name, Model: p.Target.Model,
		Protocol: p.Target.Protocol, Endpoint: p.Target.Endpoint, Servers: p.Target.URLs,
	}
	for i := range p.Stages {
		rate := p.Stages[i].Rate
		if p.Stages[i].RampTo != 0 {
			rate = 0 // it is another one at each time
		}
		r.Rates = append(r.Rates, rate)
	}
	opts := metric.OptionsFor(p)
	opts.Times = metric.TimesOf(saved.Facts.Stages)
	line := timeline.New(time.Duration(saved.Result.Duration*float64(time.Second)), opts)
	for i := range saved.Facts.Stages {
		line.Mark(&saved.Facts.Stages[i])
	}
	from := otlp.Batch{Version: version, Resource: append(slices.Clone(s.resource), otlp.Text("inferometer.run", r.ID()))}
	if p.Name != "" {
		from.Resource = append(from.Resource, otlp.Text("inferometer.name", p.Name))
	}
	figures, err := s.requests(ctx, log, r, saved.Records, line, opts, from)
	stages := line.Stages()
	if s.metrics.Endpoint != "" {
		err = errors.Join(err, s.export(ctx, log, figures.List(stages), from))
	}
	if s.receiver != nil {
		host, _ := os.Hostname() // without one, series have no instance
		err = errors.Join(err, s.write(ctx, log, r.Series(stages, host)))
	}
	return err
}

// requests goes through the records once, for spans, metrics and time series.
func (s *sending) requests(ctx context.Context, log io.Writer, r *telemetry.RunInfo, records record.File, line *timeline.Timeline,
	opts metric.Options, from otlp.Batch) (*telemetry.Metrics, error) {
	figures, spans := r.Metrics(opts), r.Spans(opts, s.ratio)
	var out *otlp.Spans
	if s.traces.Endpoint != "" {
		out = otlp.NewSpans(ctx, s.traces, from)
	}
	err := records.Requests(func(rec *record.Record) error {
		var proof *otlp.Span
		if out != nil {
			if span, ok := spans.Request(rec); ok {
				proof = &span
				out.Add(span)
			}
		}
		if s.metrics.Endpoint != "" {
			figures.Add(rec, proof)
		}
		line.Add(rec)
		return ctx.Err()
	})
	if out == nil {
		return figures, err
	}
	spans.Rest(out.Add)
	sent, lost := out.Close()
	tellSent(log, sent, "span")
	return figures, errors.Join(err, lost)
}

func (s *sending) export(ctx context.Context, log io.Writer, list []otlp.Metric, from otlp.Batch) error {
	client := otlp.NewClient(s.metrics)
	defer client.Close()
	var tally otlp.Tally
	telemetry.Batches(list, pointBatch, func(part []otlp.Metric) {
		from.Metrics = part
		tally.Count(from.Len(), func() (int64, error) { return client.Export(ctx, &from) })
	})
	tellSent(log, tally.Sent, "metric point")
	if tally.Err != nil {
		return fmt.Errorf("%d points of metrics were exported and %d were not: %w", tally.Sent, tally.Lost, tally.Err)
	}
	return nil
}

func (s *sending) write(ctx context.Context, log io.Writer, all []remotewrite.Series) error {
	out, err := s.receiver.Write(ctx, all)
	tellSent(log, out.Sent, "sample")
	if out.NoHistograms {
		fmt.Fprintln(log, "note: the remote-write receiver takes no native histograms; the series …_quantile_seconds are there")
	}
	if err != nil {
		return fmt.Errorf("%d samples were written and %d were not: %w", out.Sent, out.Lost, err)
	}
	return nil
}

func tellSent(log io.Writer, n int64, thing string) {
	if n > 0 {
		fmt.Fprintf(log, "Sent: %s\n", number.Plural(n, thing))
	}
}

// holder keeps the records of a run until they have been sent: those that no other keeps
// are removed before there is a report.
type holder struct {
	dir string // where they are
	own bool   // by us alone
}

// after is what a run does with its records when it has ended: what then says and, where the
// run is to be sent, keep them; nil means nothing.
func (h *holder) after(to *sending, then func(dir string) error) func(dir string) error {
	if to == nil || h.dir != "" {
		return then
	}
	return func(dir string) error {
		var err error
		if then != nil {
			err = then(dir)
		}
		return errors.Join(err, h.moveRecords(dir))
	}
}

// moveRecords moves the records to a place of our own.
func (h *holder) moveRecords(from string) (err error) {
	if h.dir, err = os.MkdirTemp("", "inferometer-send-*"); err != nil {
		return fmt.Errorf("creating a file for the records to send: %w", err)
	}
	h.own = true
	for _, name := range []string{rundir.PlanFile, rundir.RecordsFile} {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(h.dir, name)); err != nil {
			return fmt.Errorf("keeping the records to send: %w", err)
		}
	}
	return nil
}

// send sends the run, if it is to be sent and there are records of it.
func (h *holder) send(ctx context.Context, env tool.Env, to *sending, log io.Writer) error {
	if to == nil || h.dir == "" {
		return nil
	}
	return to.send(ctx, log, env.Version, h.dir)
}

// remove takes our own away.
func (h *holder) remove() {
	if h.own {
		_ = os.RemoveAll(h.dir)
	}
}
