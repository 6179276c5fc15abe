package sglang

import (
	"bytes"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads responses of /generate. It holds nothing of one response when it reads the next.
type Decoder struct{ count decode.Counter }

// NewDecoder makes a decoder whose tokens are counted as by [decode.NewCounter].
func NewDecoder(tok prompt.Tokenizer, own bool) *Decoder {
	return &Decoder{count: decode.NewCounter(tok, own)}
}

// Decode fills in a record, as [decode.Decode] has it.
func (d *Decoder) Decode(x *record.Exchange) {
	decode.Decode(x, func(body []byte) {
		switch body[0] {
		case '{', '[':
			d.decodeUnstreamed(x, body)
		case '<':
			decode.Lacking(&x.Record, "is neither JSON nor a stream of events")
		default:
			decode.ReadStream(d.begin(x))
		}
	})
}

// decodeUnstreamed reads a response in one piece, which of a batch is a list.
func (d *Decoder) decodeUnstreamed(x *record.Exchange, body []byte) {
	rec := &x.Record
	var p piece
	if err := p.parse(body); err != nil {
		decode.NotJSON(rec, err)
		return
	}
	event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole}
	switch {
	case p.failed:
		decode.ErrorObject(rec)
		return
	case !p.told && p.ids < 0:
		decode.Lacking(rec, "has no text")
		return
	default:
		rec.Text = jsonscan.AppendUnescaped(rec.Text, p.text)
		event.Text = len(rec.Text)
		rec.Finish = string(p.finish)
		event.Tokens = d.count.CountUnstreamed(rec, p.output, p.hidden())
		d.takePrompt(x, &p)
	}
	rec.Events = append(rec.Events, event)
	decode.Finished(rec)
}

// takePrompt takes over what the server says about the prompt.
func (d *Decoder) takePrompt(x *record.Exchange, p *piece) {
	d.count.Prompt(x, p.prompt)
	if p.cached >= 0 {
		x.Cached = p.cached
	}
}

// piece is what one JSON object of a response says.
type piece struct {
	scan   jsonscan.Scanner
	told   bool   // it has a text
	text   []byte // as it stands between the quotes
	ids    int    // of output tokens; -1: not said
	failed bool
	finish []byte
	// What the server counts; -1: not said.
	prompt, output, cached int
}

// hidden is how many output tokens need not be in the text: all, where a server sends ids alone.
func (p *piece) hidden() int {
	if !p.told {
		return decode.AnyHidden
	}
	return 0
}

func (p *piece) parse(data []byte) error {
	*p = piece{ids: -1, prompt: -1, output: -1, cached: -1}
	s := &p.scan
	s.Reset(data)
	if s.Peek() == '[' {
		for s.Array(); s.More(); {
			s.Fields(p.field)
		}
	} else {
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			p.field(key)
		}
	}
	s.End()
	return s.Err()
}

func (p *piece) field(key []byte) {
	s := &p.scan
	switch string(key) {
	case "text":
		if s.Peek() == '"' {
			p.told = true
			p.text, _ = s.String()
		} else {
			s.Skip()
		}
	case "output_ids":
		if s.Peek() != '[' {
			s.Skip()
			return
		}
		p.ids = 0
		for s.Array(); s.More(); p.ids++ {
			s.Skip()
		}
	case "error", "detail":
		if !s.Null() {
			p.failed = true
			s.Skip()
		}
	case "meta_info":
		s.Fields(p.metaField)
	default:
		s.Skip()
	}
}

func (p *piece) metaField(key []byte) {
	s := &p.scan
	switch string(key) {
	case "prompt_tokens":
		p.prompt = decode.Count(s)
	case "completion_tokens":
		p.output = decode.Count(s)
	case "cached_tokens":
		p.cached = decode.Count(s)
	case "finish_reason":
		if s.Peek() == '"' {
			p.finish = s.Quoted()
			return
		}
		s.Fields(func(key []byte) {
			if string(key) == "type" && s.Peek() == '"' {
				p.finish = s.Quoted()
			} else {
				s.Skip()
			}
		})
	default:
		s.Skip()
	}
}

type streamed struct {
	decode.StreamDecoder
	by    *Decoder
	x     *record.Exchange
	rec   *record.Record // of x
	piece piece
	text  []byte // of the response so far, as much as is kept

	last   piece  // what was said last of each kind, without its text
	sofar  []byte // all of the text so far, as it stands between quotes
	apart  bool   // each event has its own text alone
	output int    // tokens up to here, as the server counts
	said   int    // events with tokens up to the one that said so
	empty  int    // events that add nothing
	summed bool   // every event with tokens came with a count
}

// Advance reads a stream while it comes, as endpoint.Decoder has it.
func (d *Decoder) Advance(x *record.Exchange, most int) int { return decode.Advance(x, most, d.begin) }

// begin starts on a stream of server-sent events.
func (d *Decoder) begin(x *record.Exchange) decode.StreamReader {
	st := &streamed{by: d, x: x, rec: &x.Record, text: x.Text, output: -1, summed: true, last: piece{prompt: -1, cached: -1}}
	st.Begin(&x.Record)
	return st
}

// AddEvent takes any event.
func (st *streamed) AddEvent(e *sse.Event) {
	if !st.Frame(e) {
		st.takePiece(e)
	}
	st.text = st.Bound(st.text)
}

// End works out what a stream comes to that has been read.
func (st *streamed) End() {
	d, rec := st.by, st.rec
	rec.Events, rec.Text = st.List(), st.text
	d.takePrompt(st.x, &st.last)
	tokens := st.Tokens
	d.count.Stream(rec, decode.Stream{
		Total: st.output, Hidden: st.last.hidden(), Tokens: tokens, After: tokens - st.said, Sums: st.summed, Events: st.Known > 0,
		OneEach: st.output == tokens || st.output == tokens+st.empty,
	})
	st.Judge("generate", rec.Finish != "" || st.Done, "a finish reason or [DONE]")
	decode.Finished(rec)
}

// takePiece takes an event whose data should be JSON.
func (st *streamed) takePiece(e *sse.Event) {
	p := &st.piece
	if err := p.parse(e.Data); err != nil {
		st.Malformed(e, err)
		return
	}
	before, known := len(st.text), p.told || p.ids >= 0 || p.output >= 0
	more := p.output > max(st.output, 0)
	label, tokens := record.Unknown, 0
	switch {
	case p.failed:
		label = record.Error
	case known:
		st.addText(p)
		switch {
		case len(st.text) > before, more && !p.told:
			label, tokens = record.Content, 1
			if p.output >= 0 {
				tokens = p.output // the sum so far; decode.Stream takes differences
			}
			st.summed = st.summed && p.output >= 0
		case p.finish != nil:
			label = record.Finish
		default:
			label = record.Empty
			st.empty++
		}
	}
	if p.finish != nil && !p.failed {
		st.rec.Finish = string(p.finish)
	}
	if p.output >= 0 {
		st.output, st.said = p.output, st.Tokens
		if label == record.Content {
			st.said++
		}
	}
	st.keep(p)
	st.Put(e, label, len(st.text)-before, tokens)
}

func (st *streamed) keep(p *piece) {
	st.last.told = st.last.told || p.told
	if p.prompt >= 0 {
		st.last.prompt = p.prompt
	}
	if p.cached >= 0 {
		st.last.cached = p.cached
	}
}

// addText adds what an event has beyond the events before it. Some servers are told to send
// no more than that; then their ids are fewer than the tokens so far, or the text begins otherwise.
func (st *streamed) addText(p *piece) {
	begins := bytes.HasPrefix(p.text, st.sofar)
	if len(st.sofar) > 0 && p.told {
		st.apart = st.apart || !begins && len(p.text) < len(st.sofar) || p.ids >= 0 && p.ids < p.output
	}
	own := p.text
	switch {
	case st.apart:
		st.sofar = append(st.sofar, own...)
	case begins:
		own = own[len(st.sofar):]
		st.sofar = append(st.sofar, own...)
	default: // the end of the text so far has become another, as half a character does
		same := shared(own, st.sofar)
		st.sofar = append(st.sofar[:same], own[same:]...)
		own = own[same:]
	}
	st.text = jsonscan.AppendUnescaped(st.text, own)
}

// shared is how long two quoted texts begin alike, up to the last escape, which may go on.
func shared(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if i := bytes.LastIndexByte(a[:n], '\\'); i >= 0 && n-i < 6 {
		for i > 0 && a[i-1] == '\\' {
			i--
		}
		n = i
	}
	return n
}
