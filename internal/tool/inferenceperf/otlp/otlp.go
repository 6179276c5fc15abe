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
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
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

// A span, as OTLP's JSON has it: 64 bits do not fit JSON's numbers, so those are texts.
type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      int64       `json:"startTimeUnixNano,string"`
	End        int64       `json:"endTimeUnixNano,string"`
	Attributes []attribute `json:"attributes,omitempty"`
	Events     []event     `json:"events,omitempty"`
	Status     status      `json:"status"`
}

type event struct {
	Time int64  `json:"timeUnixNano,string"`
	Name string `json:"name"`
}

type status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value has one field set.
type value struct {
	String *string  `json:"stringValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
	Int    *int64   `json:"intValue,omitempty,string"`
	Double *float64 `json:"doubleValue,omitempty"`
	Array  *array   `json:"arrayValue,omitempty"`
}

type array struct {
	Values []value `json:"values"`
}

// The numbers that OTLP has for kinds and states.
const (
	kindInternal = 1
	kindClient   = 3
	statusOK     = 1
	statusError  = 2
)

func text(key, s string) attribute { return attribute{key, value{String: &s}} }

func number(key string, n int) attribute { return attribute{key, value{Int: new(int64(n))}} }

func seconds(key string, d time.Duration) attribute {
	return attribute{key, value{Double: new(d.Seconds())}}
}

// add adds attributes, if the span has them.
func (s *span) add(has bool, list ...attribute) {
	if has {
		s.Attributes = append(s.Attributes, list...)
	}
}

// group is a span that holds others: a conversation or a stage.
type group struct {
	span
	begin, end time.Duration
	requests   int
}

// maker makes spans of records.
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

func (m *maker) at(d time.Duration) int64 { return m.run.Start.Add(d).UnixNano() }

// request is the span of a request.
func (m *maker) request(rec *record.Record) span {
	begin, end := rec.Sent, rec.End
	if begin < 0 {
		begin = max(rec.Due, 0)
	}
	if end < 0 && rec.Failure != nil {
		end = rec.Failure.At
	}
	end = max(end, begin)
	s := span{SpanID: m.id(8, "request", rec.Seq), Kind: kindClient, Start: m.at(begin), End: m.at(end)}
	s.TraceID, s.Parent = m.place(rec, begin, end)
	model := cmp.Or(rec.Model, m.run.Model)
	s.Name = strings.TrimSpace(m.run.Operation + " " + model)
	m.opt.Measure(rec, &m.values)
	s.add(true, m.server(rec.Target)...)
	s.add(true, text("gen_ai.operation.name", m.run.Operation), text("gen_ai.system", "openai_compatible"),
		text("llm.request.type", m.run.Operation), attribute{"llm.is_streaming", value{Bool: new(rec.Streamed)}})
	s.add(m.run.Provider != "", text("gen_ai.provider.name", m.run.Provider))
	s.add(model != "", text("gen_ai.request.model", model))
	s.add(rec.Asked > 0, number("gen_ai.request.max_tokens", rec.Asked))
	s.add(rec.Session != "", text("gen_ai.conversation.id", rec.Session), number("inference_perf.turn", rec.Turn))
	s.add(true, number("inference_perf.stage", rec.Stage), text("inference_perf.phase", rec.Phase.String()))
	s.add(rec.Status > 0, number("http.response.status_code", rec.Status))
	s.add(rec.Sent >= 0, seconds("inference_perf.schedule_delay", rec.Sent-rec.Due))
	s.add(rec.Retries > 0, seconds("gen_ai.response.retry_wasted_sec", m.values.Wasted))
	if f := rec.Failure; f != nil {
		s.Status = status{statusError, f.Message}
		s.add(true, text("error.type", string(f.Class)), text("error.message", f.Message))
		return s
	}
	m.answer(&s, rec)
	return s
}

// answer adds what only a request that went well has.
func (m *maker) answer(s *span, rec *record.Record) {
	v := &m.values
	s.Status.Code = statusOK
	s.add(true, number("gen_ai.usage.input_tokens", v.In), number("gen_ai.usage.output_tokens", v.Server),
		number("gen_ai.usage.prompt_tokens", v.In), number("gen_ai.usage.completion_tokens", v.Server), number("llm.usage.total_tokens", v.In+v.Server),
		seconds("gen_ai.response.total_latency", max(rec.End-rec.Sent, 0)))
	s.add(rec.Finish != "", attribute{"gen_ai.response.finish_reasons", value{Array: &array{[]value{{String: &rec.Finish}}}}})
	if v.TTFT != dialect.None {
		s.add(true, seconds("gen_ai.response.time_to_first_token", v.TTFT))
		s.Events = append(s.Events, event{m.at(v.Start + v.TTFT), "first token"})
	}
	t, ok := v.TPOT()
	s.add(ok, attribute{"gen_ai.response.time_per_output_token", value{Double: &t}})
}

// server says where a request went.
func (m *maker) server(i int) []attribute {
	if i < 0 || i >= len(m.run.Servers) {
		return nil
	}
	u, err := url.Parse(m.run.Servers[i])
	if err != nil || u.Hostname() == "" {
		return nil
	}
	out := []attribute{text("server.address", u.Hostname())}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		out = append(out, number("server.port", port))
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
			number("stage.id", rec.Stage))
	}
	if rec.Session == "" {
		return trace, parent
	}
	name := "session." + rec.Session
	if !m.perStage {
		trace = m.id(16, name)
	}
	return trace, m.group(name, trace, parent, begin, end, text("session.id", rec.Session), text("gen_ai.conversation.id", rec.Session))
}

// group adds a request to a span that holds others, and gives its identity.
func (m *maker) group(name, trace, parent string, begin, end time.Duration, about ...attribute) string {
	key := trace + name
	g := m.groups[key]
	if g == nil {
		g = &group{span: span{TraceID: trace, SpanID: m.id(8, trace, name), Parent: parent, Name: name, Kind: kindInternal, Attributes: about}, begin: begin, end: end}
		m.groups[key], m.order = g, append(m.order, key)
	}
	g.begin, g.end = min(g.begin, begin), max(g.end, end)
	g.requests++
	return g.SpanID
}

// rest are the spans that hold others, once all requests are known.
func (m *maker) rest() []span {
	out := make([]span, 0, len(m.order))
	for _, key := range m.order {
		g := m.groups[key]
		g.Start, g.End = m.at(g.begin), m.at(g.end)
		g.Attributes = append(slices.Clip(g.Attributes), number("inference_perf.requests", g.requests))
		out = append(out, g.span)
	}
	return out
}
