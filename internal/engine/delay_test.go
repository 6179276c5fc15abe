package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

// busy is a sink that takes its time with every record.
type busy struct {
	*keeper
	takes time.Duration
}

func (b busy) Put(rec *record.Exchange) {
	time.Sleep(b.takes)
	b.keeper.Put(rec)
}

// What the client needs for a response after its end delays the next request of the slot. That is the
// client's own delay: the next one is due as soon as the response has ended, and has not waited for a slot
// since then.
func TestWorkOnAnAnswerIsTheClientsOwnDelay(t *testing.T) {
	const latency, takes = 10 * time.Millisecond, 100 * time.Millisecond
	for name, s := range map[string]load.Profile{
		"closed loop": {InFlight: slots(1), MaxSlots: 1, Requests: 5, Drain: time.Second},
		"capped":      {Arrivals: &every{gap: latency + takes}, InFlight: slots(1), MaxSlots: 1, Requests: 5, Drain: time.Second},
		"crowded":     {Arrivals: &every{gap: latency / 2}, InFlight: slots(1), MaxSlots: 1, Requests: 5, Drain: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(latency, -1)
				b.cfg.Sink = busy{b.keeper, takes}
				b.Engine = New(b.cfg)
				b.run(t, s)
				free := time.Duration(0) // when the server had nothing to do any more
				for i, rec := range b.keeper.recs {
					if sent := time.Duration(i) * (latency + takes); rec.Sent != sent {
						t.Errorf("request %d was sent at %v, want %v", i, rec.Sent, sent)
					}
					if held := max(0, free-rec.Due); rec.Held != held {
						t.Errorf("request %d, due at %v, has waited for a slot for %v, want %v", i, rec.Due, rec.Held, held)
					}
					if s.Arrivals == nil && rec.Due != free {
						t.Errorf("request %d was due at %v, want %v, when the answer before had ended", i, rec.Due, free)
					}
					free = rec.Sent + latency
				}
			})
		})
	}
}
