package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/remote/remotewrite"
	"github.com/inferometer/inferometer/internal/report/timeline"
	"github.com/inferometer/inferometer/internal/result"
)

const ms = time.Millisecond

var start = time.Unix(1_700_000_000, 0)

// answered is a request of 7 and 3 tokens whose tokens came 10, 30 and 50 ms after it was sent.
func answered(seq int64, sent time.Duration) *record.Record {
	at := func(d time.Duration) record.Read { return record.Read{User: sent + d, Kernel: record.Never} }
	return &record.Record{
		Seq: seq, Due: sent - ms, Sent: sent, End: sent + 50*ms, Status: 200, Streamed: true, Finish: "stop", RequestedTokens: 3, Cached: -1,
		Marks:  []record.Read{at(10 * ms), at(30 * ms), at(50 * ms)},
		Events: []record.Event{{Mark: 0, Tokens: 1}, {Mark: 1, Tokens: 1}, {Mark: 2, Tokens: 1}},
		In:     record.Tokens{N: 7, Source: record.FromServer, Local: -1}, Out: record.Tokens{N: 3, Source: record.FromServer, Local: -1},
	}
}

func records() []*record.Record {
	warm, talk, failed, adapter := answered(0, 5*ms), answered(2, 200*ms), answered(3, 1100*ms), answered(4, 1200*ms)
	warm.Phase = record.Warmup
	talk.Session, talk.Turn = "s1", 1
	failed.End, failed.Status, failed.Failure = record.Never, 0, &record.Failure{Class: record.TimedOut, Message: "no answer", At: 1300 * ms}
	adapter.Model = "adapter"
	return []*record.Record{warm, answered(1, 100*ms), talk, failed, adapter}
}

func theRun() *RunInfo {
	spread := &result.Distribution{P50: 10, P99: 10}
	return &RunInfo{
		Start: start, Version: "1", Name: "nightly", Model: "m", Protocol: "openai", Endpoint: "chat", Servers: []string{"http://server:8000"}, Rates: []float64{4},
		Result: &result.Result{Seed: 42, Stages: []result.Stage{{Metrics: map[string]result.Stat{
			"time_to_first_token": {Unit: "ms", Avg: 10, Distribution: spread}, "inter_token_latency": {Unit: "ms", Avg: 20, Distribution: spread},
			"request_latency": {Unit: "ms", Avg: 50, Distribution: spread}, "request_throughput": {Unit: "requests/sec", Avg: 2.5},
		}}}},
	}
}

func stages() []timeline.StageTimeline {
	line := timeline.New(time.Minute, metric.Options{})
	for _, rec := range records() {
		line.Add(rec)
	}
	line.Mark(&record.StageSummary{StageTimes: record.StageTimes{DrainEnd: 1300 * ms}})
	return line.Stages()
}

func TestSeries(t *testing.T) {
	var got []string
	for _, s := range theRun().Series(stages(), "here") {
		if s.Labels["run"] != "20231114T221320Z-42" || s.Labels["job"] != "inferometer" || s.Labels["instance"] != "here" || s.Labels["model"] != "m" || s.Labels["name"] != "nightly" {
			t.Errorf("%s has the labels %v", s.Name, s.Labels)
		}
		for _, common := range []string{"run", "job", "instance", "model", "name"} {
			delete(s.Labels, common)
		}
		line := strings.TrimPrefix(s.Name, "inferometer_")
		for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
			line += " " + name + "=" + s.Labels[name]
		}
		for _, p := range s.Samples {
			line += fmt.Sprintf(" %d:%.4g", p.At-start.UnixMilli(), p.Value)
		}
		for _, h := range s.Histograms {
			line += fmt.Sprintf(" %d:%d/%.4g", h.At-start.UnixMilli(), h.Count, h.Sum)
		}
		if (s.Kind == remotewrite.Native) != (len(s.Histograms) > 0) || s.Kind == remotewrite.Counter && !strings.HasSuffix(s.Name, "_total") {
			t.Errorf("%s is of kind %d", s.Name, s.Kind)
		}
		got = append(got, line)
	}
	want := []string{
		"run_info protocol=openai version=1 0:1 1000:1 1300:1",
		"requests_sent_total phase=measured stage=1 0:0 1000:2 1300:4",
		"requests_total outcome=ok phase=measured stage=1 0:0 1000:2 1300:3",
		"requests_total error_type=timeout outcome=failed phase=measured stage=1 0:0 1000:0 1300:1",
		"requests_sent_total phase=warmup stage=1 0:0 1000:1 1300:1",
		"requests_total outcome=ok phase=warmup stage=1 0:0 1000:1 1300:1",
		"requests_in_flight stage=1 0:0 1000:0 1300:0",
		"requested_rate stage=1 0:4 1000:4 1300:4",
		"input_tokens_total stage=1 0:0 1000:14 1300:21",
		"output_tokens_total stage=1 0:0 1000:6 1300:9",
		"time_to_first_token_seconds stage=1 0:0/0 1000:2/0.02 1300:3/0.03",
		"inter_token_latency_seconds stage=1 0:0/0 1000:4/0.08 1300:6/0.12",
		"request_latency_seconds stage=1 0:0/0 1000:2/0.1 1300:3/0.15",
	}
	if d := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got), func(s string) bool {
		return strings.Contains(s, "quantile") || strings.HasPrefix(s, "result")
	})); d != "" {
		t.Error(d)
	}
	for _, want := range []string{
		"result metric=time_to_first_token stage=1 stat=p99 unit=ms 1300:10", "result metric=request_throughput stage=1 stat=avg unit=requests/sec 1300:2.5",
		"request_latency_quantile_seconds quantile=0.99 stage=1 1000:0.04979 1300:0.04979",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

func attributes(list []otlp.Attribute) map[string]any {
	out := map[string]any{}
	for _, a := range list {
		switch v := a.Value; {
		case v.String != nil:
			out[a.Key] = *v.String
		case v.Int != nil:
			out[a.Key] = int(*v.Int)
		case v.Double != nil:
			out[a.Key] = *v.Double
		case v.Bool != nil:
			out[a.Key] = *v.Bool
		case v.Array != nil:
			out[a.Key] = *v.Array.Values[0].String
		}
	}
	return out
}

func TestSpans(t *testing.T) {
	make := func() (list []otlp.Span) {
		s := theRun().Spans(metric.Options{}, 1)
		for _, rec := range records() {
			if span, ok := s.Request(rec); ok {
				list = append(list, span)
			}
		}
		s.Rest(func(span otlp.Span) { list = append(list, span) })
		return list
	}
	got := make()
	if d := cmp.Diff(got, make()); d != "" {
		t.Errorf("the same records give other spans: %s", d)
	}
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"chat m", "chat m", "chat m", "chat m", "chat adapter", "conversation"}, names); d != "" {
		t.Fatal(d)
	}
	talk, failed, whole := got[2], got[3], got[5]
	if talk.TraceID != whole.TraceID || talk.Parent != whole.SpanID || got[1].TraceID == talk.TraceID || got[1].Parent != "" || whole.Start != talk.Start || whole.End != talk.End {
		t.Error("a conversation is not one trace, or others are in it")
	}
	want := map[string]any{
		"server.address": "server", "server.port": 8000, "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m",
		"gen_ai.request.max_tokens": 3, "gen_ai.request.stream": true, "gen_ai.conversation.id": "s1", "inferometer.turn": 1, "inferometer.stage": 1, "inferometer.phase": "measured",
		"http.response.status_code": 200, "inferometer.schedule_delay": 0.001, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3,
		"gen_ai.response.finish_reasons": "stop", "inferometer.time_to_first_token": 0.01, "inferometer.time_per_output_token": 0.02,
	}
	if d := cmp.Diff(want, attributes(talk.Attributes)); d != "" {
		t.Error(d)
	}
	if talk.Start != start.Add(200*ms).UnixNano() || talk.End != start.Add(250*ms).UnixNano() ||
		talk.Events[0].Time != start.Add(210*ms).UnixNano() || talk.Kind != otlp.KindClient {
		t.Errorf("it is %+v", talk)
	}
	if failed.Status != (otlp.Status{Code: otlp.StatusError, Message: "no answer"}) || attributes(failed.Attributes)["error.type"] != "timeout" || failed.End != start.Add(1300*ms).UnixNano() {
		t.Errorf("the failure is %+v", failed)
	}
}

// About as many traces are sent as asked for, and the same ones each time.
func TestSampling(t *testing.T) {
	for _, c := range []struct {
		ratio    float64
		min, max int
	}{{0, 0, 0}, {0.1, 60, 140}, {0.9, 860, 940}, {1, 1000, 1000}} {
		s, n := theRun().Spans(metric.Options{}, c.ratio), 0
		for i := range int64(1000) {
			if _, ok := s.Request(answered(i, 0)); ok {
				n++
			}
		}
		if n < c.min || n > c.max {
			t.Errorf("%v: %d of 1000", c.ratio, n)
		}
	}
}

func TestMetrics(t *testing.T) {
	run := theRun()
	m, spans := run.Metrics(metric.Options{}), run.Spans(metric.Options{}, 1)
	for _, rec := range records() {
		span, _ := spans.Request(rec)
		m.Add(rec, &span)
	}
	var got []string
	points := 0
	Batches(m.List(stages()), 4, func(part []otlp.Metric) {
		n := 0
		for _, x := range part {
			n += x.Len()
			if x.Histogram == nil {
				continue
			}
			for _, p := range x.Histogram.Points {
				a := attributes(p.Attributes)
				got = append(got, fmt.Sprintf("%s %v %v %v %d %.3g %.3g %.3g %d", x.Name, a["gen_ai.request.model"], a["gen_ai.token.type"], a["error.type"], p.Count, p.Sum, p.Min, p.Max, len(p.Exemplars)))
				if len(p.Counts) != len(p.Bounds)+1 || p.Start != start.UnixNano() || p.Time != start.Add(1300*ms).UnixNano() || p.Exemplars[0].TraceID == "" {
					t.Errorf("%s: %+v", x.Name, p)
				}
			}
		}
		if n > 4 || n == 0 {
			t.Errorf("%d points in a batch", n)
		}
		points += n
	})
	want := []string{
		"gen_ai.client.operation.duration m <nil> <nil> 2 0.1 0.05 0.05 1",
		"gen_ai.client.operation.duration m <nil> timeout 1 0.2 0.2 0.2 1",
		"gen_ai.client.operation.duration adapter <nil> <nil> 1 0.05 0.05 0.05 1",
		"gen_ai.server.time_to_first_token m <nil> <nil> 2 0.02 0.01 0.01 1",
		"gen_ai.server.time_to_first_token adapter <nil> <nil> 1 0.01 0.01 0.01 1",
		"gen_ai.server.time_per_output_token m <nil> <nil> 2 0.04 0.02 0.02 1",
		"gen_ai.server.time_per_output_token adapter <nil> <nil> 1 0.02 0.02 0.02 1",
		"gen_ai.client.operation.time_per_output_chunk m <nil> <nil> 4 0.08 0.02 0.02 1",
		"gen_ai.client.operation.time_per_output_chunk adapter <nil> <nil> 2 0.04 0.02 0.02 1",
		"gen_ai.client.token.usage m input <nil> 2 14 7 7 1",
		"gen_ai.client.token.usage m output <nil> 2 6 3 3 1",
		"gen_ai.client.token.usage adapter input <nil> 1 7 7 7 1",
		"gen_ai.client.token.usage adapter output <nil> 1 3 3 3 1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if points != 13+2*8+25 {
		t.Errorf("there are %d points", points)
	}
}

func TestOperations(t *testing.T) {
	for endpoint, want := range map[string]string{"chat": "chat", "completions": "text_completion", "embeddings": "embeddings", "messages": "chat", "generate": "text_completion"} {
		if got := (&RunInfo{Endpoint: endpoint}).operation(); got != want {
			t.Errorf("%s is %s", endpoint, got)
		}
	}
	r := RunInfo{Servers: []string{"://", "http://h", "grpc://h:8001"}}
	for i, want := range []int{0, 1, 2, 0} {
		if got := r.server(i); len(got) != want {
			t.Errorf("server %d is %v", i, got)
		}
	}
}
