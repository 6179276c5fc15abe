package jsonhttp

import (
	"slices"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads the responses of one kind of endpoint. It keeps nothing from one to the next.
type Decoder struct {
	kind  string
	count decode.Counter
}

// NewDecoder makes a decoder for an endpoint of plan.ProtocolHTTP.
func NewDecoder(kind string, tok prompt.Tokenizer, own bool) *Decoder {
	return &Decoder{kind: kind, count: decode.NewCounter(tok, own)}
}

// Decode fills in a record, as [decode.Decode] has it.
func (d *Decoder) Decode(x *record.Exchange) {
	decode.Decode(x, func(body []byte) {
		switch {
		case d.kind == plan.EndpointTGI && body[0] != '{' && body[0] != '[' && body[0] != '<':
			decode.ReadStream(d.begin(x))
		case body[0] == '<':
			decode.Lacking(&x.Record, "is not JSON")
		default:
			d.decodeUnstreamed(x, body)
		}
	})
}

// what a response lacks that is none of its kind.
func (d *Decoder) lacks(p *piece) string {
	switch {
	case d.kind == plan.EndpointRankings && !p.has("rankings"), d.kind == plan.EndpointRerank && !p.list && !p.has("results"):
		return "holds no ranking"
	case d.kind == plan.EndpointRetrieval && !p.has("data") && !p.list:
		return "has no results for the images"
	case d.kind == plan.EndpointTGI && !p.done:
		return "has no generated_text"
	}
	return ""
}

// decodeUnstreamed reads a response in one piece.
func (d *Decoder) decodeUnstreamed(x *record.Exchange, body []byte) {
	rec := &x.Record
	p := piece{Part: decode.Part{Text: rec.Text}}
	err := p.parse(body)
	rec.Text = p.Text
	if err != nil {
		decode.NotJSON(rec, err)
		return
	}
	event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole}
	lack := d.lacks(&p)
	switch {
	case p.failed && d.kind != plan.EndpointTemplate:
		decode.ErrorObject(rec)
		return
	case lack != "":
		decode.Lacking(rec, lack)
		return
	case d.kind == plan.EndpointTGI:
		rec.Text = append(rec.Text, p.whole...)
		event.Text = len(rec.Text)
		rec.Finish = finishName(p.finish)
		event.Tokens = d.count.CountUnstreamed(rec, p.generated, 0)
		decode.Prompt(x, p.input)
	default:
		rec.Text = rec.Text[:0]
		x.Media = true // a query goes with each of its passages, and images are tokens too
		decode.Prompt(x, p.input)
	}
	rec.Events = append(rec.Events, event)
	decode.Finished(rec)
}

func finishName(reason []byte) string {
	switch string(reason) {
	case "eos_token", "stop_sequence":
		return "stop"
	}
	return string(reason)
}

// piece is what one JSON value of a response says.
type piece struct {
	decode.Part
	list      bool     // it is a list that is not empty
	fields    []string // of the object: those of the names that matter
	failed    bool
	remark    bool // it has a detail, as errors have
	done      bool // a whole text is there
	special   bool // the token is not part of the text
	token     bool // there is a token
	finish    []byte
	generated int    // tokens in all; -1: not said
	input     int    // tokens of the prompt; -1: not said
	whole     []byte // of the response, where it is given as a whole
}

func (p *piece) has(field string) bool { return slices.Contains(p.fields, field) }

// parse reads a value. On an error the text is as it was before.
func (p *piece) parse(data []byte) error {
	*p = piece{Part: p.Part, fields: p.fields[:0], generated: -1, input: -1}
	before := p.Begin(data)
	s := &p.Scan
	switch s.Peek() {
	case '[':
		s.Array()
		for s.More() {
			p.list = true
			p.Scan.Fields(p.field)
		}
	default:
		p.Scan.Fields(p.field)
	}
	if err := p.Finish(before); err != nil {
		return err
	}
	if p.special {
		p.Text = p.Text[:before]
	}
	return nil
}

func (p *piece) field(key []byte) {
	s := &p.Scan
	switch string(key) {
	case "rankings", "results", "data":
		if s.Peek() != '[' {
			s.Skip()
		} else if length(s) > 0 { // an empty one is no result
			p.fields = append(p.fields, string(key))
		}
	case "error":
		p.failed = p.failed || !s.Null()
		if p.failed {
			s.Skip()
		}
	case "detail": // an error of FastAPI
		if !s.Null() {
			p.remark = true
			s.Skip()
		}
	case "token":
		p.token = s.Peek() == '{'
		p.Scan.Fields(p.tokenField)
	case "generated_text":
		if s.Peek() == '"' {
			p.done = true
			p.whole = s.Quoted()
		} else {
			s.Skip()
		}
	case "details":
		p.Scan.Fields(p.detail)
	case "usage":
		p.Scan.Fields(func(key []byte) {
			if string(key) == "prompt_tokens" {
				p.input = decode.Count(s)
			} else {
				s.Skip()
			}
		})
	default:
		s.Skip()
	}
}

func (p *piece) tokenField(key []byte) {
	s := &p.Scan
	switch {
	case string(key) == "special":
		p.special = s.Peek() == 't'
		s.Skip()
	case string(key) == "text":
		p.AppendString(record.Content)
	default:
		s.Skip()
	}
}

func (p *piece) detail(key []byte) {
	s := &p.Scan
	switch {
	case string(key) == "finish_reason" && s.Peek() == '"':
		p.finish = s.Quoted()
	case string(key) == "generated_tokens":
		p.generated = decode.Count(s)
	case string(key) == "input_length":
		p.input = decode.Count(s)
	case string(key) == "prefill" && s.Peek() == '[':
		if n := length(s); n > 0 {
			p.input = n
		}
	default:
		s.Skip()
	}
}

// length takes a list and gives how many elements it has.
func length(s *jsonscan.Scanner) (n int) {
	for s.Array(); s.More(); n++ {
		s.Skip()
	}
	return n
}

// streamed is the state of decoding one stream of Text Generation Inference.
type streamed struct {
	decode.StreamDecoder
	by    *Decoder
	x     *record.Exchange
	rec   *record.Record // of x
	piece piece
	empty int // tokens without text
	total int
	said  int // events with tokens up to the one that said so
	input int
}

// Advance reads a stream while it comes, as endpoint.Decoder has it.
func (d *Decoder) Advance(x *record.Exchange, most int) int {
	if d.kind != plan.EndpointTGI {
		return 0
	}
	return decode.Advance(x, most, d.begin)
}

// begin starts on a stream of server-sent events.
func (d *Decoder) begin(x *record.Exchange) decode.StreamReader {
	st := &streamed{by: d, x: x, rec: &x.Record, total: -1, input: -1}
	st.Begin(&x.Record)
	st.piece.Text = x.Text
	return st
}

// AddEvent takes any event.
func (st *streamed) AddEvent(e *sse.Event) {
	if !st.Frame(e) {
		st.takePiece(e)
	}
	st.piece.Text = st.Bound(st.piece.Text)
}

// End works out what a stream comes to that has been read.
func (st *streamed) End() {
	rec := st.rec
	rec.Events, rec.Text = st.List(), st.piece.Text
	decode.Prompt(st.x, st.input)
	tokens := st.Tokens
	st.by.count.Stream(rec, decode.Stream{
		Total: st.total, Tokens: tokens, After: tokens - st.said, Events: st.Known > 0,
		OneEach: st.total == tokens || st.total == tokens+st.empty,
	})
	st.Judge("token", st.Done, "the whole text") // which alone closes a stream
	decode.Finished(rec)
}

// takePiece takes an event whose data should be JSON.
func (st *streamed) takePiece(e *sse.Event) {
	p := &st.piece
	before := len(p.Text)
	if err := p.parse(e.Data); err != nil {
		st.Malformed(e, err)
		return
	}
	label, tokens := record.Unknown, 0
	switch {
	case p.failed, p.remark && !p.token && !p.done:
		label = record.Error
		p.Text = p.Text[:before]
	case len(p.Text) > before:
		label, tokens = record.Content, 1
	case p.token:
		label = record.Empty
		st.empty++
	case p.done:
		label = record.Finish
	}
	if p.done {
		st.Done = true
		st.rec.Finish = finishName(p.finish)
	}
	if p.generated >= 0 {
		st.total, st.said = p.generated, st.Tokens+tokens
	}
	if p.input >= 0 {
		st.input = p.input
	}
	st.Put(e, label, len(p.Text)-before, tokens)
}
