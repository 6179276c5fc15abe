package dialect

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
)

const ms = time.Millisecond

// streamed is a response whose events came each 10 ms.
func streamed(labels ...record.EventKind) *record.Record {
	rec := &record.Record{Due: 90 * ms, Sent: 100 * ms, Status: 200, Streamed: true, In: record.Tokens{N: 5}, Out: record.Tokens{N: 3}}
	for i, label := range labels {
		at := rec.Sent + time.Duration(i+1)*10*ms
		rec.Marks = append(rec.Marks, record.Read{Kernel: at, User: at})
		rec.Events = append(rec.Events, record.Event{Mark: i, Label: label, Text: 1})
		rec.Text, rec.End = append(rec.Text, 'a'+byte(i)), at
	}
	return rec
}

// Chunks with choices count whatever they hold; others do not, and neither do they end the response.
func TestChunks(t *testing.T) {
	rec := streamed(record.Comment, record.Role, record.Content, record.Empty, record.Reasoning, record.Finish, record.Usage, record.Done)
	got := Read(rec, Options{Text: true})
	want := Request{Start: 0.1, TTFT: 0.02, ITL: []float64{0.01, 0.01, 0.01, 0.01}, Latency: 0.06, Queue: 0.01, In: 5, Out: 3, Text: "c"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := Read(rec, Options{Waiting: true, Begin: 40 * ms}); got.Queue != 0.06 || got.Text != "" {
		t.Errorf("%+v", got)
	}
	rec.Tail = &record.Tail{Events: 9, Last: 500 * ms}
	if got := Read(rec, Options{}); len(got.ITL) != 5 || got.Latency != 0.4 {
		t.Errorf("%+v", got)
	}
}

// differs: vllm-broken-streams
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name     string
		rec      *record.Record
		failure  *record.Failure
		faithful bool
		want     string
	}{
		{"status", streamed(), &record.Failure{Class: record.HTTPStatus, Status: 500, Message: "made to fail"}, true, "Internal Server Error"},
		{"odd status", streamed(), &record.Failure{Class: record.HTTPStatus, Status: 799, Message: "no"}, false, "HTTP Error 799: no"},
		{"no message", streamed(), &record.Failure{Class: record.Dropped}, false, "ServerDisconnectedError"},
		{"cut off", streamed(record.Content), &record.Failure{Class: record.Truncated, Message: "it ended"}, true, "ClientPayloadError: it ended"},
		{"nothing in it", streamed(record.Usage, record.Done), nil, false, "the response had no chunk with choices"},
		{"an error in the stream", streamed(record.Content, record.Error), &record.Failure{Class: record.StreamError, Message: "no room"}, false, "stream_error: no room"},
		{"as the original", streamed(record.Content, record.Error), &record.Failure{Class: record.StreamError, Message: "no room"}, true, ""},
	} {
		c.rec.Failure = c.failure
		got := Read(c.rec, Options{Faithful: c.faithful})
		if got.Error != c.want || got.Error != "" && (got.Latency != 0 || got.ITL != nil || got.In != 5) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	all := []Request{
		{Start: 10, TTFT: 0.2, ITL: []float64{0.1, 0.9}, Latency: 1.2, In: 4, Out: 3, Queue: 0.5},
		{Start: 10.5, TTFT: 0.4, Latency: 0.4, In: 6, Out: 1},
		{Start: 10.6, Error: "no", In: 9},
	}
	s := Summarize(all, 2, map[string]float64{"ttft": 300, "tpot": 500})
	got := fmt.Sprint(s.Completed, s.Failed, s.Input, s.Output, s.Good, s.PeakTokens, s.PeakConcurrent,
		s.TPOT, s.LatencyWithQueue, s.Rate(s.Output))
	if want := "2 1 10 4 1 3 2 [0.5] [0.4 1.7] 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := Summarize(nil, 0, nil); s.Rate(3) != 0 || Percentile(s.TTFT, 99) != 0 {
		t.Errorf("%+v", s)
	}
	mean, deviation := Mean([]float64{1, 2, 3, 6})
	if got := fmt.Sprintf("%.1f %.4f %.4f", mean, deviation, Percentile([]float64{1, 2, 3, 6}, 90)); got != "3.0 1.8708 5.1000" {
		t.Error(got)
	}
}

// The pages before and behind a run with speculative decoding, as vLLM has them.
func TestDecoding(t *testing.T) {
	page := func(k int) Counters {
		return ReadCounters(fmt.Appendf(nil, `# HELP x
vllm:spec_decode_num_drafts_total{engine="0"} %d
vllm:spec_decode_num_drafts_created{engine="0"} 1.7e9
vllm:spec_decode_num_draft_tokens_total{engine="0"} %d
vllm:spec_decode_num_accepted_tokens_total{engine="0"} %d
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} %d
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} %d
vllm:diffusion_num_denoising_steps_total 1%d
vllm:diffusion_num_canvas_positions_total 32%d
vllm:diffusion_num_committed_tokens_total 8%d
`, 100*k, 200*k, 130*k, 80*k, 50*k, k, k, k))
	}
	if s := Speculated(page(1), page(2)); s == nil || fmt.Sprint(*s) != "{65 2.3 100 200 130 [0.8 0.5]}" {
		t.Errorf("%+v", s)
	}
	if d := Denoised(Counters{Diffusion: true}, Counters{Diffusion: true, Steps: 100, Positions: 3200, Committed: 320}, 4); d == nil || fmt.Sprint(*d) != "{80 9 3.5555555555555554 320 90 3200}" {
		t.Errorf("%+v", d)
	}
	if Speculated(Counters{}, page(1)) != nil || Speculated(page(1), page(1)) != nil || Denoised(page(1), page(1), 1) != nil {
		t.Error("nothing between two pages is something")
	}
}
