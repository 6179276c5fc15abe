package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// leased has an engine send before a moment and no more from there on.
func leased(b *bench, until time.Duration) {
	b.cfg.MaySend = func(now time.Duration) bool { return now < until }
	b.Engine = New(b.cfg)
}

// Nothing goes once it may not, whatever kind of load it is; the stage ends then, and says why.
func TestLease(t *testing.T) {
	const until = 1010 * time.Millisecond
	open := func(cap int) load.Profile {
		return load.Profile{Arrivals: &every{gap: 20 * ms}, InFlight: slots(cap), MaxSlots: cap, Duration: time.Minute, Drain: time.Minute,
			Grace: time.Minute}
	}
	closed := load.Profile{InFlight: slots(4), MaxSlots: 4, Duration: time.Minute, Drain: time.Minute, Grace: time.Minute}
	chat := func() prompt.Source {
		return &chats{most: 1000, turns: 3, think: 30 * ms, heard: make(chan string, 10000)}
	}
	others := func() prompt.Source { return newUsers(2) }
	sessions := func() prompt.Source { return &recording{diamond(), 1000} }
	for name, c := range map[string]struct {
		stage  load.Profile
		source func() prompt.Source // nil: requests that do not depend on one another
	}{
		"open loop":                 {open(0), nil},
		"open loop with a cap":      {open(3), nil},
		"closed loop":               {closed, nil},
		"conversations, open loop":  {open(0), chat},
		"conversations, closed":     {closed, chat},
		"turns of others, open":     {open(0), others},
		"turns of others, closed":   {closed, others},
		"whole sessions, open loop": {open(0), sessions},
		"whole sessions, closed":    {closed, sessions},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(100*time.Millisecond, -1)
				if c.source != nil {
					b.cfg.Source, b.cfg.Decoder = c.source(), endpoint.Decoder{Decode: parrot}
				}
				leased(b, until)
				mark := b.run(t, c.stage)
				if mark.Reason != record.StopLease || !mark.Early() || mark.SendEnd < until || mark.SendEnd > until+200*ms {
					t.Errorf("ended by %q at %v", mark.Reason, mark.SendEnd)
				}
				if len(b.keeper.recs) < 10 || b.live.InFlight() != 0 || b.live.Sent() != int64(len(b.keeper.recs)) {
					t.Errorf("%d records, %d sent, %d in flight", len(b.keeper.recs), b.live.Sent(), b.live.InFlight())
				}
				arrived := int64(0)
				for _, r := range b.keeper.recs {
					if r.Sent >= until || r.Failure != nil {
						t.Errorf("request %d went at %v: %+v", r.Seq, r.Sent, r.Failure)
					}
					if r.Turn == 0 || r.Session == "u0" || r.Session == "u1" {
						arrived++
					}
				}
				if c.stage.Arrivals != nil && mark.Scheduled != arrived+mark.Unsent {
					t.Errorf("%d arrivals, of which %d went and %d did not", mark.Scheduled, arrived, mark.Unsent)
				}
			})
		})
	}
}

// Who may send again later does not go on with a stage that has ended.
func TestLeaseIsNotTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, -1)
		asked := 0
		b.cfg.MaySend = func(time.Duration) bool { asked++; return asked != 3 }
		b.Engine = New(b.cfg)
		mark := b.run(t, load.Profile{InFlight: slots(1), MaxSlots: 1, Duration: time.Minute, Drain: time.Minute})
		if mark.Reason != record.StopLease || len(b.keeper.recs) != 2 || asked != 3 {
			t.Errorf("ended by %q after %d requests", mark.Reason, len(b.keeper.recs))
		}
	})
}

// A request that failed does not go again, also where the stage was only waiting for it; what is known of
// its first attempt stands.
func TestLeaseEndsRetries(t *testing.T) {
	for name, s := range map[string]load.Profile{
		"while it drains": {InFlight: slots(1), MaxSlots: 1, Requests: 1, Drain: time.Hour, Grace: time.Second},
		"while it sends":  {InFlight: slots(1), MaxSlots: 1, Duration: time.Minute, Drain: time.Hour, Grace: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(0, 1)
				m := &moody{b.server.start, []attempt{{class: record.Reset, sent: true}, {status: 200, sent: true, read: true}}}
				b.cfg.Prepare, b.cfg.Retries, b.cfg.Backoff = m.Prepare, 3, 10*time.Second
				leased(b, 2*time.Second)
				mark := b.run(t, s)
				if mark.Reason != record.StopLease || len(b.keeper.recs) != 1 {
					t.Fatalf("%d records, %+v", len(b.keeper.recs), mark)
				}
				if r := b.keeper.recs[0]; r.Retries != 0 || r.Failure == nil || r.Failure.Class != record.Reset || r.Sent != 0 {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// The request that ends a sequence is one, too.
func TestLeaseLeavesSequencesOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, -1)
		s := &stateful{server: b.server, open: map[uint64]bool{}}
		b.cfg.Prepare, b.cfg.Source, b.cfg.Decoder = s.Prepare, &rows{}, endpoint.Decoder{Decode: parrot}
		leased(b, 250*time.Millisecond)
		mark := b.run(t, load.Profile{InFlight: slots(1), MaxSlots: 1, Duration: time.Minute, Drain: time.Minute, Grace: time.Minute})
		if mark.Reason != record.StopLease || s.seen != 3 || s.ending != 0 || len(b.keeper.recs) != 3 {
			t.Errorf("%d requests, %d of them ends, %d records, ended by %q", s.seen, s.ending, len(b.keeper.recs), mark.Reason)
		}
	})
}

// A load that grows ends where its next step may not go.
func TestLeaseEndsGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, -1)
		leased(b, 0)
		mark := b.run(t, load.Profile{InFlight: slots(2), MaxSlots: 4, Growth: load.Growth{Step: 1, Responses: 1}, Drain: time.Minute})
		if mark.Reason != record.StopLease || len(b.keeper.recs) != 0 || b.live.Sent() != 0 {
			t.Errorf("%d records, ended by %q", len(b.keeper.recs), mark.Reason)
		}
	})
}
