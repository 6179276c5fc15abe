package perfanalyzer

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// coding is what this client takes to make requests and to read answers. gRPC has a name for both,
// and the time until a request is written is neither: it is the kernel's and the network's.
type coding struct{ marshal, unmarshal tally }

// tally adds up how long something takes. It may be used concurrently.
type tally struct{ n, ns atomic.Int64 }

func (t *tally) since(begin time.Time) {
	t.ns.Add(int64(time.Since(begin)))
	t.n.Add(1)
}

func (t *tally) average() time.Duration { return time.Duration(t.ns.Load() / max(t.n.Load(), 1)) }

func (c *coding) reset() {
	for _, t := range []*tally{&c.marshal, &c.unmarshal} {
		t.n.Store(0)
		t.ns.Store(0)
	}
}

func (c *coding) timed(all map[string]endpoint.Protocol) map[string]endpoint.Protocol {
	p, ok := all[plan.ProtocolTriton]
	if !ok {
		return all
	}
	open, decoder := p.Open, p.Decoder
	p.Open = func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
		e, err := open(t, o)
		if err != nil {
			return e, err
		}
		prepare := e.Prepare
		e.Prepare = func(p *prompt.Prompt) (endpoint.Call, error) {
			defer c.marshal.since(time.Now())
			return prepare(p)
		}
		return e, nil
	}
	p.Decoder = func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
		d := decoder(t, tok, own)
		decode := d.Decode
		d.Decode = func(x *record.Exchange) {
			defer c.unmarshal.since(time.Now())
			decode(x)
		}
		return d
	}
	all = maps.Clone(all)
	all[plan.ProtocolTriton] = p
	return all
}
