package listed

import (
	"strings"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads the responses of one of the endpoints.
type Decoder struct {
	kind kind
	// own: the texts alone are what the server counts. It may count a query with each of its
	// passages, and what goes ahead of the text for an image.
	own bool
}

// NewDecoder makes a decoder for an endpoint.
func NewDecoder(name string) *Decoder {
	k := kinds[name]
	return &Decoder{kind: k, own: k.query == "" && name != plan.EndpointImages}
}

// Decode fills in the record's event and token counts from its body. A failure that it has
// already is kept; otherwise one that only the content shows is set.
func (d *Decoder) Decode(x *record.Exchange) {
	decode.Decode(x, func(body []byte) {
		rec := &x.Record
		if body[0] != '{' && body[0] != '[' {
			decode.Lacking(rec, "is not JSON")
			return
		}
		r := response{kind: &d.kind, prompt: -1}
		if err := r.parse(body); err != nil {
			decode.NotJSON(rec, err)
			return
		}
		event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole}
		switch {
		case r.failed && r.results == 0:
			decode.ErrorObject(rec)
			return
		case r.results == 0:
			decode.Lacking(rec, d.kind.lacks)
			return
		case r.hollow:
			decode.Fail(rec, record.BadBody, rec.End, "the response "+d.kind.lacks+" in one of its results")
			return
		default:
			x.Media = x.Media || !d.own
			decode.Prompt(x, r.prompt)
		}
		rec.Events = append(rec.Events, event)
	})
}

// response is what the body of a response says.
type response struct {
	kind    *kind
	scan    jsonscan.Scanner
	results int
	hollow  bool // one of them has no value
	failed  bool
	prompt  int // tokens of the prompt; -1: not said
}

func (r *response) parse(data []byte) error {
	s := &r.scan
	s.Reset(data)
	if s.Peek() == '[' { // as SGLang ranks
		r.list()
	} else {
		s.Fields(r.field)
	}
	s.End()
	return s.Err()
}

func (r *response) field(key []byte) {
	s := &r.scan
	switch name := string(key); {
	case name == r.kind.list && s.Peek() == '[':
		r.list()
	case name == "error" || name == "detail":
		if !s.Null() {
			r.failed = true
			s.Skip()
		}
	case name == "usage":
		s.Fields(func(key []byte) {
			switch string(key) {
			case "prompt_tokens", "input_tokens":
				r.prompt = decode.Count(s)
			default:
				s.Skip()
			}
		})
	default:
		s.Skip()
	}
}

func (r *response) list() {
	s := &r.scan
	for s.Array(); s.More(); {
		r.results++
		held := false
		s.Fields(func(key []byte) {
			if strings.Contains(r.kind.value, " "+string(key)+" ") {
				held = decode.Holds(s) || held
			} else {
				s.Skip()
			}
		})
		r.hollow = r.hollow || !held
	}
}
