// Package jsonhttp speaks to servers that take JSON in forms of their own: rankings, image
// retrieval, Text Generation Inference, and others by a template for bodies.
package jsonhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// Protocol is that of such servers.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolHTTP, Open: replica.Opener(New), Models: replica.ModelsURL, Modelless: true, Preflights: true,
		Decoder: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			d := NewDecoder(t.Endpoint, tok, own)
			return endpoint.Decoder{Decode: d.Decode, Advance: d.Advance, Longest: decode.Longest}
		},
	}
}

// Endpoint is a server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	kind     string
	start    body.Start
	template *chat.Template
	model    string
	flagged  bool // the body says whether a response is a stream
	own      map[string]any
}

// path is where servers have an endpoint.
func path(kind string, streamed bool) string {
	switch kind {
	case plan.EndpointRankings:
		return "/v1/ranking"
	case plan.EndpointRerank:
		return "/rerank"
	case plan.EndpointRetrieval:
		return "/v1/infer"
	case plan.EndpointTGI:
		if streamed {
			return "/generate_stream"
		}
		return "/generate"
	}
	return "/"
}

// New makes an Endpoint of a target.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	e := &Endpoint{kind: t.Endpoint, model: t.Model}
	streamed := t.Streaming && t.Endpoint == plan.EndpointTGI
	e.flagged = t.Endpoint == plan.EndpointTGI && t.Path != "" && t.Path != "/generate" && t.Path != "/generate_stream"
	if err := e.prepare(t, streamed); err != nil {
		return nil, err
	}
	var err error
	e.Set, err = replica.New(t, o, replica.Protocol{Path: path(t.Endpoint, streamed), Encode: e.encode, Streamed: streamed})
	return e, err
}

func (e *Endpoint) prepare(t plan.Target, streamed bool) error {
	own := map[string]any{}
	var taken []string
	added := t.Body
	switch e.kind {
	case plan.EndpointRankings:
		if t.Model != "" {
			own["model"] = t.Model
		}
		taken = []string{"query", "passages"}
	case plan.EndpointRerank:
		taken = []string{"query", "texts"}
	case plan.EndpointRetrieval:
		taken = []string{"input"}
	case plan.EndpointTGI:
		if e.flagged {
			own["stream"] = streamed
		}
		taken = []string{"inputs"}
		added, e.own = splitParameters(t.Body)
	case plan.EndpointTemplate:
		return e.parseTemplate(t.Template)
	}
	var err error
	e.start, err = body.NewStart(own, added, taken...)
	return err
}

// splitParameters takes the parameters of Text Generation Inference out of a user's fields.
func splitParameters(fields map[string]any) (others, parameters map[string]any) {
	others, parameters = map[string]any{}, map[string]any{"details": true}
	for name, value := range fields {
		if p, ok := value.(map[string]any); ok && name == "parameters" {
			maps.Copy(parameters, p)
			continue
		}
		others[name] = value
	}
	return others, parameters
}

// embedQA is the built-in template.
const embedQA = `[{% for item in texts %}{"text": [{{ item|tojson }}]}{% if not loop.last %},{% endif %}{% endfor %}]`

func (e *Endpoint) parseTemplate(name string) error {
	source := embedQA
	if name != plan.TemplateEmbedQA {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading the template of request bodies: %w", err)
		}
		source = string(text)
	}
	var err error
	if e.template, err = chat.Parse(source); err != nil {
		return fmt.Errorf("the template of request bodies, %s: %w", name, err)
	}
	_, err = e.render(&prompt.Prompt{Text: "a test"})
	return err
}

func (e *Endpoint) encode(p *prompt.Prompt) ([]byte, error) {
	switch e.kind {
	case plan.EndpointRankings:
		b := append(e.start.Begin(p), `"query":{"text":`...)
		b = append(body.AppendString(b, body.Plain(p)), `},"passages":[`...)
		for i, text := range passages(p) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(body.AppendString(append(b, `{"text":`...), text), '}')
		}
		return append(b, ']', '}'), nil
	case plan.EndpointRerank:
		b := append(e.start.Begin(p), `"query":`...)
		b = append(body.AppendString(b, body.Plain(p)), `,"texts":`...)
		return append(body.AppendStrings(b, passages(p)), '}'), nil
	case plan.EndpointRetrieval:
		return e.pictures(p)
	case plan.EndpointTGI:
		return e.generate(p)
	default:
		return e.render(p)
	}
}

// passages are the texts that are ranked. A prompt without any is its own.
func passages(p *prompt.Prompt) []string {
	if len(p.Texts) == 0 {
		return []string{body.Plain(p)}
	}
	return p.Texts
}

func (e *Endpoint) pictures(p *prompt.Prompt) ([]byte, error) {
	b := append(e.start.Begin(p), `"input":[`...)
	images := 0
	for _, part := range body.Media(p) {
		if part.Kind != prompt.Image {
			continue
		}
		if images > 0 {
			b = append(b, ',')
		}
		images++
		b = append(b, `{"type":"image_url","url":`...)
		b = append(body.AppendURL(b, part), '}')
	}
	if images == 0 {
		return nil, message.Errorf("the prompt has no image%v", message.New(": set %v", message.Images).Or(""))
	}
	return append(b, ']', '}'), nil
}

// generate builds a body of Text Generation Inference. Images stand in its text.
func (e *Endpoint) generate(p *prompt.Prompt) ([]byte, error) {
	var text strings.Builder
	for _, part := range body.Media(p) {
		if part.Kind != prompt.Image {
			return nil, errors.New("Text Generation Inference supports text and images, not audio or video")
		}
		text.WriteString("![](" + body.URL(part) + ") ")
	}
	text.WriteString(body.Plain(p))
	parameters := map[string]any{}
	if p.Output > 0 {
		parameters["max_new_tokens"] = p.Output
	}
	for name, value := range e.own {
		if value == nil {
			delete(parameters, name)
		} else {
			parameters[name] = value
		}
	}
	b := append(e.start.Begin(p), `"inputs":`...)
	b = body.AppendString(b, text.String())
	if len(parameters) > 0 {
		own, err := json.Marshal(parameters)
		if err != nil {
			return nil, fmt.Errorf("the parameters of the request cannot be written as JSON: %w", err)
		}
		b = append(append(b, `,"parameters":`...), own...)
	}
	return append(b, '}'), nil
}

// render makes a body by the template: what it renders, or that list's only element.
func (e *Endpoint) render(p *prompt.Prompt) ([]byte, error) {
	text := body.Plain(p)
	texts := []any{}
	for _, t := range p.Texts {
		texts = append(texts, t)
	}
	if len(texts) == 0 {
		texts = append(texts, text)
	}
	images := []any{}
	for _, part := range body.Media(p) {
		images = append(images, body.URL(part))
	}
	model := p.Model
	if model == "" {
		model = e.model
	}
	out, err := e.template.Render(nil, chat.Options{Extra: map[string]any{
		"text": text, "texts": texts, "media": images, "model": model, "max_tokens": p.Output,
	}})
	if err != nil {
		return nil, fmt.Errorf("making a request body of the template: %w", err)
	}
	b := bytes.TrimSpace([]byte(out))
	if !json.Valid(b) {
		return nil, fmt.Errorf("the template of request bodies does not give JSON: %.200s", b)
	}
	if b[0] != '[' {
		return b, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, message.Errorf("the template of request bodies gives %d bodies for one request: let it give one%v", len(list), message.New(", or leave %v out", message.Batch).Or(""))
	}
	return list[0], nil
}
