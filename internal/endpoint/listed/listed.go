// Package listed speaks the endpoints that answer at once and with a list: rankings as
// Cohere, Jina and vLLM have them, scores, classes, pooled vectors and made images.
package listed

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// kind is what endpoints differ in.
type kind struct {
	path  string
	query string // field of what texts are held against; empty: there is none
	texts string // field of the texts, or of the text alone
	alone bool   // one text is no list
	list  string // field of the response that has a result for each
	value string // fields of a result, of which one has to be there and hold something
	lacks string // what a response is without that
}

// kinds are the endpoints by their names in a plan.
var kinds = map[string]kind{
	plan.EndpointCohereRerank: {"/v2/rerank", "query", "documents", false, "results", " relevance_score score ", "holds no ranking"},
	plan.EndpointJinaRerank:   {"/v1/rerank", "query", "documents", false, "results", " relevance_score score ", "holds no ranking"},
	plan.EndpointScore:        {"/score", "text_1", "text_2", false, "data", " score ", "holds no score"},
	plan.EndpointClassify:     {"/classify", "", "input", true, "data", " probs ", "holds no classes"},
	plan.EndpointPooling:      {"/pooling", "", "input", true, "data", " data ", "holds no pooled output"},
	plan.EndpointImages:       {"/v1/images/generations", "", "prompt", true, "data", " b64_json url ", "holds no image"},
}

// Protocol is that of all of them. They need no model: a server may have but one.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolHTTP, Open: replica.Opener(New), Models: replica.ModelsURL, Modelless: true, Preflights: true,
		Decoder: func(t plan.Target, _ prompt.Tokenizer, _ bool) endpoint.Decoder {
			return endpoint.Decoder{Decode: NewDecoder(t.Endpoint).Decode}
		},
	}
}

// Endpoint is a server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	kind  kind
	start body.Start
}

// New makes an Endpoint of a target.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	e := &Endpoint{kind: kinds[t.Endpoint]}
	own := map[string]any{}
	if t.Model != "" {
		own["model"] = t.Model
	}
	taken := []string{e.kind.texts}
	if e.kind.query != "" {
		taken = append(taken, e.kind.query)
	}
	var err error
	if e.start, err = body.NewStart(own, t.Body, taken...); err != nil {
		return nil, err
	}
	e.Set, err = replica.New(t, o, replica.Protocol{Path: e.kind.path, Encode: e.encode})
	return e, err
}

func (e *Endpoint) encode(p *prompt.Prompt) ([]byte, error) {
	b := e.start.Begin(p)
	text := body.Plain(p)
	if e.kind.query != "" {
		b = append(body.AppendString(b, e.kind.query), ':')
		b = append(body.AppendString(b, text), ',')
	}
	b = append(body.AppendString(b, e.kind.texts), ':')
	texts := p.Texts
	if len(texts) == 0 {
		texts = []string{text} // a prompt without any is its own
	}
	if e.kind.alone && len(texts) == 1 {
		return append(body.AppendString(b, texts[0]), '}'), nil
	}
	return append(body.AppendStrings(b, texts), '}'), nil
}
