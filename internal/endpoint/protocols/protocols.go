// Package protocols is the table of the protocols that are built in.
package protocols

import (
	"inferometer/internal/endpoint"
	"inferometer/internal/endpoint/anthropic"
	"inferometer/internal/endpoint/jsonhttp"
	"inferometer/internal/endpoint/openai"
	"inferometer/internal/endpoint/predict"
	"inferometer/internal/endpoint/triton"
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
