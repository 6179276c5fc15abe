package openai

import (
	"bytes"
	"fmt"
	"strconv"

	"inferometer/internal/endpoint/answer"
	"inferometer/internal/endpoint/sse"
	"inferometer/internal/record"
)

// streamed is the state of decoding one stream.
type streamed struct {
	rec    *record.Record
	chunk  chunk
	events answer.Events

	usage     usage // the last that was said
	counted   int   // of those, events with a usage of their own
	empty     int   // events of a choice without text
	finishes  int   // events with a finish reason and no text
	several   bool  // there are choices besides the first
	chunks    int   // events that are chunks of the protocol
	unknown   int   // events that are not
	done      bool  // [DONE] was seen
	closed    bool  // a final usage was seen
	unclosed  bool  // the last event is cut off
	malformed string

	like answer.Likeness // of the last chunk that carried nothing but one text
}

// stream reads an answer made of server-sent events.
func (d *Decoder) stream(rec *record.Record) {
	st := streamed{rec: rec, usage: usage{-1, -1, -1}}
	st.events.Begin(rec)
	st.chunk.text = rec.Text
	var scan sse.Scanner
	scan.Reset(rec.Body)
	var e sse.Event
	for scan.Next(&e) {
		if !st.repeat(&e) {
			st.take(&e)
		}
	}
	rec.Events, rec.Text = st.events.List(), st.chunk.text
	takeUsage(rec, st.usage)
	d.countStream(&st)
	st.judge()
}

// repeat takes an event that is like an earlier one but for its text, and reports
// whether this is one.
func (st *streamed) repeat(e *sse.Event) bool {
	if string(e.Type) == "error" {
		return false
	}
	before := len(st.chunk.text)
	var ok bool
	if st.chunk.text, ok = st.like.Append(st.chunk.text, e.Data); !ok {
		return false
	}
	st.chunks++
	st.events.Add(e.End, st.like.Label, len(st.chunk.text)-before, 1)
	return true
}

// take takes any event.
func (st *streamed) take(e *sse.Event) {
	switch {
	case string(e.Type) == "error":
		st.chunks++
		st.events.Add(e.End, record.Error, 0, 0)
		st.events.Fail(record.StreamError, answer.Message(e.Data))
	case !e.HasData:
		label := record.Unknown
		if e.Comment || e.Type != nil || e.ID != nil || e.Retry != nil {
			label = record.Comment
		} else {
			st.unknown++
		}
		st.events.Add(e.End, label, 0, 0)
	case len(e.Data) == 0:
		st.events.Add(e.End, record.Empty, 0, 0)
	case string(bytes.TrimSpace(e.Data)) == "[DONE]":
		st.done = true
		st.events.Add(e.End, record.Done, 0, 0)
	default:
		st.takeChunk(e)
	}
}

// takeChunk takes an event whose data should be a chunk.
func (st *streamed) takeChunk(e *sse.Event) {
	c := &st.chunk
	before := len(c.text)
	if err := c.parse(e.Data); err != nil {
		st.unknown++
		st.events.Add(e.End, record.Unknown, 0, 0)
		if e.Unterminated {
			st.unclosed = true
		} else if st.malformed == "" {
			st.malformed = fmt.Sprintf("event %d, at byte %d of the answer, is not JSON: %v", st.events.Len(), e.Start, err)
		}
		return
	}
	label := c.label()
	text, tokens := len(c.text)-before, 0
	switch {
	case label == record.Error:
		c.text = c.text[:before]
		text = 0
	case label == record.Unknown:
		st.unknown++
	case label == record.Empty && c.blank:
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
	if label != record.Unknown {
		st.chunks++
	}
	if c.usage.known() {
		st.usage = c.usage
	}
	if c.finish != nil {
		st.rec.Finish = finishName(c.finish)
	}
	st.several = st.several || c.others
	st.events.Add(e.End, label, text, tokens)
	if label == record.Error {
		st.events.Fail(record.StreamError, answer.Message(e.Data))
	}
	if c.learnable() && !e.Joined {
		st.like.Learn(e.Data, c.start, c.end, label)
	}
}

// judge finds the failures that show once the stream has ended. A finish reason,
// [DONE] or a usage on its own closes a stream: some servers leave out one or two of them.
func (st *streamed) judge() {
	rec := st.rec
	switch {
	case rec.Failure != nil:
	case st.malformed != "":
		answer.Fail(rec, record.BadBody, rec.End, st.malformed)
	case st.unclosed && !st.done:
		answer.Fail(rec, record.Truncated, rec.End, "the answer ends in the middle of event "+strconv.Itoa(st.events.Len()))
	case st.chunks == 0 && st.unknown > 0:
		answer.Fail(rec, record.BadBody, rec.End, "the answer is neither JSON nor a stream of chat or completion events: "+answer.Message(rec.Body))
	case st.chunks == 0:
		answer.Fail(rec, record.BadBody, rec.End, "the stream holds no events")
	case rec.Finish == "" && !st.done && !st.closed:
		answer.Fail(rec, record.Truncated, rec.End, fmt.Sprintf("the stream ends after %d events without a finish reason or [DONE]", st.events.Len()))
	}
}
