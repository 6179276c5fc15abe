package telemetry

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
)

// Spans makes spans of records. A conversation is a trace, and a request outside of
// conversations is one by itself. Prompts and responses are not in spans. It belongs to one
// goroutine.
type Spans struct {
	run    *RunInfo
	reader *metric.Reader
	defs   []metric.Def // of the figures that a span has
	ratio  float64
	talks  map[string]*talk
	order  []string
}

// talk is a conversation: when its first request began, and when its last ended.
type talk struct {
	begin, end time.Duration
	turns      int
}

// Spans begins the spans of a run, whose requests are seen as a fold of the same options
// does. ratio is the share of traces that are wanted, from 0 to 1.
func (r *RunInfo) Spans(o metric.Options, ratio float64) *Spans {
	s := &Spans{run: r, reader: metric.NewReader(o), ratio: ratio, talks: map[string]*talk{}}
	for _, id := range []string{"time_to_first_token", "time_per_output_token"} {
		d, _ := metric.ByID(id)
		s.defs = append(s.defs, d)
	}
	return s
}

// id is n bytes that belong to a thing of this run and to no other. The same records always
// give the same spans.
func (s *Spans) id(n int, parts ...any) string {
	h := sha256.Sum256(fmt.Append(nil, s.run.Start.UnixNano(), s.run.Result.Seed, parts))
	return hex.EncodeToString(h[:n])
}

// trace is the trace of a request; wanted: its spans are to be sent.
func (s *Spans) trace(rec *record.Record) (id string, wanted bool) {
	id = s.id(16, "request", rec.Seq)
	if rec.Session != "" {
		id = s.id(16, "session", rec.Session)
	}
	if s.ratio >= 1 {
		return id, true
	}
	b, _ := hex.DecodeString(id[16:])
	return id, float64(binary.BigEndian.Uint64(b)>>1) < s.ratio*(1<<63)
}

// Request is the span of a request; ok: it is wanted.
func (s *Spans) Request(rec *record.Record) (span otlp.Span, ok bool) {
	trace, ok := s.trace(rec)
	if !ok || rec.Stage < 0 || rec.Phase == record.Closing {
		return span, false
	}
	begin, end := rec.Sent, rec.End
	if begin < 0 {
		begin = max(rec.Due, 0)
	}
	if end < 0 && rec.Failure != nil {
		end = rec.Failure.At
	}
	end = max(end, begin)
	model := cmp.Or(rec.Model, s.run.Model)
	span = otlp.Span{
		TraceID: trace, SpanID: s.id(8, "request", rec.Seq), Name: strings.TrimSpace(s.run.operation() + " " + model), Kind: otlp.KindClient,
		Start: s.run.timeOf(begin).UnixNano(), End: s.run.timeOf(end).UnixNano(),
	}
	if rec.Session != "" {
		span.Parent = s.id(8, "session", rec.Session)
		s.widen(rec.Session, begin, end)
	}
	s.about(&span, rec, model)
	return span, true
}

func (s *Spans) about(span *otlp.Span, rec *record.Record, model string) {
	span.Add(true, s.run.server(rec.Target)...)
	span.Add(true, otlp.Text("gen_ai.operation.name", s.run.operation()), otlp.Text("gen_ai.provider.name", s.run.Protocol))
	span.Add(model != "", otlp.Text("gen_ai.request.model", model))
	span.Add(rec.RequestedTokens > 0, otlp.Int("gen_ai.request.max_tokens", rec.RequestedTokens))
	span.Add(true, otlp.Bool("gen_ai.request.stream", rec.Streamed))
	span.Add(rec.Session != "", otlp.Text("gen_ai.conversation.id", rec.Session), otlp.Int("inferometer.turn", rec.Turn))
	span.Add(true, otlp.Int("inferometer.stage", rec.Stage+1), otlp.Text("inferometer.phase", rec.Phase.String()))
	span.Add(rec.Status > 0, otlp.Int("http.response.status_code", rec.Status))
	span.Add(rec.Sent >= 0, otlp.Double("inferometer.schedule_delay", (rec.Sent-rec.Due).Seconds()))
	if f := rec.Failure; f != nil {
		if !f.Left() {
			span.Status = otlp.Status{Code: otlp.StatusError, Message: f.Message}
		}
		span.Add(true, otlp.Text("error.type", string(f.Class)))
		return
	}
	span.Add(rec.In.Source != record.Uncounted, otlp.Int("gen_ai.usage.input_tokens", rec.In.N))
	r := s.reader.Read(rec)
	span.Add(r.Tokens >= 0, otlp.Int("gen_ai.usage.output_tokens", r.Tokens))
	span.Add(rec.Cached >= 0, otlp.Int("gen_ai.usage.cache_read.input_tokens", rec.Cached))
	span.Add(rec.Finish != "", otlp.Texts("gen_ai.response.finish_reasons", rec.Finish))
	for i := range s.defs {
		d := &s.defs[i]
		d.Each(r, func(v int64) { span.Add(true, otlp.Double("inferometer."+d.ID, time.Duration(v).Seconds())) })
	}
	if r.First >= 0 {
		span.Events = append(span.Events, otlp.Event{Time: s.run.timeOf(r.First).UnixNano(), Name: "first token"})
	}
}

func (s *Spans) widen(session string, begin, end time.Duration) {
	t := s.talks[session]
	if t == nil {
		t = &talk{begin: begin, end: end}
		s.talks[session], s.order = t, append(s.order, session)
	}
	t.begin, t.end, t.turns = min(t.begin, begin), max(t.end, end), t.turns+1
}

// Rest gives the spans of conversations, once all requests are known.
func (s *Spans) Rest(each func(otlp.Span)) {
	for _, session := range s.order {
		t := s.talks[session]
		each(otlp.Span{
			TraceID: s.id(16, "session", session), SpanID: s.id(8, "session", session), Name: "conversation", Kind: otlp.KindInternal,
			Start: s.run.timeOf(t.begin).UnixNano(), End: s.run.timeOf(t.end).UnixNano(),
			Attributes: []otlp.Attribute{otlp.Text("gen_ai.conversation.id", session), otlp.Int("inferometer.requests", t.turns)},
		})
	}
}
