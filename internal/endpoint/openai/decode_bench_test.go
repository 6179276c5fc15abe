package openai

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/record"
)

// typical is a stream of n chunks of about 222 bytes each, framing included, in
// reads of the given number of events.
func typical(n, perRead int) *record.Exchange {
	words := []string{" the", " quick", "er", " brown", "\\n", " fox", ",", " jumps"}
	var b strings.Builder
	rec := decodetest.Answered("")
	rec.Marks = nil
	for i := range n {
		b.WriteString(`data: {"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1794703476,"model":"meta/llama-3.1-8b","choices":[{"index":0,"delta":{"content":"`)
		b.WriteString(words[i%len(words)])
		b.WriteString(`"},"logprobs":null,"finish_reason":null}]}` + "\n\n")
		if (i+1)%perRead == 0 {
			rec.Marks = append(rec.Marks, record.Read{Off: b.Len()})
		}
	}
	b.WriteString(data(length, usageChunk(n), "[DONE]"))
	rec.Marks = append(rec.Marks, record.Read{Off: b.Len()})
	rec.Body = []byte(b.String())
	return rec
}

func benchmarkStream(b *testing.B, events, perRead int, prepare func(*record.Exchange)) {
	rec, d := typical(events, perRead), NewDecoder(Chat, decodetest.Words{}, false)
	prepare(rec)
	b.SetBytes(int64(len(rec.Body)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		d.Decode(rec)
		n += len(rec.Events)
	}
	if rec.Failure != nil || rec.Out.N != events {
		b.Fatalf("%+v, %+v", rec.Failure, rec.Out)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkStream(b *testing.B) {
	plain := func(*record.Exchange) {}
	b.Run("512 events", func(b *testing.B) { benchmarkStream(b, 512, 1, plain) })
	b.Run("512 events coalesced", func(b *testing.B) { benchmarkStream(b, 512, 16, plain) })
	b.Run("16 events", func(b *testing.B) { benchmarkStream(b, 16, 1, plain) })
	b.Run("no chunk like the last", func(b *testing.B) {
		benchmarkStream(b, 512, 1, func(rec *record.Exchange) {
			// Digits of the creation time differ from chunk to chunk, as where it is a time of sending.
			for i, at := 0, 0; ; i++ {
				next := strings.Index(string(rec.Body[at:]), "1794703476")
				if next < 0 {
					break
				}
				at += next
				rec.Body[at+9] = byte('0' + i%10)
			}
		})
	})
}

func BenchmarkWhole(b *testing.B) {
	rec, d := decodetest.Answered(`{"id":"chatcmpl-1","object":"chat.completion","created":1794703476,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"`+strings.Repeat(" word", 16)+`","tool_calls":[]},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":16,"total_tokens":23}}`), NewDecoder(Chat, decodetest.Words{}, false)
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(rec)
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	d, rec := NewDecoder(Chat, decodetest.Words{}, false), typical(512, 1)
	if n := testing.AllocsPerRun(20, func() { d.Decode(rec) }); n > 2 {
		t.Errorf("%v allocations for 512 events", n)
	}
	if rec.Failure != nil || len(rec.Events) != 515 || rec.Out.N != 512 || rec.Events[511].Tokens != 1 {
		t.Errorf("%d events, %+v, %+v", len(rec.Events), rec.Out, rec.Failure)
	}
}
