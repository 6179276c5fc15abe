// Package openai speaks the OpenAI HTTP protocol: chat completions, completions
// and embeddings, streamed and not.
package openai

import (
	"net/url"
	"strings"

	"inferometer/internal/endpoint"
	"inferometer/internal/endpoint/replica"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// Kind is one of the protocol's endpoints.
type Kind string

// The endpoints of the protocol.
const (
	Chat        Kind = "chat"
	Completions Kind = "completions"
	Embeddings  Kind = "embeddings"
)

// path is where servers have the endpoint.
func (k Kind) path() string {
	switch k {
	case Completions:
		return "/v1/completions"
	case Embeddings:
		return "/v1/embeddings"
	default:
		return "/v1/chat/completions"
	}
}

// Endpoint is an OpenAI-compatible server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	body bodyEncoder
}

var (
	_ endpoint.Warmer  = (*Endpoint)(nil)
	_ endpoint.Stamper = (*Endpoint)(nil)
)

// New makes an Endpoint of a target whose model is known.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	kind := Kind(t.Endpoint)
	body, err := newBodyEncoder(kind, t, o.Data)
	if err != nil {
		return nil, err
	}
	set, err := replica.New(t, o, replica.Protocol{
		URL:      func(base string) (*url.URL, error) { return RequestURL(base, t.Path, kind) },
		Streamed: t.Streaming && kind != Embeddings,
	})
	if err != nil {
		return nil, err
	}
	return &Endpoint{Set: set, body: body}, nil
}

// Prepare encodes a request.
func (e *Endpoint) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	body, err := e.body.encode(p)
	if err != nil {
		return nil, err
	}
	return e.Call(p, body), nil
}

// RequestURL is where requests of a kind go. A base URL that already ends in the
// endpoint's path, or in /v1, is not extended twice.
func RequestURL(base, path string, kind Kind) (*url.URL, error) {
	return replica.URL(base, path, kind.path())
}

// ModelsURL is where a server lists its models, whichever of its endpoints the base
// URL names.
func ModelsURL(base string) (*url.URL, error) {
	u, err := RequestURL(base, "", Chat)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(u.Path, Chat.path())
	for _, k := range []Kind{Completions, Embeddings} {
		path = strings.TrimSuffix(path, k.path())
	}
	u.Path = path + "/v1/models"
	u.RawQuery = ""
	return u, nil
}
