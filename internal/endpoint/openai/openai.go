// Package openai speaks the OpenAI HTTP protocol: chat completions, completions and
// transcriptions, streamed and not, and embeddings.
package openai

import (
	"net/url"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Protocol is OpenAI's.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolOpenAI, Open: replica.Opener(New), Models: replica.ModelsURL, Preflights: true,
		Decoder: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			d := NewDecoder(Kind(t.Endpoint), tok, own)
			d.First, d.count.Plain, d.count.Thoughts = t.Shaped(), t.PlainCounts(), true
			return endpoint.Decoder{Decode: d.Decode, Advance: d.Advance, Longest: decode.Longest, Reply: d.Reply}
		},
	}
}

// Kind is one of the protocol's endpoints.
type Kind string

// The endpoints of the protocol.
const (
	Chat           Kind = plan.EndpointChat
	Completions    Kind = plan.EndpointCompletions
	Embeddings     Kind = plan.EndpointEmbeddings
	Transcriptions Kind = plan.EndpointTranscriptions
)

func (k Kind) path() string {
	switch k {
	case Completions:
		return "/v1/completions"
	case Embeddings:
		return "/v1/embeddings"
	case Transcriptions:
		return "/v1/audio/transcriptions"
	default:
		return "/v1/chat/completions"
	}
}

// Endpoint is an OpenAI-compatible server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	body bodyEncoder
	form *formEncoder // of transcriptions; else nil
}

// New makes an Endpoint of a target whose model is known.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	kind := Kind(t.Endpoint)
	body, err := newBodyEncoder(kind, t, o.Data)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{body: body}
	ctype := ""
	if kind == Transcriptions {
		ctype = formType
		if e.form, err = newFormEncoder(t); err != nil {
			return nil, err
		}
	}
	e.Set, err = replica.New(t, o, replica.Protocol{
		Type:     ctype,
		URL:      func(base string) (*url.URL, error) { return replica.URL(base, t.Path, kind.path()) },
		Streamed: t.Streaming && kind != Embeddings,
	})
	return e, err
}

// Prepare encodes a request.
func (e *Endpoint) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	encode := e.body.encode
	if e.form != nil {
		encode = e.form.encode
	}
	body, err := encode(p)
	if err != nil {
		return nil, err
	}
	return e.Call(p, body), nil
}
