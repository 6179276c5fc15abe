// Package openai speaks OpenAI's HTTP protocol: chats, completions, transcriptions and embeddings.
package openai

import (
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

// New makes an endpoint of a target whose model is known.
func New(t plan.Target, o endpoint.Options) (*replica.Set, error) {
	kind := Kind(t.Endpoint)
	body, err := newBodyEncoder(kind, t, o.Data)
	if err != nil {
		return nil, err
	}
	p := replica.Protocol{Path: kind.path(), Encode: body.encode, Streamed: t.Streaming && kind != Embeddings}
	if kind == Transcriptions {
		form, err := newFormEncoder(t)
		if err != nil {
			return nil, err
		}
		p.Type, p.Encode = formType, form.encode
	}
	return replica.New(t, o, p)
}
