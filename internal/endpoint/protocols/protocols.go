// Package protocols is the table of the protocols that are built in.
package protocols

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/anthropic"
	"github.com/inferometer/inferometer/internal/endpoint/jsonhttp"
	"github.com/inferometer/inferometer/internal/endpoint/openai"
	"github.com/inferometer/inferometer/internal/endpoint/predict"
	"github.com/inferometer/inferometer/internal/endpoint/triton"
)

// All are the protocols that are built in, by the names that a plan has for them.
func All() map[string]endpoint.Protocol {
	all := map[string]endpoint.Protocol{}
	for _, p := range []endpoint.Protocol{
		openai.Protocol(),
		anthropic.Protocol(),
		jsonhttp.Protocol(),
		predict.TensorFlowServing(),
		predict.TorchServe(),
		triton.Protocol(),
	} {
		all[p.Name] = p
	}
	return all
}
