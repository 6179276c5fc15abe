package responses

import (
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads responses of the API. It holds nothing of one response when it reads the next.
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
		case '<', '[':
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
	before := e.begin(body, nil)
	e.taking = takeAll
	err := e.parse(before)
	rec.Text = e.Text
	switch {
	case err != nil:
		decode.NotJSON(rec, err)
		return
	case e.failed():
		decode.ErrorObject(rec)
		return
	case !e.output:
		decode.Lacking(rec, "has no output")
		return
	}
	d.takeUsage(x, e.usage)
	rec.Finish = e.finish(e.called)
	event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole, Text: len(rec.Text)}
	event.Tokens = d.count.CountUnstreamed(rec, e.usage.output, e.usage.hidden)
	if d.count.Plain {
		event.Tokens = d.count.CountVisible(rec, e.Visible)
	}
	rec.Events = append(rec.Events, event)
	decode.Finished(rec)
}

// takeUsage takes over what the server says about the prompt.
func (d *Decoder) takeUsage(x *record.Exchange, u usage) {
	d.count.Prompt(x, u.input)
	if u.cached >= 0 {
		x.Cached = u.cached
	}
}

type streamed struct {
	decode.StreamDecoder
	by    *Decoder
	x     *record.Exchange
	rec   *record.Record // of x
	event event

	usage  usage
	said   int  // events with tokens up to the one with the usage
	empty  int  // deltas without text
	called bool // there was a call of a tool
	whole  bool // some text came in one piece, whatever its length
	inCall bool // the item that goes on is one
	deltas int  // of that item
}

// Advance reads a stream while it comes, as endpoint.Decoder has it.
func (d *Decoder) Advance(x *record.Exchange, most int) int { return decode.Advance(x, most, d.begin) }

// begin starts on a stream of server-sent events.
func (d *Decoder) begin(x *record.Exchange) decode.StreamReader {
	st := &streamed{by: d, x: x, rec: &x.Record, usage: unknownUsage()}
	st.Begin(&x.Record)
	st.event.Text = x.Text
	return st
}

// AddEvent takes any event.
func (st *streamed) AddEvent(e *sse.Event) {
	if st.Repeat(e, &st.event.Part) {
		st.deltas++
	} else if !st.Frame(e) { // some gateways add [DONE]
		st.takeEvent(e)
	}
	st.event.Text = st.Bound(st.event.Text)
}

// End works out what a stream comes to that has been read.
func (st *streamed) End() {
	d, rec := st.by, st.rec
	rec.Events, rec.Text = st.List(), st.event.Text
	d.takeUsage(st.x, st.usage)
	total, tokens := st.usage.output, st.Tokens
	d.count.Stream(rec, decode.Stream{
		Total: total, Hidden: st.usage.hidden, Tokens: tokens, After: tokens - st.said, Events: st.Known > 0,
		// A token without text has an event too; the one that ends the response has none.
		OneEach: !st.whole && (total == tokens || total == tokens+st.empty || rec.Finish == "stop" && total == tokens+st.empty+1),
	})
	st.Judge("response", rec.Finish != "", "response.completed")
	decode.Finished(rec)
}

// takeEvent takes an event whose data should be JSON.
func (st *streamed) takeEvent(e *sse.Event) {
	ev := &st.event
	before := ev.begin(e.Data, e.Type)
	ev.taking = st.wanted(ev.kind)
	if err := ev.parse(before); err != nil {
		st.Malformed(e, err)
		return
	}
	label := ev.label()
	text, tokens := len(ev.Text)-before, 0
	switch {
	case label == record.Error:
		ev.Text = ev.Text[:before]
		text = 0
	case label.IsToken():
		tokens = 1
		st.whole = st.whole || ev.kind == itemDone || ev.kind == ended
	case ev.kind == delta && ev.Blank:
		st.empty++
	}
	switch ev.kind {
	case delta:
		st.deltas++
	case itemAdded, itemDone:
		st.deltas, st.inCall = 0, ev.kind == itemAdded && ev.called
	}
	st.called = st.called || ev.called
	if ev.usage != unknownUsage() {
		st.usage, st.said = ev.usage, st.Tokens+tokens
	}
	if ev.kind == ended {
		st.rec.Finish = ev.finish(st.called)
	}
	st.Put(e, label, text, tokens)
	if ev.kind == delta && ev.Texts == 1 && !e.Joined {
		st.Learn(e, &ev.Part, label)
	}
}

// wanted is what has to be taken of the items in an event: what a server did not send piece
// by piece stands in the whole of an item, or in that of the response.
func (st *streamed) wanted(k kind) taking {
	switch {
	case k == itemAdded:
		return takeName
	case k == itemDone && st.deltas == 0 && st.inCall:
		return takeArguments
	case k == itemDone && st.deltas == 0, k == ended && st.Tokens == 0:
		return takeAll
	}
	return takeNothing
}
