package run

import (
	"inferometer/internal/endpoint/triton"
)

// Setup is what a run has found out about its target before the first request.
type Setup struct {
	Decoupled bool // a request may have any number of responses
	Sequences bool // the model keeps state over sequences of requests
}

func (r *run) setup() Setup {
	e, ok := r.endpoint.(*triton.Endpoint)
	if !ok {
		return Setup{}
	}
	m := e.Model()
	return Setup{Decoupled: m.Streams(), Sequences: m.Sequence}
}
