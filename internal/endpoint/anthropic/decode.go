package anthropic

import (
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads responses of the messages API. It keeps nothing from one to the next.
type Decoder struct{ count decode.Counter }

// NewDecoder makes a decoder whose tokens are counted as by [decode.NewCounter].
func NewDecoder(tok prompt.Tokenizer, own bool) *Decoder {
	return &Decoder{count: decode.NewCounter(tok, own)}
}

// Decode fills in a record, as [decode.Decode] has it.
func (d *Decoder) Decode(x *record.Exchange) {
	decode.Decode(x, func(body []byte) {
		switch body[0] {
		case '{':
			d.decodeUnstreamed(x, body)
		case '<':
			decode.Lacking(&x.Record, "is neither JSON nor a stream of events")
		default:
			decode.ReadStream(d.begin(x))
		}
	})
}

// decodeUnstreamed reads a response in one piece.
func (d *Decoder) decodeUnstreamed(x *record.Exchange, body []byte) {
	var e event
	rec := &x.Record
	e.Text, e.Apart = rec.Text, d.count.Plain
	err := e.parse(body)
	rec.Text = e.Text
	switch {
	case err != nil:
		decode.NotJSON(rec, err)
		return
	case e.kind == failure:
		decode.ErrorObject(rec)
		return
	case !e.content:
		decode.Lacking(rec, "has no content")
		return
	}
	d.takeUsage(x, e.usage)
	rec.Finish = finishName(e.stop)
	event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole, Text: len(rec.Text)}
	event.Tokens = d.count.CountUnstreamed(rec, e.usage.output, hidden(e.sealed))
	if d.count.Plain {
		event.Tokens = d.count.CountVisible(rec, e.Visible)
		trust(rec)
	}
	rec.Events = append(rec.Events, event)
	decode.Finished(rec)
}

// trust has the server's count stand for this side's, as a plain client has it.
func trust(rec *record.Record) {
	if rec.Out.Source == record.FromServer && rec.Out.Local >= 0 {
		rec.Out.Local = rec.Out.N
	}
}

// takeUsage takes over what the server says about the prompt.
func (d *Decoder) takeUsage(x *record.Exchange, u usage) {
	d.count.Prompt(x, u.prompt())
	if u.read >= 0 {
		x.Cached = u.read
	}
}

// finishName is a stop reason in the words that records use for every protocol.
func finishName(reason []byte) string {
	switch string(reason) {
	case "end_turn", "stop_sequence":
		return "stop"
	case "max_tokens":
		return "length"
	case "tool_use":
		return "tool_calls"
	case "refusal":
		return "content_filter"
	}
	return string(reason)
}

type streamed struct {
	decode.StreamDecoder
	by    *Decoder
	x     *record.Exchange
	rec   *record.Record // of x
	event event

	usage usage
	total int // output tokens as the end of the message has them; -1: not said
	said  int // events with tokens up to the one that said so
	empty int // changes of a block without text
	// sealed: thinking was signed or encrypted, so that what is shown of it is a summary.
	sealed bool
}

// hidden is how many output tokens need not be in the text.
func hidden(sealed bool) int {
	if sealed {
		return decode.AnyHidden
	}
	return 0
}

// Advance reads a stream while it comes, as endpoint.Decoder has it.
func (d *Decoder) Advance(x *record.Exchange, most int) int { return decode.Advance(x, most, d.begin) }

// begin starts on a stream of server-sent events.
func (d *Decoder) begin(x *record.Exchange) decode.StreamReader {
	st := &streamed{by: d, x: x, rec: &x.Record, usage: unknownUsage(), total: -1}
	st.Begin(&x.Record)
	st.event.Text = x.Text
	return st
}

// AddEvent takes any event.
func (st *streamed) AddEvent(e *sse.Event) {
	if !st.Repeat(e, &st.event.Part) && !st.Frame(e) { // some gateways add [DONE]
		st.takeEvent(e)
	}
	st.event.Text = st.Bound(st.event.Text)
}

// End works out what a stream comes to that has been read.
func (st *streamed) End() {
	d := st.by
	rec := st.rec
	rec.Events, rec.Text = st.List(), st.event.Text
	d.takeUsage(st.x, st.usage)
	if d.count.Plain && st.total < 0 { // of a message without an end, its beginning is believed
		st.total = st.usage.output
	}
	tokens := st.Tokens
	d.count.Stream(rec, decode.Stream{
		Total: st.total, Hidden: hidden(st.sealed), Tokens: tokens, After: tokens - st.said, Events: st.Known > 0,
		// A token without text has an event too; the one that ends the response has none.
		OneEach: st.total == tokens || st.total == tokens+st.empty || rec.Finish == "stop" && st.total == tokens+st.empty+1,
	})
	if d.count.Plain {
		trust(rec)
	}
	st.Judge("message", rec.Finish != "" || st.Done, "a stop reason or message_stop")
	decode.Finished(rec)
}

// takeEvent takes an event whose data should be JSON.
func (st *streamed) takeEvent(e *sse.Event) {
	ev := &st.event
	before := len(ev.Text)
	if err := ev.parse(e.Data); err != nil {
		st.Malformed(e, err)
		return
	}
	if ev.kind == other {
		ev.kind = kinds[string(e.Type)]
	}
	label := ev.label()
	text, tokens := len(ev.Text)-before, 0
	switch {
	case label == record.Error:
		ev.Text = ev.Text[:before]
		text = 0
	case label.IsToken():
		tokens = 1
	case ev.kind == blockDelta && ev.Blank:
		st.empty++
	}
	st.Done = st.Done || ev.kind == messageStop
	st.sealed = st.sealed || ev.sealed
	st.usage.merge(ev.usage)
	if ev.kind == messageDelta && ev.usage.output >= 0 {
		st.total, st.said = ev.usage.output, st.Tokens // that of the first event only says what was there so far
	}
	if ev.stop != nil {
		st.rec.Finish = finishName(ev.stop)
	}
	st.Put(e, label, text, tokens)
	if ev.learnable() && !e.Joined {
		st.Learn(e, &ev.Part, label)
	}
}
