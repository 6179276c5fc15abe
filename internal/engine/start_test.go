package engine

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

// dues are the moments at which requests were due, by their numbers.
func dues(recs []*record.Exchange) []time.Duration {
	slices.SortFunc(recs, func(a, b *record.Exchange) int { return int(a.Seq - b.Seq) })
	var list []time.Duration
	for _, r := range recs {
		list = append(list, r.Due)
	}
	return list
}

// A stage begins at the moment that was agreed on, whether its engine is called before it or after.
func TestStart(t *testing.T) {
	const start, gap = 2 * time.Second, 100 * time.Millisecond
	for name, s := range map[string]load.Profile{
		"open loop":   {Arrivals: &every{gap: gap}, InFlight: slots(0), Duration: time.Second, WarmupFor: 500 * ms},
		"closed loop": {InFlight: slots(1), MaxSlots: 1, Duration: time.Second, WarmupFor: 500 * ms},
	} {
		for _, called := range []time.Duration{0, start, start + 400*ms} {
			t.Run(name+" called at "+called.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(gap, -1)
					time.Sleep(called)
					s := s
					s.Start, s.Drain = start, time.Second
					if s.Arrivals != nil {
						s.Arrivals = &every{gap: gap}
					}
					mark := b.run(t, s)
					if mark.Begin != start || mark.WarmupEnd != start+500*ms || mark.SendEnd != start+1500*ms {
						t.Errorf("began at %v, measured from %v to %v", mark.Begin, mark.WarmupEnd, mark.SendEnd)
					}
					if want := max(0, called-start); mark.StartDelay != want {
						t.Errorf("it was ready %v after its start, want %v", mark.StartDelay, want)
					}
					got := dues(b.keeper.recs)
					if got[0] != start || s.Arrivals != nil && len(got) != 15 {
						t.Errorf("%d requests, due at %v", len(got), got)
					}
					for i, r := range b.keeper.recs {
						if s.Arrivals != nil && r.Due != start+time.Duration(i)*gap {
							t.Errorf("request %d is due at %v", i, r.Due)
						}
						if want := max(r.Due, called); r.Sent != want || r.Ready != want {
							t.Errorf("request %d, due at %v, was ready at %v and sent at %v; want %v", i, r.Due, r.Ready, r.Sent, want)
						}
					}
				})
			})
		}
	}
}

// Shares of a stage whose engines are called 400 ms apart have the moments, and the order, that
// they have in one process.
func TestSharesStartTogether(t *testing.T) {
	stage := func() load.Profile {
		return load.Profile{
			Start: time.Second, Arrivals: load.Poisson(load.ConstantRate(50), 7), InFlight: slots(0), Requests: 40, WarmupRequests: 5,
			Drain: time.Second,
		}
	}
	synctest.Test(t, func(t *testing.T) {
		one := newBench(10*time.Millisecond, -1)
		one.run(t, stage())
		want := dues(one.keeper.recs)

		began := time.Now()
		var all []*record.Exchange
		var mu sync.Mutex
		var both sync.WaitGroup
		for i, called := range []time.Duration{time.Second, 1400 * time.Millisecond} {
			both.Go(func() {
				b := newBench(10*time.Millisecond, -1)
				b.server.start = began
				time.Sleep(called)
				mark := b.run(t, stage().Part(load.Shard{Index: i, Of: 2}))
				mu.Lock()
				defer mu.Unlock()
				if mark.Begin != time.Second {
					t.Errorf("share %d began at %v", i, mark.Begin)
				}
				all = append(all, b.keeper.recs...)
			})
		}
		both.Wait()
		if got := dues(all); !slices.Equal(got, want) {
			t.Errorf("shares are due at\n%v, one process is at\n%v", got, want)
		}
	})
}

// The first step of a growing load is due at the start.
func TestGrowthStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(10*time.Millisecond, -1)
		time.Sleep(2 * time.Second)
		mark := b.run(t, load.Profile{Start: time.Second, InFlight: slots(2), MaxSlots: 2, Growth: load.Growth{Step: 1, Responses: 1},
			Drain: time.Second})
		if got := dues(b.keeper.recs); mark.Begin != time.Second || !slices.Equal(got, []time.Duration{time.Second, time.Second}) {
			t.Errorf("began at %v, due at %v", mark.Begin, got)
		}
	})
}

// A stage that is halted ahead of its start has sent nothing, and is over then.
func TestHaltedBeforeStart(t *testing.T) {
	for name, s := range map[string]load.Profile{
		"open loop":   {Arrivals: &every{gap: time.Millisecond}, InFlight: slots(0), Duration: time.Second},
		"closed loop": {InFlight: slots(4), MaxSlots: 4, Duration: time.Second},
	} {
		for _, abort := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(time.Millisecond, -1)
					defer b.Close()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					stop := make(chan record.StopReason, 1)
					go func() {
						time.Sleep(time.Second)
						if abort {
							cancel()
						} else {
							stop <- record.StopErrors
						}
					}()
					want := record.StopErrors
					if abort {
						want = record.StopInterrupted
					}
					s.Start, s.Drain = time.Hour, time.Minute
					mark, err := b.Run(ctx, s, stop)
					if err != nil || mark.Reason != want || len(b.keeper.recs) > 0 || mark.Scheduled > 0 || mark.Unsent > 0 {
						t.Errorf("%v, %d requests, %+v", err, len(b.keeper.recs), mark)
					}
					if now := b.cfg.Now(); now != time.Second || mark.Begin != time.Hour || mark.SendEnd < mark.Begin || mark.DrainEnd < mark.SendEnd {
						t.Errorf("at %v: %+v", now, mark)
					}
				})
			})
		}
	}
}
