package run

import (
	"context"

	"inferometer/internal/endpoint"
	"inferometer/internal/endpoint/triton"
	"inferometer/internal/plan"
	"inferometer/internal/prompt/tensor"
)

// Setup is what a run has found out about its target before the first request.
type Setup struct {
	Decoupled bool // a request may have any number of responses
	Sequences bool // the model keeps state over sequences of requests
	// Target is the plan's with what the server has said about it, and Tensors the model's
	// inputs and outputs; nil: it is no model of tensors.
	Target  plan.Target
	Tensors *tensor.Model
	// Words asks for all that the server says of itself and the model, Statistics for what
	// it has counted, each answer as it comes; nil: the target is no such server.
	Words      func(ctx context.Context) ([]string, error)
	Statistics func(ctx context.Context) (string, error)
}

// setupOf is what an endpoint has found out about a target.
func setupOf(of endpoint.Endpoint, t plan.Target) Setup {
	e, ok := of.(*triton.Endpoint)
	if !ok {
		return Setup{}
	}
	m := e.Model()
	return Setup{
		Decoupled: m.Streams(), Sequences: m.Sequence, Target: t, Tensors: e.Tensors(), Words: e.Words, Statistics: e.Statistics,
	}
}
