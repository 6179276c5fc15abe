package cluster

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// underWay is a coordinator of two workers, the first of which sends a stage.
func underWay() *Coordinator {
	c := newCoordinator(Options{Bus: bus.NewLink(nil).Bus("test"), Workers: 2, Version: "1", Log: io.Discard})
	c.plan, c.intake = &plan.Plan{}, &executor.WorkerRecords{Now: func() time.Duration { return time.Second }}
	for _, key := range []string{"a", "b"} {
		_, _ = c.join(joinRequest{Key: key, Name: key, Version: "1"})
	}
	c.orders = 1
	c.stage = &sharedStage{order: 1, members: c.members, live: engine.NewLive(1), ended: map[*member]ended{}, last: map[*member]status{}}
	return c
}

// hears gives a message to a function as the network would, if it can be read at all.
func hears[Q, A any](data []byte, f func(Q) (A, error)) {
	var q Q
	if json.Unmarshal(data, &q) == nil {
		_, _ = f(q)
	}
}

// FuzzMessagesToTheCoordinator: whatever comes over the network, no coordinator panics, and no figure of its own is out of bounds.
func FuzzMessagesToTheCoordinator(f *testing.F) {
	for _, seed := range []string{
		`{"key":"a","name":"n","version":"1"}`, `{"key":"c","name":"n","version":"1"}`, `{"key":"a","fault":"x"}`, `{"key":"a","clock":{"bound":-5,"jumped":true}}`,
		`{"key":"a","order":1,"mark":{"stage":1000000000,"begin":-9223372036854775808,"send_end":9223372036854775807,"gone":[{"worker":99}]},"frames":18446744073709551615,"next":9223372036854775807}`,
		`{"key":"a","order":1,"sent":-1,"in_flight":-9,"at":9223372036854775807,"from":-1,"to":-1}`, `{"key":"b","order":99,"at":-1}`, `{"key":"a","at":-7,"cut":true}`, `{"key":"zzz"}`, `{}`,
	} {
		for kind := range byte(8) {
			f.Add(kind, []byte(seed))
		}
	}
	mutate.Fuzz(f, func(t *testing.T, kind byte, data []byte) {
		c := underWay()
		defer c.end()
		switch kind % 8 {
		case 0:
			hears(data, c.join)
		case 1:
			hears(data, c.renew)
		case 2:
			hears(data, c.ready)
		case 3:
			hears(data, c.mark)
		case 4:
			hears(data, func(s status) (none, error) { s.Fault = ""; c.status(s); return none{}, nil })
		case 5:
			hears(data, c.leave)
		case 6:
			hears(data, c.bye)
		case 7:
			hears(data, c.assign)
		}
		if len(c.members) != 2 {
			t.Errorf("%d members of two", len(c.members))
		}
		c.state.Update(func() {
			for _, m := range c.members {
				if m.gone < 0 || m.gone > time.Second || m.clock.Bound < 0 || m.clock.Bound > time.Hour {
					t.Errorf("member %s is gone at %v, its clock right within %v", m.name, m.gone, m.clock.Bound)
				}
			}
			c.stage.abandoned = true
		})
		mark, _ := c.joined(c.stage, 0)
		for _, at := range []time.Duration{mark.Begin, mark.WarmupEnd, mark.SendEnd, mark.DrainEnd} {
			if at < 0 || at > time.Second+leaseFor {
				t.Errorf("the stage is marked %+v", mark)
			}
		}
		for _, g := range mark.Gone {
			if g.Worker < 1 || g.Worker > 2 {
				t.Errorf("worker %d is gone", g.Worker)
			}
		}
	})
}

// FuzzMessagesToAWorker: whatever comes over the network, no worker panics.
func FuzzMessagesToAWorker(f *testing.F) {
	for _, seed := range []string{
		`{"order":1,"at":-9223372036854775808}`, `{"order":18446744073709551615,"reason":"interrupted","abort":true}`, `{"order":1,"reason":"over"}`,
		`{"number":0}`, `{"number":1}`, `{"reason":"x","unread":true}`, `{"run":"x","version":"1","workers":-1,"missing":9223372036854775807}`, `{}`,
	} {
		for kind := range byte(5) {
			f.Add(kind, []byte(seed))
		}
	}
	mutate.Fuzz(f, func(t *testing.T, kind byte, data []byte) {
		w := &worker{opt: WorkerOptions{Log: io.Discard}, ended: make(chan struct{}), last: 1}
		w.life, w.die = context.WithCancel(t.Context())
		defer w.die()
		w.task = &task{order: 1, going: make(chan begin, 1), halted: make(chan record.StopReason, 1)}
		w.task.ctx, w.task.abort = context.WithCancel(w.life)
		switch kind % 5 {
		case 0:
			hears(data, w.begin)
		case 1:
			hears(data, w.halt)
		case 2:
			w.left = true // what it sends is the engine's matter
			hears(data, w.order)
		case 3:
			hears(data, w.end)
		case 4:
			heard := make(chan announcement, 1)
			hears(data, func(a announcement) (none, error) { heard <- a; return none{}, nil })
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if id, err := (&search{version: "1", log: io.Discard}).listen(ctx, heard); id == "" && err == nil {
				t.Error("neither a run nor an error")
			}
		}
	})
}
