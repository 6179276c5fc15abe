package triton

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/probe/triton"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Protocol is Triton's.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolTriton, Settle: Discover, Describes: true, Probe: newProbe, Recognize: recognize,
		Open: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
			e, err := New(t, o)
			if err != nil {
				return endpoint.Endpoint{}, err
			}
			return endpoint.Endpoint{
				Prepare: e.Prepare, Close: e.Close, Warm: e.Warm, KernelStamps: e.stamps, Tensors: e.Tensors(),
				About: &endpoint.ServerInfo{Decoupled: e.model.Streams(), Sequences: e.sequences(), Words: e.Words, Statistics: e.Statistics},
			}, nil
		},
		Decoder: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			return endpoint.Decoder{Decode: NewDecoder(t, tok, own).Decode}
		},
	}
}

// newProbe makes what asks one of the servers about itself. The metrics page of a plan is
// that of the first.
func newProbe(p *plan.Plan, i int, o endpoint.Options) (probe.Prober, error) {
	opt := triton.Options{Clock: o.Clock, TLS: o.TLS, Key: o.Key, Getenv: o.Getenv, Statistics: p.TakesStatistics()}
	if i == 0 {
		opt.Metrics = p.Probes.Metrics
	}
	return triton.New(p.Target, p.Target.URLs[i], opt)
}
