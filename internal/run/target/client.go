package target

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Client is what asks the servers and reads their responses.
type Client struct {
	Protocol endpoint.Protocol
	Endpoint endpoint.Endpoint
	Decoder  endpoint.Decoder
	Secrets  Secrets
}

// Setup is what a run has found out about its target before the first request; empty where
// its server says nothing of itself.
type Setup struct {
	endpoint.ServerInfo
	// Target is the plan's with what the server has said about it, and Tensors the model's
	// inputs and outputs.
	Target  plan.Target
	Tensors *tensor.Signature
}

// SetupOf is what an endpoint has found out about a target.
func SetupOf(e *endpoint.Endpoint, t plan.Target) Setup {
	if e.About == nil {
		return Setup{}
	}
	return Setup{ServerInfo: *e.About, Target: t, Tensors: e.Tensors}
}
