// Package otlp writes requests as OpenTelemetry spans, named by the conventions for
// generative AI. Spans are made from records after the run: nothing of it is on the clock
// of a request. They go to a collector over gRPC or HTTP, or to a file as JSON, one export
// request a line.
//
// A conversation is a trace, and a request outside of conversations is one by itself.
// With PerStage, a stage is a trace instead, with its conversations and requests in it.
// Prompts and answers are not in spans.
package otlp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// Run is what the spans of a run have in common.
type Run struct {
	Start     time.Time
	Seed      uint64
	Version   string
	Operation string   // "chat", "text_completion", …
	Provider  string   // the kind of server
	Model     string   // of requests that name none
	Servers   []string // their addresses, by record.Target
}

func seconds(key string, d time.Duration) otlp.Attribute { return otlp.Double(key, d.Seconds()) }

// group is a span that holds others: a conversation or a stage.
type group struct {
	otlp.Span
	begin, end time.Duration
	requests   int
}

type maker struct {
	run      Run
	opt      *dialect.Options
	perStage bool
	values   dialect.Values
	groups   map[string]*group
	order    []string
}

// id is n bytes in hexadecimal that belong to a thing of this run and to no other. The
// same records always give the same spans.
func (m *maker) id(n int, parts ...any) string {
	h := sha256.Sum256(fmt.Append(nil, m.run.Start.UnixNano(), m.run.Seed, parts))
	return hex.EncodeToString(h[:n])
}

func (m *maker) unixNano(d time.Duration) int64 { return m.run.Start.Add(d).UnixNano() }

func (m *maker) request(rec *record.Record) otlp.Span {
	begin, end := rec.Sent, rec.End
	if begin < 0 {
		begin = max(rec.Due, 0)
	}
	if end < 0 && rec.Failure != nil {
		end = rec.Failure.At
	}
	end = max(end, begin)
	s := otlp.Span{SpanID: m.id(8, "request", rec.Seq), Kind: otlp.KindClient, Start: m.unixNano(begin), End: m.unixNano(end)}
	s.TraceID, s.Parent = m.place(rec, begin, end)
	model := cmp.Or(rec.Model, m.run.Model)
	s.Name = strings.TrimSpace(m.run.Operation + " " + model)
	m.opt.Measure(rec, &m.values)
	s.Add(true, m.server(rec.Target)...)
	s.Add(true, otlp.Text("gen_ai.operation.name", m.run.Operation), otlp.Text("gen_ai.system", "openai_compatible"),
		otlp.Text("llm.request.type", m.run.Operation), otlp.Bool("llm.is_streaming", rec.Streamed))
	s.Add(m.run.Provider != "", otlp.Text("gen_ai.provider.name", m.run.Provider))
	s.Add(model != "", otlp.Text("gen_ai.request.model", model))
	s.Add(rec.RequestedTokens > 0, otlp.Int("gen_ai.request.max_tokens", rec.RequestedTokens))
	s.Add(rec.Session != "", otlp.Text("gen_ai.conversation.id", rec.Session), otlp.Int("inference_perf.turn", rec.Turn))
	s.Add(true, otlp.Int("inference_perf.stage", rec.Stage), otlp.Text("inference_perf.phase", rec.Phase.String()))
	s.Add(rec.Status > 0, otlp.Int("http.response.status_code", rec.Status))
	s.Add(rec.Sent >= 0, seconds("inference_perf.schedule_delay", rec.Sent-rec.Scheduled()))
	s.Add(rec.Retries > 0, seconds("gen_ai.response.retry_wasted_sec", m.values.Wasted))
	if f := rec.Failure; f != nil {
		s.Status = otlp.Status{Code: otlp.StatusError, Message: f.Message}
		s.Add(true, otlp.Text("error.type", string(f.Class)), otlp.Text("error.message", f.Message))
		return s
	}
	m.answer(&s, rec)
	return s
}

// answer adds what only a request that went well has.
func (m *maker) answer(s *otlp.Span, rec *record.Record) {
	v := &m.values
	s.Status.Code = otlp.StatusOK
	s.Add(true, otlp.Int("gen_ai.usage.input_tokens", v.In), otlp.Int("gen_ai.usage.output_tokens", v.Server),
		otlp.Int("gen_ai.usage.prompt_tokens", v.In), otlp.Int("gen_ai.usage.completion_tokens", v.Server), otlp.Int("llm.usage.total_tokens", v.In+v.Server),
		seconds("gen_ai.response.total_latency", max(rec.End-rec.Sent, 0)))
	s.Add(rec.Finish != "", otlp.Texts("gen_ai.response.finish_reasons", rec.Finish))
	if v.TTFT != dialect.None {
		s.Add(true, seconds("gen_ai.response.time_to_first_token", v.TTFT))
		s.Events = append(s.Events, otlp.Event{Time: m.unixNano(v.Start + v.TTFT), Name: "first token"})
	}
	t, ok := v.TPOT()
	s.Add(ok, otlp.Double("gen_ai.response.time_per_output_token", t))
}

func (m *maker) server(i int) []otlp.Attribute {
	if i < 0 || i >= len(m.run.Servers) {
		return nil
	}
	u, err := url.Parse(m.run.Servers[i])
	if err != nil || u.Hostname() == "" {
		return nil
	}
	out := []otlp.Attribute{otlp.Text("server.address", u.Hostname())}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		out = append(out, otlp.Int("server.port", port))
	}
	return out
}

// place finds the trace of a request and the span that it is in, and widens those
// around it.
func (m *maker) place(rec *record.Record, begin, end time.Duration) (trace, parent string) {
	trace = m.id(16, "request", rec.Seq)
	if m.perStage {
		trace = m.id(16, "stage", rec.Stage)
		parent = m.group("stage."+strconv.Itoa(rec.Stage), trace, "", begin, end,
			otlp.Int("stage.id", rec.Stage))
	}
	if rec.Session == "" {
		return trace, parent
	}
	name := "session." + rec.Session
	if !m.perStage {
		trace = m.id(16, name)
	}
	return trace, m.group(name, trace, parent, begin, end, otlp.Text("session.id", rec.Session), otlp.Text("gen_ai.conversation.id", rec.Session))
}

// group adds a request to a span that holds others, and gives its identity.
func (m *maker) group(name, trace, parent string, begin, end time.Duration, about ...otlp.Attribute) string {
	key := trace + name
	g := m.groups[key]
	if g == nil {
		g = &group{Span: otlp.Span{TraceID: trace, SpanID: m.id(8, trace, name), Parent: parent, Name: name, Kind: otlp.KindInternal,
			Attributes: about}, begin: begin, end: end}
		m.groups[key], m.order = g, append(m.order, key)
	}
	g.begin, g.end = min(g.begin, begin), max(g.end, end)
	g.requests++
	return g.SpanID
}

// rest are the spans that hold others, once all requests are known.
func (m *maker) rest() []otlp.Span {
	out := make([]otlp.Span, 0, len(m.order))
	for _, key := range m.order {
		g := m.groups[key]
		g.Start, g.End = m.unixNano(g.begin), m.unixNano(g.end)
		g.Attributes = append(slices.Clip(g.Attributes), otlp.Int("inference_perf.requests", g.requests))
		out = append(out, g.Span)
	}
	return out
}

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

// DefaultService is the service's name where none is given.
const DefaultService = "inference-perf"

// Settings say whether spans are wanted, and where.
type Settings struct {
	otlp.Settings
	Service  string
	PerStage bool
}

// FromEnv takes the settings from OpenTelemetry's and inference-perf's variables; ok: spans are
// wanted.
func FromEnv(getenv func(string) string) (s Settings, ok bool, err error) {
	if !otlp.IsTrue(getenv("OTEL_TRACES_ENABLED")) || otlp.IsTrue(getenv("OTEL_SDK_DISABLED")) {
		return s, false, nil
	}
	s.Service = cmp.Or(getenv("OTEL_SERVICE_NAME"), DefaultService)
	s.PerStage = otlp.IsTrue(getenv("OTEL_TRACE_PER_STAGE"))
	s.Settings, err = otlp.Lookup{Getenv: getenv, Signal: otlp.Traces, Likely: likely}.Settings()
	return s, err == nil, err
}

// likely is the protocol of a collector where no variable names one: over gRPC, as the
// original does in every case, but for an address that only HTTP can have.
func likely(u *url.URL) string {
	if u.Port() == "4318" || strings.Trim(u.Path, "/") != "" {
		return otlp.HTTPJSON
	}
	return otlp.GRPC
}
