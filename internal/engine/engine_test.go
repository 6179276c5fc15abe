package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// server answers each request after a fixed time.
type server struct {
	start   time.Time
	latency time.Duration
	refuse  error // from Prepare

	mu       sync.Mutex
	now, max int
}

func (s *server) Prepare(*prompt.Prompt) (endpoint.Call, error) {
	return call{s}, s.refuse
}

type call struct{ s *server }

func (c call) Do(ctx context.Context, rec *record.Exchange) {
	c.s.mu.Lock()
	c.s.now++
	c.s.max = max(c.s.max, c.s.now)
	c.s.mu.Unlock()
	rec.Sent = time.Since(c.s.start)
	t := time.NewTimer(c.s.latency)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		class := record.Cancelled
		if errors.Is(context.Cause(ctx), record.ErrCutOff) {
			class = record.CutOff
		}
		rec.Failure = &record.Failure{Class: class}
	}
	rec.End = time.Since(c.s.start)
	c.s.mu.Lock()
	c.s.now--
	c.s.mu.Unlock()
}

// source has so many prompts; negative: without end.
type source struct{ most int }

func (s *source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if s.most >= 0 && at.I >= uint64(s.most) {
		return prompt.Prompt{}, io.EOF
	}
	return prompt.Prompt{Text: "hello", Tokens: 1}, nil
}

// keeper keeps every record.
type keeper struct {
	mu   sync.Mutex
	recs []*record.Exchange
}

func (k *keeper) Blank(int) *record.Exchange { return new(record.Exchange) }

func (k *keeper) Begin(*record.Exchange) {}

func (k *keeper) Put(rec *record.Exchange) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.recs = append(k.recs, rec)
}

// bench is an engine with fakes around it.
type bench struct {
	*Engine
	server *server
	keeper *keeper
	live   *Counters
}

func newBench(latency time.Duration, prompts int) *bench {
	b := &bench{server: &server{start: time.Now(), latency: latency}, keeper: &keeper{}, live: NewLive(2)}
	b.Engine = New(Config{
		Now:        func() time.Duration { return time.Since(b.server.start) },
		Source:     &source{prompts},
		Prepare:    b.server.Prepare,
		Sink:       b.keeper,
		NewSleeper: load.NewTimerSleeper,
		Live:       b.live,
		Feeders:    2,
	})
	return b
}

func slots(n int) func(time.Duration) int { return func(time.Duration) int { return n } }

// every is an endless sequence of arrivals so far apart.
type every struct{ gap, next time.Duration }

func (e *every) Next() (time.Duration, bool) {
	due := e.next
	e.next += e.gap
	return due, true
}

func (b *bench) run(t *testing.T, s load.Profile) record.StageSummary {
	t.Helper()
	mark, err := b.Run(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	return mark
}

func phases(recs []*record.Exchange) (warm, measured int) {
	for _, r := range recs {
		if r.Phase == record.Warmup {
			warm++
		} else {
			measured++
		}
	}
	return warm, measured
}

func TestClosedLoopHoldsItsConcurrencyForItsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, -1)
		mark := b.run(t, load.Profile{InFlight: slots(8), MaxSlots: 8, Duration: 10 * time.Second, Drain: time.Second})
		if b.server.max != 8 {
			t.Errorf("%d in flight at most, want 8", b.server.max)
		}
		if n := len(b.keeper.recs); n != 800 {
			t.Errorf("%d requests in 10 s at 8 × 100 ms, want 800", n)
		}
		if mark.Reason != "duration" || mark.SendEnd-mark.Begin != 10*time.Second {
			t.Errorf("mark %+v", mark)
		}
	})
}

func TestClosedLoopDueIsWhenTheSlotBecameFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, -1)
		b.run(t, load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: 3, Drain: time.Second})
		for i, r := range b.keeper.recs {
			if want := time.Duration(i) * 100 * time.Millisecond; r.Due != want || r.Sent != want {
				t.Errorf("request %d: due %v, sent %v, want %v", i, r.Due, r.Sent, want)
			}
		}
	})
}

func TestWarmupHandsItsSlotsOver(t *testing.T) {
	tests := []struct {
		name           string
		stage          load.Profile
		warm, measured int
		begin          time.Duration // of the measured part
	}{
		{"by count", load.Profile{WarmupRequests: 10, Requests: 20}, 10, 20, 200 * time.Millisecond},
		{"by time", load.Profile{WarmupFor: time.Second, Requests: 20}, 40, 20, time.Second},
		{"by time and count", load.Profile{WarmupFor: time.Second, WarmupRequests: 50, Requests: 20}, 50, 20, 1200 * time.Millisecond},
		{"count, then a duration", load.Profile{WarmupRequests: 8, Duration: time.Second}, 8, 40, 200 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(100*time.Millisecond, -1)
				s := tt.stage
				s.InFlight, s.MaxSlots, s.Drain = slots(4), 4, time.Second
				mark := b.run(t, s)
				if warm, measured := phases(b.keeper.recs); warm != tt.warm || measured != tt.measured {
					t.Errorf("%d warm-up and %d measured requests, want %d and %d", warm, measured, tt.warm, tt.measured)
				}
				if mark.WarmupEnd != tt.begin {
					t.Errorf("measured from %v, want %v", mark.WarmupEnd, tt.begin)
				}
				var idle time.Duration // longest time without a send
				var last time.Duration
				for _, r := range b.keeper.recs {
					idle = max(idle, r.Sent-last)
					last = r.Sent
				}
				if idle > 100*time.Millisecond {
					t.Errorf("nothing was sent for %v: the warm-up drained", idle)
				}
			})
		})
	}
}

func TestDrainCutsOffWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Hour, -1)
		mark := b.run(t, load.Profile{InFlight: slots(3), MaxSlots: 3, Duration: time.Second, Drain: 5 * time.Second})
		if len(b.keeper.recs) != 3 {
			t.Fatalf("%d records, want 3", len(b.keeper.recs))
		}
		for _, r := range b.keeper.recs {
			if r.Failure == nil || r.Failure.Class != record.CutOff {
				t.Errorf("failure %+v, want cut off", r.Failure)
			}
		}
		if mark.DrainEnd-mark.SendEnd != 5*time.Second {
			t.Errorf("drained for %v, want 5 s", mark.DrainEnd-mark.SendEnd)
		}
	})
}

func TestStopSendsNoMoreAndDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(400*time.Millisecond, -1)
		stop := make(chan record.StopReason, 1)
		time.AfterFunc(time.Second, func() { stop <- "interrupted" })
		mark, err := b.Run(t.Context(),
			load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: time.Minute, Drain: time.Second, Grace: time.Second}, stop)
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		if mark.Reason != "interrupted" || mark.SendEnd != time.Second || mark.DrainEnd != 1200*time.Millisecond {
			t.Errorf("mark %+v", mark)
		}
		for _, r := range b.keeper.recs {
			if r.Failure != nil {
				t.Errorf("a request that ended within the drain failed: %+v", r.Failure)
			}
		}
	})
}

func TestAbortCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Hour, -1)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		mark, err := b.Run(ctx, load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: time.Minute, Drain: time.Minute}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if mark.DrainEnd != time.Second {
			t.Errorf("ended at %v, want 1 s", mark.DrainEnd)
		}
		for _, r := range b.keeper.recs {
			if r.Failure == nil || r.Failure.Class != record.Cancelled {
				t.Errorf("failure %+v, want cancelled", r.Failure)
			}
		}
	})
}

func TestOpenLoopKeepsItsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(995*time.Millisecond, -1)
		mark := b.run(t, load.Profile{
			Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0), Duration: 5 * time.Second, Drain: 2 * time.Second,
		})
		if mark.Scheduled != 500 || len(b.keeper.recs) != 500 || mark.Waited != 0 || mark.Unsent != 0 {
			t.Errorf("%d records, mark %+v", len(b.keeper.recs), mark)
		}
		if mark.SendEnd-mark.Begin != 5*time.Second {
			t.Errorf("was sending for %v, want 5 s", mark.SendEnd-mark.Begin)
		}
		for _, r := range b.keeper.recs {
			if r.Sent != r.Due || r.Held != 0 {
				t.Fatalf("request %d: due %v, sent %v, held %v", r.Seq, r.Due, r.Sent, r.Held)
			}
		}
		if b.server.max != 100 {
			t.Errorf("%d in flight at most, want 100", b.server.max)
		}
	})
}

func TestCapMakesArrivalsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Ten a second, each of a second, at most four: a backlog builds up.
		b := newBench(time.Second, -1)
		mark := b.run(t, load.Profile{
			Arrivals: &every{gap: 100 * time.Millisecond}, InFlight: slots(4), MaxSlots: 4, Duration: 10 * time.Second, Drain: 2 * time.Second,
		})
		if b.server.max != 4 {
			t.Errorf("%d in flight at most, want 4", b.server.max)
		}
		if mark.Scheduled != 100 || int64(len(b.keeper.recs))+mark.Unsent != 100 {
			t.Errorf("%d scheduled, %d sent, %d unsent: want 100 in all", mark.Scheduled, len(b.keeper.recs), mark.Unsent)
		}
		var waited int64
		for _, r := range b.keeper.recs {
			if r.Held > 0 {
				waited++
			}
			if r.Sent-r.Due != r.Held {
				t.Errorf("request %d: sent %v after due, held %v", r.Seq, r.Sent-r.Due, r.Held)
			}
		}
		if waited == 0 || mark.Waited < waited {
			t.Errorf("%d waited by the mark, %d by the records", mark.Waited, waited)
		}
	})
}

// A stage that time ends before its number is reached has missed what is left of the number, and no more.
func TestMissedArrivalsAreThoseThatWereWanted(t *testing.T) {
	for name, stage := range map[string]load.Profile{"requests": {Requests: 30}, "sessions": {Sessions: 30}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(time.Second, -1)
			stage.Arrivals, stage.InFlight, stage.MaxSlots = &every{gap: 10 * time.Millisecond}, slots(4), 4
			stage.Duration, stage.Drain = 3500*time.Millisecond, 2*time.Second
			mark := b.run(t, stage)
			if mark.Reason != "duration" || mark.Scheduled != 30 || int64(len(b.keeper.recs))+mark.Unsent != 30 || mark.Unsent == 0 {
				t.Errorf("%s: %d records, mark %+v", name, len(b.keeper.recs), mark)
			}
		})
	}
}

func TestRequestsEndAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Millisecond, -1)
		mark := b.run(t, load.Profile{Arrivals: &every{gap: time.Millisecond}, InFlight: slots(0), Requests: 50, Drain: time.Second})
		if len(b.keeper.recs) != 50 || mark.Reason != "requests" || mark.Unsent != 0 || mark.Scheduled != 50 {
			t.Errorf("%d records, mark %+v", len(b.keeper.recs), mark)
		}
	})
}

// Where the prompts end, arrivals that fell due meanwhile were never to be sent.
func TestEndOfDataLeavesNothingUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Second, 5)
		mark := b.run(t, load.Profile{Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(1), MaxSlots: 1, Drain: 2 * time.Second})
		if len(b.keeper.recs) != 5 || mark.Reason != record.StopData || mark.Unsent != 0 || mark.Scheduled != 5 {
			t.Errorf("%d records, mark %+v", len(b.keeper.recs), mark)
		}
	})
}

// The last request that is wanted ends sending, though all slots are still busy: the
// drain time begins with it.
func TestLastRequestEndsSending(t *testing.T) {
	for name, stage := range map[string]load.Profile{
		"closed": {InFlight: slots(3), MaxSlots: 3},
		"open":   {Arrivals: &every{gap: 0}},
		"capped": {Arrivals: &every{gap: 0}, MaxSlots: 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(time.Hour, -1)
			stage.Requests, stage.Drain = 3, time.Second
			mark := b.run(t, stage)
			if mark.Reason != "requests" || mark.SendEnd != mark.Begin || mark.DrainEnd-mark.SendEnd != time.Second {
				t.Errorf("%s: mark %+v", name, mark)
			}
			if len(b.keeper.recs) != 3 || mark.Unsent != 0 {
				t.Errorf("%s: %d requests, %d unsent", name, len(b.keeper.recs), mark.Unsent)
			}
		})
	}
}

func TestRampOpensSlotsOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(10*time.Millisecond, -1)
		b.run(t, load.Profile{InFlight: load.InFlight(1, 11, 10*time.Second), MaxSlots: 11, Duration: 10 * time.Second, Drain: time.Second})
		var late int // requests of the last slot before it had room
		var used = map[int]bool{}
		for _, r := range b.keeper.recs {
			used[r.Slot] = true
			if r.Slot == 10 && r.Sent < 9500*time.Millisecond {
				late++
			}
		}
		if late > 0 || len(used) != 11 {
			t.Errorf("%d requests of slot 10 came too early; %d slots used, want 11", late, len(used))
		}
	})
}

func TestRampBeginsWhereTheWarmupByCountEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, -1)
		mark := b.run(t, load.Profile{
			InFlight: load.InFlight(1, 3, 10*time.Second), MaxSlots: 3,
			WarmupRequests: 20, Duration: 10 * time.Second, Drain: time.Second,
		})
		first := map[int]time.Duration{}
		for _, r := range b.keeper.recs {
			if at, ok := first[r.Slot]; !ok || r.Sent < at {
				first[r.Slot] = r.Sent
			}
		}
		// One in flight for 20 × 100 ms; the second slot opens a quarter into the ramp.
		if mark.WarmupEnd != 2*time.Second || first[1] != 4500*time.Millisecond || first[2] != 9500*time.Millisecond {
			t.Errorf("measured from %v, slots opened at %v", mark.WarmupEnd, first)
		}
	})
}

func TestSourceEndsTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Millisecond, 7)
		mark := b.run(t, load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: time.Minute, Drain: time.Second})
		if mark.Reason != "data" || len(b.keeper.recs) != 7 {
			t.Errorf("reason %q, %d records", mark.Reason, len(b.keeper.recs))
		}
	})
}

func TestPromptsOfOneStageAreNotLostToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Millisecond, -1)
		for i := range 2 {
			s := load.Profile{Index: i, InFlight: slots(3), MaxSlots: 3, Requests: 20, Drain: time.Second}
			if _, err := b.Run(t.Context(), s, nil); err != nil {
				t.Fatal(err)
			}
		}
		b.Close()
		var seqs []int64
		for _, r := range b.keeper.recs {
			seqs = append(seqs, r.Seq)
		}
		slices.Sort(seqs)
		if len(seqs) != 40 || len(slices.Compact(seqs)) != 40 {
			t.Fatalf("%d records with %d different numbers, want 40", len(b.keeper.recs), len(slices.Compact(seqs)))
		}
	})
}

func TestPrepareErrorEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Millisecond, -1)
		b.server.refuse = errors.New("no such model")
		_, err := b.Run(t.Context(), load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: time.Second, Drain: time.Second}, nil)
		if err == nil || !errors.Is(err, b.server.refuse) {
			t.Errorf("error %v, want the one of Prepare", err)
		}
	})
}
