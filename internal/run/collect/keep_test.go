package collect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/anthropic"
	"github.com/inferometer/inferometer/internal/endpoint/jsonhttp"
	"github.com/inferometer/inferometer/internal/endpoint/openai"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// chatStream is a stream of n tokens, each in an event of its own; usage: the server
// counts them at the end.
func chatStream(n int, usage bool) []string {
	events := []string{`data: {"choices":[{"delta":{"role":"assistant"}}]}` + "\n\n"}
	for i := range n {
		events = append(events, fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":\" w%d\"}}]}\n\n", i%97))
		if i%50 == 7 {
			events = append(events, ": keep-alive\n\n")
		}
	}
	end := `data: {"choices":[{"delta":{},"finish_reason":"length"}]`
	if usage {
		end += fmt.Sprintf(`,"usage":{"prompt_tokens":5,"completion_tokens":%d}`, n)
	}
	return append(events, end+"}\n\n", "data: [DONE]\n\n")
}

// messages is the same as Anthropic's API has it.
func messages(n int) []string {
	events := []string{"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"}
	for range n {
		events = append(events, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\" w\"}}\n\n")
	}
	return append(events, fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":%d}}\n\n", n),
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

// tgi is the same of Text Generation Inference.
func tgi(n int) []string {
	var events []string
	for range n - 1 {
		events = append(events, "data:{\"token\":{\"text\":\" w\"},\"generated_text\":null}\n\n")
	}
	return append(events, fmt.Sprintf("data:{\"token\":{\"text\":\" w\"},\"generated_text\":\"w\",\"details\":{\"finish_reason\":\"length\",\"generated_tokens\":%d}}\n\n", n))
}

// of is a decoder of a protocol's answers.
func of(p endpoint.Protocol, kind string) endpoint.Decoder {
	return p.Decoder(plan.Target{Endpoint: kind}, nil, false)
}

// arrive lets a stream come in reads that hold from a part of an event to several, and
// decodes it.
func arrive(t *testing.T, k *sizeLimiter, d endpoint.Decoder, events []string) (*record.Exchange, error) {
	t.Helper()
	return arriveIn(t, k, d, events, 120)
}

// arriveIn is the same in reads of up to so many bytes.
func arriveIn(t *testing.T, k *sizeLimiter, d endpoint.Decoder, events []string, most int) (*record.Exchange, error) {
	t.Helper()
	random, blurs := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(3, 4))
	rec := &record.Exchange{Record: record.Record{Sent: time.Millisecond, Status: 200, Streamed: true, Cached: -1}}
	k.bind(rec)
	wire := strings.Join(events, "")
	now := 50 * time.Millisecond
	for len(wire) > 0 {
		n := min(1+random.IntN(most), len(wire))
		now += time.Duration(random.ExpFloat64() * float64(5*time.Millisecond))
		rec.Body = append(rec.Body, wire[:n]...)
		wire = wire[n:]
		at := timedconn.Stamp{Kernel: now, User: now + time.Duration(random.IntN(1000))}
		if blurs.IntN(5) == 0 { // it may have come in pieces
			at.Blur, at.Loose = time.Duration(blurs.IntN(1000))*time.Microsecond, true
		}
		http1.Mark(rec, rec.Body, at)
		if err := http1.Hold(rec); err != nil {
			return rec, err
		}
	}
	http1.Finish(rec, now)
	d.Decode(rec)
	return rec, nil
}

func stats(t *testing.T, rec *record.Record) metric.StageStats {
	t.Helper()
	f, err := metric.NewFold(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Add(rec)
	s, err := f.Summarize(stat.Linear)
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

// A stream that is folded as it comes has the figures of one that is held whole.
func TestFoldedStreamsHaveTheSameFigures(t *testing.T) {
	const n = 6000
	for name, tt := range map[string]struct {
		decoder endpoint.Decoder
		events  []string
	}{
		"chat":            {of(openai.Protocol(), plan.EndpointChat), chatStream(n, true)},
		"without a count": {of(openai.Protocol(), plan.EndpointChat), chatStream(n, false)},
		"messages":        {of(anthropic.Protocol(), plan.EndpointMessages), messages(n)},
		"tgi":             {of(jsonhttp.Protocol(), plan.EndpointTGI), tgi(n)},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := arrive(t, nil, tt.decoder, tt.events)
			if err != nil || whole.Failure != nil {
				t.Fatal(err, whole.Failure)
			}
			k := newKeeper(&Config{Limits: plan.Limits{Stream: 64 << 10, Event: 1 << 10, Answer: 1 << 20}, Decoder: tt.decoder})
			folded, err := arrive(t, k, tt.decoder, tt.events)
			if err != nil || folded.Failure != nil {
				t.Fatal(err, folded.Failure)
			}
			if folded.Tail == nil || len(folded.Events) > 300 || len(folded.Marks) > 3000 || len(folded.Text) > 64<<10 {
				t.Fatalf("it holds %d events, %d reads, %d bytes of text", len(folded.Events), len(folded.Marks), len(folded.Text))
			}
			if folded.Out != whole.Out || folded.In != whole.In || folded.Finish != whole.Finish || folded.End != whole.End {
				t.Errorf("%+v %+v %s %s, want %+v %+v %s %s", folded.In, folded.Out, folded.Finish, folded.End, whole.In, whole.Out, whole.Finish, whole.End)
			}
			line := record.AppendJSON(nil, &folded.Record, false)
			r, err := record.NewReader(strings.NewReader(string(line)))
			if err != nil {
				t.Fatal(err)
			}
			again, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			want := stats(t, &whole.Record)
			same(t, "folded", stats(t, &folded.Record), want)
			same(t, "read again", stats(t, again.Request), want)
		})
	}
}

func same(t *testing.T, name string, got, want metric.StageStats) {
	t.Helper()
	got.Counts.Folded = 0
	if fmt.Sprint(got.Counts) != fmt.Sprint(want.Counts) {
		t.Errorf("%s: counts %+v, want %+v", name, got.Counts, want.Counts)
	}
	if len(got.Whole.Stats) != len(want.Whole.Stats) {
		t.Errorf("%s: %d metrics, want %d", name, len(got.Whole.Stats), len(want.Whole.Stats))
	}
	for id, w := range want.Whole.Stats {
		g := got.Whole.Stats[id]
		if g.N != w.N || math.Abs(g.Avg-w.Avg) > 1e-9*math.Abs(w.Avg) || g.Min != w.Min || g.Max != w.Max {
			t.Errorf("%s: %s: n %d, mean %v, %v to %v; want %d, %v, %v to %v", name, id, g.N, g.Avg, g.Min, g.Max, w.N, w.Avg, w.Min, w.Max)
		}
		if w.Least != nil && (math.Abs(g.Least.Avg-w.Least.Avg) > 1e-9*w.Avg || math.Abs(g.Most.Avg-w.Most.Avg) > 1e-9*w.Avg) {
			t.Errorf("%s: %s: between %v and %v, want %v and %v", name, id, g.Least.Avg, g.Most.Avg, w.Least.Avg, w.Most.Avg)
		}
		for i := range w.Quantiles {
			const near = 0.026 // up to which bounds are not kept one by one
			if w.Least != nil && (math.Abs(g.Least.Quantiles[i]-w.Least.Quantiles[i]) > near+0.004*w.Quantiles[i] ||
				math.Abs(g.Most.Quantiles[i]-w.Most.Quantiles[i]) > near+0.004*w.Quantiles[i]) {
				t.Errorf("%s: %s: quantile %d lies between %v and %v, want %v and %v", name, id, i, g.Least.Quantiles[i], g.Most.Quantiles[i], w.Least.Quantiles[i], w.Most.Quantiles[i])
			}
			if math.Abs(g.Quantiles[i]-w.Quantiles[i]) > 1e-3*math.Abs(w.Quantiles[i]) {
				t.Errorf("%s: %s: quantile %d is %v, want %v", name, id, i, g.Quantiles[i], w.Quantiles[i])
			}
		}
	}
}

// An event is bounded wherever it stands in a stream, and however it comes.
func TestEventsAreBounded(t *testing.T) {
	long := func(n int) string {
		const frame = `data: {"choices":[{"delta":{"content":""}}]}` + "\n\n"
		return strings.Replace(frame, `""`, `"`+strings.Repeat("a", n-len(frame))+`"`, 1)
	}
	short := strings.Repeat(long(100), 40)
	end := chatStream(0, false)
	for name, tt := range map[string]struct {
		limits plan.Limits
		stream string
		err    string
	}{
		"first":               {plan.Limits{Stream: 8 << 20, Event: 1 << 10, Answer: 64 << 20}, long(1<<10 + 1), "1024 bytes: raise limits.event"},
		"as long as it may":   {plan.Limits{Stream: 8 << 20, Event: 1 << 10, Answer: 64 << 20}, long(1<<10) + short + long(1<<10), ""},
		"after others":        {plan.Limits{Stream: 8 << 20, Event: 1 << 10, Answer: 64 << 20}, short + long(1<<10+1) + short, "raise limits.event"},
		"of a folded stream":  {plan.Limits{Stream: 2 << 10, Event: 1 << 10, Answer: 64 << 20}, short + long(1<<10+1) + short, "raise limits.event"},
		"where none is":       {plan.Limits{Event: 1 << 10}, short + long(1<<10+1), "raise limits.event"},
		"no bound":            {plan.Limits{Stream: 8 << 20, Answer: 64 << 20}, long(100 << 10), ""},
		"a comment":           {plan.Limits{Stream: 8 << 20, Event: 1 << 10, Answer: 64 << 20}, short + ": " + strings.Repeat("c", 1<<10), "raise limits.event"},
		"many, all permitted": {plan.Limits{Stream: 2 << 10, Event: 1 << 10, Answer: 64 << 10}, strings.Repeat(short, 10), ""},
		"an answer":           {plan.Limits{Stream: 2 << 10, Event: 1 << 10, Answer: 64 << 10}, `{"choices":[` + strings.Repeat(" ", 3<<10), ""},
		"too long an answer":  {plan.Limits{Stream: 2 << 10, Event: 1 << 10, Answer: 64 << 10}, `{"choices":[` + strings.Repeat(" ", 70<<10), "raise limits.response"},
	} {
		t.Run(name, func(t *testing.T) {
			d := of(openai.Protocol(), plan.EndpointChat)
			for _, reads := range []int{7, 120, 1 << 20} {
				k := newKeeper(&Config{Limits: tt.limits, Decoder: d})
				_, err := arriveIn(t, k, d, append([]string{tt.stream}, end...), reads)
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("in reads of up to %d bytes: %v, want %q", reads, err, tt.err)
				}
			}
		})
	}
}
