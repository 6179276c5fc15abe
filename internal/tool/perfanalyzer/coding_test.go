package perfanalyzer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// What gRPC calls marshal and unmarshal is the making of messages and the reading of them, whatever
// time the kernel takes to write them. Of a decoupled model nothing is told.
func TestCoding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := endpoint.Protocol{
			Open: func(plan.Target, endpoint.Options) (endpoint.Endpoint, error) {
				return endpoint.Endpoint{Prepare: func(*prompt.Prompt) (endpoint.Call, error) {
					time.Sleep(3 * time.Microsecond)
					return nil, nil
				}}, nil
			},
			Decoder: func(plan.Target, prompt.Tokenizer, bool) endpoint.Decoder {
				return endpoint.Decoder{Decode: func(*record.Exchange) { time.Sleep(5 * time.Microsecond) }}
			},
		}
		j := &job{action: &args.Action{GRPC: true, Load: args.LoadConcurrency}}
		p := j.coding.timed(map[string]endpoint.Protocol{plan.ProtocolTriton: slow})[plan.ProtocolTriton]
		e, err := p.Open(plan.Target{}, endpoint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		decode := p.Decoder(plan.Target{}, nil, false).Decode
		work := func() {
			for range 4 {
				if _, err := e.Prepare(&prompt.Prompt{}); err != nil {
					t.Fatal(err)
				}
				decode(nil)
			}
		}
		work()
		window := sweep.Window{Send: 90 * time.Microsecond, Receive: time.Microsecond, Request: time.Millisecond}
		if w := j.client(window); w.Send != 3*time.Microsecond || w.Receive != 5*time.Microsecond || w.Request != time.Millisecond {
			t.Errorf("marshal %v, unmarshal %v of %v", w.Send, w.Receive, w.Request)
		}
		j.coding.reset()
		if w := j.client(window); w.Send != 0 || w.Receive != 0 {
			t.Errorf("a level begins with marshal %v, unmarshal %v", w.Send, w.Receive)
		}
		j.action.GRPC = false
		if w := j.client(window); w.Send != window.Send || w.Receive != window.Receive {
			t.Errorf("HTTP: send %v, receive %v", w.Send, w.Receive)
		}
		work()
		j.action.GRPC, j.setup.Decoupled = true, true
		if w := j.client(window); w.Send != 0 || w.Receive != 0 || w.Request != 0 {
			t.Errorf("decoupled: marshal %v, unmarshal %v of %v", w.Send, w.Receive, w.Request)
		}
	})
}
