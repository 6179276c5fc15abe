// Package protocols is the table of the protocols that are built in.
package protocols

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/anthropic"
	"github.com/inferometer/inferometer/internal/endpoint/jsonhttp"
	"github.com/inferometer/inferometer/internal/endpoint/listed"
	"github.com/inferometer/inferometer/internal/endpoint/openai"
	"github.com/inferometer/inferometer/internal/endpoint/predict"
	"github.com/inferometer/inferometer/internal/endpoint/responses"
	"github.com/inferometer/inferometer/internal/endpoint/sglang"
	"github.com/inferometer/inferometer/internal/endpoint/triton"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// All are the protocols that are built in, by the names that a plan has for them.
func All() map[string]endpoint.Protocol {
	all := map[string]endpoint.Protocol{}
	for _, p := range []endpoint.Protocol{
		extended(openai.Protocol(), map[string]endpoint.Protocol{
			plan.EndpointResponses: responses.Protocol(), plan.EndpointScore: listed.Protocol(), plan.EndpointClassify: listed.Protocol(),
			plan.EndpointPooling: listed.Protocol(), plan.EndpointImages: listed.Protocol(),
		}),
		anthropic.Protocol(),
		extended(jsonhttp.Protocol(), map[string]endpoint.Protocol{
			plan.EndpointSGLang: sglang.Protocol(), plan.EndpointCohereRerank: listed.Protocol(), plan.EndpointJinaRerank: listed.Protocol(),
		}),
		predict.TensorFlowServing(),
		predict.TorchServe(),
		triton.Protocol(),
	} {
		all[p.Name] = p
	}
	return all
}

// extended is a protocol some of whose endpoints, by their names in a plan, are asked and read by others.
func extended(p endpoint.Protocol, others map[string]endpoint.Protocol) endpoint.Protocol {
	open, decoder := p.Open, p.Decoder
	p.Open = func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
		if other, ok := others[t.Endpoint]; ok {
			return other.Open(t, o)
		}
		return open(t, o)
	}
	p.Decoder = func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
		if other, ok := others[t.Endpoint]; ok {
			return other.Decoder(t, tok, own)
		}
		return decoder(t, tok, own)
	}
	return p
}
