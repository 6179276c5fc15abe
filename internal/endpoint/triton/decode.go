package triton

import (
	"bytes"
	"fmt"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads the answers of a model behind Triton. It holds nothing of one answer
// when it reads the next.
type Decoder struct {
	convention convention
	transport  string
	endpoint   string
	tok        prompt.Tokenizer // nil, or the run's own
	own        bool             // tok is the model's own, not one that stands in for it
}

// NewDecoder makes the decoder of a target that Settle has seen. The model's own
// tokenizer counts beside the server; one that stands in for it counts only answers
// in one piece that the server did not count.
func NewDecoder(t plan.Target, tok prompt.Tokenizer, own bool) *Decoder {
	return &Decoder{convention: conventionOf(t.Triton.Convention), transport: t.Transport, endpoint: t.Endpoint, tok: tok, own: own &&
		tok != nil}
}

// Decode fills in the record's events, text, token counts and finish reason from its body. A
// failure that it has already is kept, with whatever arrived before it decoded, and
// its words are filled in where the body has them.
func (d *Decoder) Decode(x *record.Exchange) {
	rec := &x.Record
	decode.Clear(rec)
	a := reading{decoder: d, x: x, rec: rec, tokensIn: -1}
	a.Begin(rec)
	a.about, _ = x.Request.(*about)
	x.Request = nil
	a.reply.text = rec.Text
	a.reply.expects = a.about != nil && len(a.about.expected) > 0
	if d.convention.name == plan.ConventionTensors || a.about != nil && a.about.tensors {
		rec.In = record.Tokens{Local: -1} // there is no prompt to count
	}
	switch {
	case d.transport != plan.TransportGRPC && rec.Status != 0 && (rec.Status < 200 || rec.Status > 299):
		decode.Refused(rec)
		return
	case len(rec.Body) == 0 && rec.Failure != nil:
		return
	case len(rec.Body) == 0:
		decode.Fail(rec, record.BadBody, rec.End, "the response is empty")
		return
	case d.transport == plan.TransportGRPC:
		a.frames(d.endpoint == plan.EndpointStream)
	case d.endpoint == plan.EndpointInfer:
		a.decodeUnstreamed((*reply).parseInfer)
	default:
		a.generated()
	}
	a.finish()
}

type reading struct {
	decode.Events
	decoder *Decoder
	x       *record.Exchange
	rec     *record.Record // of x
	about   *about
	reply   reply

	counted  int  // events whose tokens the server counts
	sum      int  // of those
	tokensIn int  // -1: not said
	final    bool // the last response has come
	bad      string
	firstIDs string // as many ids at the answer's beginning as the prompt has
}

// frames reads an answer made of gRPC messages.
func (a *reading) frames(stream bool) {
	body := a.rec.Body
	parse := (*reply).parseUnary
	if stream {
		parse = (*reply).parseStream
	}
	for rest := body; len(rest) > 0; {
		message, after, ok := frame(rest)
		if !ok {
			if a.bad == "" && a.rec.Failure == nil {
				decode.Fail(a.rec, record.Truncated, a.rec.End, fmt.Sprintf("the answer ends inside response %d", a.Len()+1))
			}
			return
		}
		rest = after
		a.addResponse(parse, message, len(body)-len(rest))
	}
	a.final = a.final || !stream
}

func (a *reading) decodeUnstreamed(parse func(*reply, []byte, *convention) error) {
	a.addResponse(parse, a.rec.Body, len(a.rec.Body))
	a.final = true
}

func (a *reading) generated() {
	body := bytes.TrimLeft(a.rec.Body, " \t\r\n")
	switch {
	case len(body) > 0 && body[0] == '{':
		a.decodeUnstreamed((*reply).parseGenerate)
		return
	case len(body) > 0 && body[0] == '<':
		decode.Fail(a.rec, record.BadBody, a.rec.End, "the answer is an HTML or XML page")
		return
	}
	var scan sse.Scanner
	scan.Reset(a.rec.Body)
	var e sse.Event // outside the loop, which would copy it
	for scan.Next(&e) {
		switch {
		case e.HasData && len(e.Data) > 0:
			if e.Unterminated && a.rec.Failure == nil && !endsObject(e.Data) {
				decode.Fail(a.rec, record.Truncated, a.rec.End, fmt.Sprintf("the answer ends inside response %d", a.Len()+1))
				return
			}
			a.addResponse((*reply).parseGenerate, e.Data, e.End)
		case e.HasData:
			a.Add(e.End, record.Empty, 0, 0)
		default:
			a.Add(e.End, record.Comment, 0, 0)
		}
	}
	a.final = true // the end of the body is the end of the stream
}

func endsObject(data []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(data), []byte("}")) }

// addResponse reads a response that is complete at offset end of the body.
func (a *reading) addResponse(parse func(*reply, []byte, *convention) error, data []byte, end int) {
	r, c := &a.reply, &a.decoder.convention
	before := len(r.text)
	if err := parse(r, data, c); err != nil {
		r.text = r.text[:before]
		a.Add(end, record.Unknown, 0, 0)
		if a.bad == "" {
			a.bad = fmt.Sprintf("response %d cannot be read: %v", a.Len(), err)
		}
		return
	}
	a.final = a.final || r.final
	if r.failure != nil {
		r.text = r.text[:before]
		a.Add(end, record.Error, 0, 0)
		a.failed(string(r.failure))
		return
	}
	if r.tokensIn >= 0 {
		a.tokensIn = r.tokensIn
	}
	if len(r.finish) > 0 {
		a.rec.Finish = string(r.finish)
	}
	if a.about != nil && a.Tokens == 0 && len(r.ids) >= len(a.about.prompt) {
		a.firstIDs = string(r.ids[:len(a.about.prompt)])
	}
	label, tokens := a.label(len(r.text) - before)
	if label.IsToken() && r.tokensOut >= 0 { // the server counts itself
		tokens = r.tokensOut
		a.counted++
		a.sum += r.tokensOut
	}
	a.Add(end, label, len(r.text)-before, tokens)
	a.compare()
}

func (a *reading) label(text int) (record.EventKind, int) {
	r, c := &a.reply, &a.decoder.convention
	content := record.Content
	if !a.rec.Streamed {
		content = record.Whole
	}
	switch {
	case r.outputs == 0 && r.final:
		return record.Done, 0
	case r.outputs == 0:
		return record.Empty, 0
	case c.name == plan.ConventionTensors:
		return content, -1
	case c.answerIDs != "" && len(r.ids) > 0:
		return content, len(r.ids) / 4
	case text > 0:
		return content, 1
	case r.answered && len(r.finish) > 0:
		return record.Finish, 0
	}
	return record.Empty, 0
}

// failed notes an error that the server reports inside the answer.
func (a *reading) failed(text string) {
	if f := a.rec.Failure; f != nil && f.Class == record.StreamError && f.Message == "" {
		f.Message, f.At = decode.Shorten(text), a.Now()
	}
	a.Fail(record.StreamError, text)
}

// compare holds a response against what the user expects.
func (a *reading) compare() {
	if !a.reply.expects || a.reply.outputs == 0 {
		return
	}
	if err := tensor.Compare(a.about.expected, a.reply.tensors); err != nil {
		decode.Fail(a.rec, record.BadBody, a.rec.End, "the answer is not the expected one: "+err.Error())
	}
}

// finish counts tokens and finds the failures that show once all has been read.
func (a *reading) finish() {
	rec := a.rec
	rec.Events, rec.Text = a.List(), a.reply.text
	if len(rec.Marks) == 0 { // nothing to point at
		rec.Events = rec.Events[:0]
	}
	if a.decoder.convention.name != plan.ConventionTensors {
		prompt := ""
		if a.about != nil {
			prompt = a.about.prompt
		}
		a.dropEcho(prompt)
		decode.PromptOf(a.x, a.tokensIn, len(prompt))
		a.countTokens()
	}
	switch {
	case rec.Failure != nil:
	case a.bad != "":
		decode.Fail(rec, record.BadBody, rec.End, a.bad)
	case !a.final:
		decode.Fail(rec, record.Truncated, rec.End, fmt.Sprintf("the stream ends after %d responses, none of them marked as the last", len(rec.Events)))
	case len(rec.Events) == 0:
		decode.Fail(rec, record.BadBody, rec.End, "the answer holds no response")
	}
	decode.Finished(rec)
}
