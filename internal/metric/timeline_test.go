package metric

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestTimelineKeepsItsSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var one, a, b timeline
	var ended, latency, tokens float64
	for i := range 5000 {
		// Hours apart and out of order, so that spans are prepended and made longer.
		sent := 30*time.Minute + time.Duration(r.Int64N(int64(2*time.Hour)))
		end := sent + time.Duration(r.Int64N(int64(20*time.Second)))
		ended++
		latency += (end - sent).Seconds()
		tokens += float64(i % 7)
		one.add(sent, end, i%7)
		if i%3 == 0 {
			a.add(sent, end, i%7)
		} else {
			b.add(sent, end, i%7)
		}
	}
	b.add(5*time.Hour, 5*time.Hour, 3) // makes the spans of one part longer than the other's
	one.add(5*time.Hour, 5*time.Hour, 3)
	a.merge(&b)
	for name, tl := range map[string]*timeline{"one": &one, "merged": &a} {
		if len(tl.spans) > maxSpans {
			t.Errorf("%s: %d spans", name, len(tl.spans))
		}
		s := tl.between(0, 10*time.Hour)
		if math.Abs(s.ended-ended-1) > 1e-6 || math.Abs(s.latency-latency) > 1e-5 || math.Abs(s.tokens-tokens-3) > 1e-5 || math.Abs(s.requests-ended-1) > 1e-6 {
			t.Errorf("%s: %+v, want ended %v, latency %v, tokens %v", name, s, ended+1, latency, tokens+3)
		}
	}
	if x, y := one.between(time.Hour, 2*time.Hour), a.between(time.Hour, 2*time.Hour); x != y {
		t.Errorf("an hour of one is %+v, of the merged %+v", x, y)
	}
}

func TestDrift(t *testing.T) {
	const from, to = 2 * time.Second, 12 * time.Second
	fill := func(latency func(at time.Duration) time.Duration, every time.Duration) *timeline {
		tl := new(timeline)
		for at := time.Duration(0); at < to; at += every {
			tl.add(at, at+latency(at), 10)
		}
		return tl
	}
	steady := fill(func(time.Duration) time.Duration { return 100 * msec }, 10*msec)
	if d, ok := steady.drift(from, to); !ok || math.Abs(d.Latency) > 0.001 || math.Abs(d.Flow) > 0.01 || !d.Tokens {
		t.Errorf("a steady run drifts: %+v %v", d, ok)
	}
	rising := fill(func(at time.Duration) time.Duration { return 100*msec + at/50 }, 10*msec)
	if d, ok := rising.drift(from, to); !ok || d.Latency < 0.3 || d.Latency < d.LatencyNoise {
		t.Errorf("latency that grows from 140 to 340 ms: %+v %v", d, ok)
	}
	thinner := new(timeline)
	for at := time.Duration(0); at < to; at += 10 * msec {
		if at < 7*time.Second || at%(20*msec) == 0 {
			thinner.add(at, at+50*msec, 10)
		}
	}
	if d, ok := thinner.drift(from, to); !ok || d.Flow > -0.6 || -d.Flow < d.FlowNoise {
		t.Errorf("a flow that halves: %+v %v", d, ok)
	}
	// 64 in flight, all ending together every 3 s: whole waves fall into one half.
	waves := new(timeline)
	for at := time.Duration(0); at < 15*time.Second; at += 3 * time.Second {
		for range 64 {
			waves.add(at, at+3*time.Second, 100)
		}
	}
	if d, ok := waves.drift(from, to); !ok || math.Abs(d.Flow) > 0.05 {
		t.Errorf("even work that ends in waves drifts: %+v %v", d, ok)
	}
	few := fill(func(time.Duration) time.Duration { return 100 * msec }, 200*msec)
	if _, ok := few.drift(from, to); ok {
		t.Error("halves of 25 requests are compared")
	}
}
