package openai

import (
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
)

type streamed struct {
	decode.StreamDecoder
	by    *Decoder
	x     *record.Exchange
	rec   *record.Record // of x
	chunk chunk

	usage    usage // the last that was said
	said     int   // events with tokens up to that
	counted  int   // of those, events with a usage of their own
	empty    int   // events of a choice without text
	finishes int   // events with a finish reason and no text
	several  bool  // there are choices besides the first
	closed   bool  // a final usage was seen
}

// Advance reads a stream while it comes, as endpoint.Decoder has it.
func (d *Decoder) Advance(x *record.Exchange, most int) int {
	if d.kind == Embeddings {
		return 0
	}
	return decode.Advance(x, most, d.begin)
}

// begin starts on a stream of server-sent events.
func (d *Decoder) begin(x *record.Exchange) decode.StreamReader {
	st := d.newStreamed(x)
	st.Begin(&x.Record)
	return &st
}

func (d *Decoder) newStreamed(x *record.Exchange) streamed {
	return streamed{by: d, x: x, rec: &x.Record, usage: unknown(),
		chunk: chunk{first: d.First || d.count.Plain, spoken: d.kind == Transcriptions, streamed: true, Part: decode.Part{Text: x.Text}}}
}

// stream is decode.ReadStream for a stream that is here as a whole, in a fifth less time: nothing is
// called by an interface, and nothing is on the heap.
func (d *Decoder) stream(x *record.Exchange) {
	st := d.newStreamed(x)
	st.Begin(&x.Record)
	var scan sse.Scanner
	scan.Reset(x.Body)
	var e sse.Event // outside the loop, which would copy it
	for scan.Next(&e) {
		if !st.Repeat(&e, &st.chunk.Part) && !st.Frame(&e) {
			st.takeChunk(&e)
		}
	}
	st.End()
}

// AddEvent takes any event.
func (st *streamed) AddEvent(e *sse.Event) {
	if !st.Repeat(e, &st.chunk.Part) && !st.Frame(e) {
		st.takeChunk(e)
	}
	st.chunk.Text = st.Bound(st.chunk.Text)
}

// End works out what a stream comes to that has been read.
func (st *streamed) End() {
	rec := st.rec
	rec.Events, rec.Text = st.List(), st.chunk.Text
	st.by.takeUsage(st.x, st.usage)
	st.by.countStream(st)
	// A finish reason, [DONE] or a usage on its own closes a stream: servers may leave out others.
	st.Judge("chat or completion", rec.Finish != "" || st.Done || st.closed, "a finish reason or [DONE]")
	decode.Finished(rec)
}

// takeChunk takes an event whose data should be a chunk.
func (st *streamed) takeChunk(e *sse.Event) {
	c := &st.chunk
	before := len(c.Text)
	if err := c.parse(e.Data); err != nil {
		st.Malformed(e, err)
		return
	}
	label := c.label()
	text, tokens := len(c.Text)-before, 0
	switch {
	case label == record.Error:
		c.Text = c.Text[:before]
		text = 0
	case label == record.Empty && c.Blank:
		st.empty++
	case label == record.Usage:
		st.closed = true
	case label == record.Finish:
		st.finishes++
	case label.IsToken():
		tokens = 1
		if c.usage.completion >= 0 {
			tokens = c.usage.completion // the sum so far; countStream takes differences
			st.counted++
		}
	}
	if c.usage.known() {
		st.usage = c.usage
		st.said = st.Tokens
		if label.IsToken() {
			st.said++
		}
	}
	if c.finish != nil {
		st.rec.Finish = finishName(c.finish)
	}
	st.several = st.several || c.others
	st.Put(e, label, text, tokens)
	if c.learnable() && !e.Joined {
		st.Learn(e, &c.Part, label)
	}
}
