// Package sglang speaks SGLang's own endpoint, /generate: texts or token ids, and streams of
// which each event has all of the text so far.
package sglang

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// path is where servers have the endpoint.
const path = "/generate"

// Protocol is that of SGLang's own endpoint.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolHTTP, Open: replica.Opener(New), Models: replica.ModelsURL, Modelless: true, Preflights: true,
		Decoder: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			d := NewDecoder(tok, own)
			return endpoint.Decoder{Decode: d.Decode, Advance: d.Advance, Longest: decode.Longest}
		},
	}
}

// samplingNames are fields of sampling_params, which users give like those of other APIs, at the top.
var samplingNames = []string{"max_new_tokens", "min_new_tokens", "stop", "stop_token_ids", "stop_regex", "temperature", "top_p", "top_k", "min_p",
	"frequency_penalty", "presence_penalty", "repetition_penalty", "ignore_eos", "skip_special_tokens", "spaces_between_special_tokens",
	"no_stop_trim", "n", "json_schema", "regex", "ebnf", "structural_tag", "logit_bias", "sampling_seed", "custom_params"}

// Endpoint is a server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	start    body.Start
	sampling map[string]any // that all requests share
	minimum  bool           // a shortest output is asked for too
}

// New makes an Endpoint of a target.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	e := &Endpoint{sampling: map[string]any{}, minimum: o.Data.MinTokens}
	if o.Data.IgnoreEOS {
		e.sampling["ignore_eos"] = true
	}
	added := map[string]any{}
	for name, value := range t.Body {
		switch sampling, ok := value.(map[string]any); {
		case name == "sampling_params" && ok:
			maps.Copy(e.sampling, sampling)
		case slices.Contains(samplingNames, name):
			e.sampling[name] = value
		default:
			added[name] = value
		}
	}
	own := map[string]any{}
	if t.Streaming {
		own["stream"] = true
	}
	var err error
	if e.start, err = body.NewStart(own, added, "text", "input_ids"); err != nil {
		return nil, err
	}
	e.Set, err = replica.New(t, o, replica.Protocol{Path: path, Encode: e.encode, Streamed: t.Streaming})
	return e, err
}

func (e *Endpoint) encode(p *prompt.Prompt) ([]byte, error) {
	shared := *p
	shared.Model = "" // an adapter has a field of its own
	b := e.start.Begin(&shared)
	if p.Model != "" {
		b = append(body.AppendString(append(b, `"lora_path":`...), p.Model), ',')
	}
	if images := body.Media(p); len(images) > 0 {
		b = append(b, `"image_data":[`...)
		for i, part := range images {
			if part.Kind != prompt.Image {
				return nil, errors.New("SGLang's /generate supports text and images, not audio or video: use chat")
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = body.AppendURL(b, part)
		}
		b = append(b, ']', ',')
	}
	sampling := maps.Clone(e.sampling)
	if p.Output > 0 {
		setUnless(sampling, "max_new_tokens", p.Output)
		if e.minimum {
			setUnless(sampling, "min_new_tokens", p.Output)
		}
	}
	maps.DeleteFunc(sampling, func(_ string, value any) bool { return value == nil }) // a null takes one away
	if len(sampling) > 0 {
		own, err := json.Marshal(sampling)
		if err != nil {
			return nil, fmt.Errorf("the sampling parameters of the request cannot be written as JSON: %w", err)
		}
		b = append(append(append(b, `"sampling_params":`...), own...), ',')
	}
	if p.IDs != nil {
		return append(body.AppendIDs(append(b, `"input_ids":`...), p.IDs), '}'), nil
	}
	return append(body.AppendString(append(b, `"text":`...), body.Plain(p)), '}'), nil
}

// setUnless sets a field that is not given.
func setUnless(fields map[string]any, name string, value any) {
	if _, given := fields[name]; !given {
		fields[name] = value
	}
}
