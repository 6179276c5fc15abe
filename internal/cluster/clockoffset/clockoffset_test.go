package clockoffset

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pair is two clocks and the network between them. Time is our clock's, and passes when something travels.
type pair struct {
	now         time.Duration
	offset      func(time.Duration) time.Duration
	there, back func() time.Duration
	shortest    time.Duration // round trip
	err         error
}

func (p *pair) ask(context.Context) (time.Duration, error) {
	start := p.now
	p.now += p.there()
	theirs := p.now + p.offset(p.now)
	p.now += p.back()
	if trip := p.now - start; p.shortest == 0 || trip < p.shortest {
		p.shortest = trip
	}
	return theirs, p.err
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// wander is an offset that changes its mind every second on how fast it grows or shrinks, within the drift.
func wander(r *rand.Rand, start time.Duration, drift float64) func(time.Duration) time.Duration {
	nanos := []float64{float64(start)}
	return func(at time.Duration) time.Duration {
		second, rest := int(at/time.Second), at%time.Second
		for len(nanos) < second+2 {
			speed := drift * (2*r.Float64() - 1)
			if r.IntN(3) == 0 {
				speed = drift * float64(1-2*r.IntN(2)) // as fast as it may
			}
			nanos = append(nanos, nanos[len(nanos)-1]+speed*1e9)
		}
		a, b := nanos[second], nanos[second+1]
		return time.Duration(a + (b-a)*rest.Seconds())
	}
}

func TestTruthIsWithinTheBound(t *testing.T) {
	noisy := func(r *rand.Rand, base time.Duration) func() time.Duration {
		return func() time.Duration {
			d := base + time.Duration(r.ExpFloat64()*float64(base))
			if r.IntN(10) == 0 {
				d += time.Duration(r.ExpFloat64() * float64(20*time.Millisecond))
			}
			return d
		}
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 18))
		p := &pair{
			now:    time.Duration(r.Int64N(int64(time.Minute))),
			offset: wander(r, time.Duration(r.Int64N(int64(48*time.Hour)))-24*time.Hour, Drift),
			there:  noisy(r, time.Duration(1+r.Int64N(int64(time.Millisecond)))),
			back:   noisy(r, time.Duration(1+r.Int64N(int64(time.Millisecond)))),
		}
		e := New(func() time.Duration { return p.now }, Drift)
		begin := p.now
		for range 60 {
			p.shortest = 0
			if err := e.Measure(t.Context(), p.ask, 8); err != nil {
				t.Fatal(err)
			}
			// What is known now is no worse than the shortest trip of this round.
			now, err := e.Track().Estimate(p.now)
			if limit := p.shortest/2 + 200*time.Microsecond; err != nil || now.Bound > limit {
				t.Errorf("seed %d: bound %v after trips of %v and more; %v", seed, now.Bound, p.shortest, err)
			}
			p.now += time.Duration(r.Int64N(int64(3 * time.Second)))
		}
		track := e.Track()
		worst, err := boundOf(track, begin, p.now)
		if err != nil {
			t.Fatal(err)
		}
		for at := begin; at < p.now; at += time.Duration(r.Int64N(int64(100 * time.Millisecond))) {
			est, err := track.Estimate(at)
			if err != nil {
				t.Fatal(err)
			}
			if truth := p.offset(at); (est.Offset-truth).Abs() > est.Bound+1 || est.Bound > worst { // wander rounds by 1 ns
				t.Fatalf("seed %d at %v: offset %v ± %v (at worst %v), in truth %v", seed, at, est.Offset, est.Bound, worst, truth)
			}
		}
	}
}

// The whole trip may be on one side: then the truth is at the edge of the bound.
func TestOneSidedTrips(t *testing.T) {
	const ahead, slow = 7 * time.Second, 10 * time.Millisecond
	for name, c := range map[string]struct {
		there, back time.Duration
		want        Estimate
	}{
		"there":   {slow, 0, Estimate{ahead + slow/2, slow / 2}},
		"back":    {0, slow, Estimate{ahead - slow/2, slow / 2}},
		"both":    {slow, slow, Estimate{ahead, slow}},
		"neither": {0, 0, Estimate{ahead, 0}},
	} {
		p := &pair{offset: constant(ahead), there: always(c.there), back: always(c.back)}
		e := New(func() time.Duration { return p.now }, 0)
		if err := e.Measure(t.Context(), p.ask, 5); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Track().Estimate(p.now); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func TestBoundGrowsWithDistance(t *testing.T) {
	p := &pair{offset: constant(time.Second), there: always(time.Millisecond), back: always(time.Millisecond)}
	e := New(func() time.Duration { return p.now }, 100e-6)
	for range 2 {
		if err := e.Measure(t.Context(), p.ask, 1); err != nil {
			t.Fatal(err)
		}
		p.now += 10 * time.Second
	}
	track := e.Track()
	at := func(d time.Duration) time.Duration {
		got, err := track.Estimate(d)
		if err != nil {
			t.Fatal(err)
		}
		return got.Bound.Round(10 * time.Microsecond)
	}
	first, last := 2*time.Millisecond, 10*time.Second+4*time.Millisecond
	for _, c := range []struct {
		at, bound time.Duration
	}{
		{first, time.Millisecond},
		{first + 5*time.Second, 1500 * time.Microsecond}, // half-way between
		{last, time.Millisecond},
		{last + 30*time.Second, 4 * time.Millisecond},
		{first - 20*time.Second, 3 * time.Millisecond},
	} {
		if got := at(c.at); got != c.bound {
			t.Errorf("at %v the bound is %v, want %v", c.at, got, c.bound)
		}
	}
}

// While a trip lasts the clocks part, too: what was read at its beginning may be off by that at its end.
func TestClocksPartDuringATrip(t *testing.T) {
	p := &pair{offset: constant(time.Second), there: always(10 * time.Second), back: always(10 * time.Second)}
	e := New(func() time.Duration { return p.now }, 1e-3)
	if err := e.Measure(t.Context(), p.ask, 1); err != nil {
		t.Fatal(err)
	}
	want := Estimate{Offset: 1010 * time.Millisecond, Bound: 10010 * time.Millisecond}
	if got, err := e.Track().Estimate(p.now); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func constant(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

func TestStepIsSeen(t *testing.T) {
	p := &pair{there: always(time.Millisecond), back: always(time.Millisecond), offset: func(at time.Duration) time.Duration {
		if at > 5*time.Second {
			return 50 * time.Millisecond // it was suspended, or set
		}
		return 0
	}}
	e := New(func() time.Duration { return p.now }, Drift)
	for range 10 {
		if err := e.Measure(t.Context(), p.ask, 4); err != nil {
			t.Fatal(err)
		}
		p.now += time.Second
	}
	if got, err := e.Track().Estimate(p.now); !errors.Is(err, ErrStepped) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := boundOf(e.Track(), 0, p.now); !errors.Is(err, ErrStepped) {
		t.Error(err)
	}
}

// What the clock is off is never more than is said, whatever the clocks and the network do, and not much less.
func TestErrorHoldsDuringARun(t *testing.T) {
	const every = 2 * time.Second
	for name, c := range map[string]struct {
		offset      func(time.Duration) time.Duration
		there, back time.Duration
		stepped     bool
		most        time.Duration // that may be said
	}{
		"right":      {constant(0), 50 * time.Microsecond, 50 * time.Microsecond, false, 400 * time.Microsecond},
		"asymmetric": {constant(0), 10 * time.Millisecond, 0, false, 11 * time.Millisecond},
		"drifts": {func(at time.Duration) time.Duration { return time.Duration(150e-6 * float64(at)) },
			50 * time.Microsecond, 50 * time.Microsecond, false, 150e-6*60e9*time.Nanosecond + time.Millisecond},
		"drifts back": {func(at time.Duration) time.Duration { return time.Duration(-150e-6 * float64(at)) },
			0, 3 * time.Millisecond, false, 150e-6*60e9*time.Nanosecond + 4*time.Millisecond},
		"jumps": {func(at time.Duration) time.Duration {
			if at > 31*time.Second {
				return -40 * time.Millisecond
			}
			return 0
		}, time.Millisecond, time.Millisecond, true, 43 * time.Millisecond},
		"jumps and comes back": {func(at time.Duration) time.Duration {
			if at > 31*time.Second && at < 37*time.Second {
				return 40 * time.Millisecond
			}
			return 0
		}, time.Millisecond, 0, true, 43 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			now := func() time.Duration { return time.Since(start) }
			e := New(now, Drift)
			ask := func(context.Context) (time.Duration, error) {
				time.Sleep(c.there)
				theirs := now() + c.offset(now())
				time.Sleep(c.back)
				return theirs, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			var watch sync.WaitGroup
			watch.Go(func() { e.Watch(ctx, ask, 3, every, func(err error) { t.Error(err) }) })
			for range 600 {
				time.Sleep(100 * time.Millisecond)
				if off, said := c.offset(now()).Abs(), e.Track().Error(now()); !c.stepped && off > said {
					t.Errorf("%s: off by %v at %v, and %v is said", name, off, now(), said)
					break
				}
			}
			cancel()
			watch.Wait()
			track := e.Track()
			said, worst := track.Error(now()), time.Duration(0)
			for at := time.Duration(0); at < now(); at += 10 * time.Millisecond {
				worst = max(worst, c.offset(at).Abs())
			}
			if said < worst || said > c.most || track.Stepped() != c.stepped {
				t.Errorf("%s: off by up to %v; %v is said, of which %v would be enough; stepped: %v", name, worst, said, c.most, track.Stepped())
			}
		})
	}
}

func TestFailures(t *testing.T) {
	lost := errors.New("cut off")
	p := &pair{there: always(time.Millisecond), back: always(time.Millisecond), offset: constant(time.Hour)}
	e := New(func() time.Duration { return p.now }, Drift)
	if _, err := e.Track().Estimate(0); err == nil {
		t.Error("an estimate of nothing")
	}
	p.err = lost
	if err := e.Measure(t.Context(), p.ask, 3); !errors.Is(err, lost) {
		t.Errorf("all failed: %v", err)
	}
	p.err = nil
	n := 0
	sometimes := func(ctx context.Context) (time.Duration, error) {
		if n++; n%2 == 0 {
			return -time.Hour, lost
		}
		return p.ask(ctx)
	}
	if err := e.Measure(t.Context(), sometimes, 4); err != nil {
		t.Error(err)
	}
	if got, err := e.Track().Estimate(p.now); err != nil || (got.Offset-time.Hour).Abs() > got.Bound {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		now := func() time.Duration { return time.Since(start) }
		e := New(now, Drift)
		var down atomic.Bool
		ask := func(context.Context) (time.Duration, error) {
			time.Sleep(time.Millisecond)
			if down.Load() {
				return 0, errors.New("cut off")
			}
			return now() - 3*time.Second, nil
		}
		var failures atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		go e.Watch(ctx, ask, 4, time.Second, func(error) { failures.Add(1) })
		time.Sleep(10*time.Second + 500*time.Millisecond)
		down.Store(true)
		time.Sleep(5 * time.Second)
		cancel()
		synctest.Wait()
		track := e.Track()
		if len(track.known) != 11 || failures.Load() != 5 {
			t.Errorf("%d measurements and %d failures", len(track.known), failures.Load())
		}
		if got, err := track.Estimate(5 * time.Second); err != nil || (got.Offset+3*time.Second).Abs() > got.Bound ||
			got.Bound > time.Millisecond {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// boundOf is what no bound of an estimate exceeds between two moments of our clock.
func boundOf(t Track, from, to time.Duration) (time.Duration, error) {
	moments := []time.Duration{from}
	for _, k := range t.known {
		if from < k.at && k.at < to {
			moments = append(moments, k.at)
		}
	}
	var worst, before time.Duration
	for i, m := range append(moments, to) {
		e, err := t.Estimate(m)
		if err != nil {
			return 0, err
		}
		if i > 0 { // between two moments a bound grows from either, until the two meet
			worst = max(worst, (before+e.Bound+parted(m-moments[i-1], t.drift))/2+1)
		}
		worst, before = max(worst, e.Bound), e.Bound
	}
	return worst, nil
}
