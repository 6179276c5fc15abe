package capacity

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// server answers requests of a load for a time, after a warm-up; it gives when each fell due
// after that and how long it took, and the share of the load that was answered.
type server interface {
	run(rng *rand.Rand, load, warmup, seconds, clock float64) (due, took []float64, answered float64)
	// knee is the load at which q of the requests take no longer than the bound.
	knee(bound, q float64) float64
}

// queue is a server with c places, exponential times of service, and arrivals by chance.
type queue struct {
	c     int
	mu    float64 // services per second of a place
	base  float64 // that every answer takes besides
	drift float64 // share by which it becomes slower in an hour
}

func (s queue) run(rng *rand.Rand, load, warmup, seconds, clock float64) (due, took []float64, answered float64) {
	free := make([]float64, s.c)
	end, n := warmup+seconds, 0.0
	mu := s.mu * (1 - s.drift*clock/3600)
	for t := rng.ExpFloat64() / load; t < end; t += rng.ExpFloat64() / load {
		k := 0
		for i := range free {
			if free[i] < free[k] {
				k = i
			}
		}
		free[k] = max(t, free[k]) + rng.ExpFloat64()/mu
		if free[k] > warmup && free[k] <= end {
			n++
		}
		if t >= warmup {
			due, took = append(due, t-warmup), append(took, free[k]-t+s.base)
		}
	}
	return due, took, n / seconds
}

func (s queue) knee(bound, q float64) float64 {
	// By bisection on the time in the system of M/M/c.
	lo, hi := 0.0, float64(s.c)*s.mu
	for range 60 {
		if mid := (lo + hi) / 2; s.beyond(mid, bound-s.base) > 1-q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// beyond is the share of requests that take longer than t.
func (s queue) beyond(lambda, t float64) float64 {
	c, mu := float64(s.c), s.mu
	rho := lambda / (c * mu)
	b := 1.0 // Erlang's B
	for k := 1; k <= s.c; k++ {
		b = lambda / mu * b / (float64(k) + lambda/mu*b)
	}
	wait := b / (1 - rho*(1-b))
	gap := c*mu - lambda
	if math.Abs(gap-mu) < 1e-9 {
		gap += 1e-9
	}
	return (1-wait)*math.Exp(-mu*t) + wait*(gap*math.Exp(-mu*t)-mu*math.Exp(-gap*t))/(gap-mu)
}

// crowd is a server whose answers take longer the more are in flight; what disturbs it lasts.
type crowd struct {
	base, each float64 // seconds, and those that every request in flight adds
	spread     float64 // of the logarithm of the time
	memory     float64 // correlation of neighbours
}

func (s crowd) run(rng *rand.Rand, load, warmup, seconds, _ float64) (due, took []float64, answered float64) {
	z := rng.NormFloat64()
	for t := 0.0; t < warmup+seconds; {
		z = s.memory*z + math.Sqrt(1-s.memory*s.memory)*rng.NormFloat64()
		d := (s.base + s.each*load) * math.Exp(s.spread*z)
		if t >= warmup {
			due, took = append(due, t-warmup), append(took, d)
		}
		t += d / load
	}
	return due, took, float64(len(due)) / seconds
}

func (s crowd) knee(bound, q float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*q-1)
	return (bound/math.Exp(s.spread*z) - s.base) / s.each
}

// cliff answers in the same time up to its capacity, and fails to keep up above.
type cliff struct {
	at   float64
	took float64
}

func (s cliff) run(rng *rand.Rand, load, warmup, seconds, _ float64) (due, took []float64, answered float64) {
	free := 0.0
	end, n := warmup+seconds, 0.0
	for t := 0.0; t < end; t += 1 / load {
		free = max(t, free) + 1/s.at
		if free > warmup && free <= end {
			n++
		}
		if t >= warmup {
			due, took = append(due, t-warmup), append(took, free-t+s.took*math.Exp(0.1*rng.NormFloat64()))
		}
	}
	return due, took, n / seconds
}

func (s cliff) knee(float64, float64) float64 { return s.at }

// search runs a search against a server.
func simulate(s Search, srv server, seed uint64) (levels []Level, spent float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	s.Seed = seed
	for {
		step, ok := s.Next(levels, spent)
		if !ok {
			return levels, spent
		}
		due, took, answered := srv.run(rng, step.Load, step.Warmup, step.Seconds, spent)
		l := Level{Stage: len(levels), Load: step.Load, Seconds: step.Seconds, Requests: int64(len(due)), Answered: answered}
		for j := range s.Objectives {
			o := &s.Objectives[j]
			seen := Seen{Batches: make([]Batch, 10)}
			for i, at := range due {
				b := &seen.Batches[min(int(at/step.Seconds*10), 9)]
				b.N++
				b.Sum += took[i]
				if took[i] > o.Bound {
					b.Bad++
				}
			}
			l.Seen = append(l.Seen, seen)
		}
		if !s.Whole && answered*step.Seconds < 0.9*float64(len(due))-30 {
			l.Over = "answered"
		}
		s.Judge(&l)
		levels = append(levels, l)
		spent += step.Warmup + step.Seconds + 1
	}
}

func percentile(q, bound float64) Objective {
	return Objective{Text: "ttft", Figure: "ttft.p99", Bound: bound, Unit: "s", Allowed: 1 - q, Least: int64(4.74 / (1 - q))}
}

func TestSearchFindsTheKnee(t *testing.T) {
	searches := 1
	if n, err := strconv.Atoi(os.Getenv("SEARCHES")); err == nil {
		searches = n
	}
	for _, c := range []struct {
		name   string
		server server
		q      float64
		bound  float64
		search Search
	}{
		{"M/M/1, gentle", queue{c: 1, mu: 50}, 0.99, 0.2, Search{Start: 1, Seconds: 3600}},
		{"M/M/1, near saturation", queue{c: 1, mu: 50}, 0.99, 1, Search{Start: 1, Seconds: 3600}},
		{"M/M/8", queue{c: 8, mu: 10}, 0.95, 0.45, Search{Start: 10, Seconds: 1800}},
		{"start far above", queue{c: 8, mu: 10}, 0.95, 0.45, Search{Start: 3000, Seconds: 1800}},
		{"cliff", cliff{at: 100, took: 0.1}, 0.99, 0.2, Search{Start: 3, Seconds: 900}},
		{"crowd", crowd{base: 0.1, each: 0.01, spread: 0.2, memory: 0.9}, 0.99, 0.6, Search{Whole: true, Start: 1, Seconds: 1800}},
		{"crowd, wide", crowd{base: 0.1, each: 0.001, spread: 0.5, memory: 0.8}, 0.9, 0.6, Search{Whole: true, Start: 1, Seconds: 1800}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.search
			s.Objectives, s.Precision, s.Least = []Objective{percentile(c.q, c.bound)}, 0.05, 0.001
			if s.Whole {
				s.Least = 1
			}
			knee := c.server.knee(c.bound, c.q)
			close, held, n, took, bias := 0, 0, 0, 0.0, 0.0
			for i := range searches {
				levels, spent := simulate(s, c.server, uint64(i))
				a := s.estimate(levels)
				if math.Abs(a.value/knee-1) <= 0.05 {
					close++
				}
				if a.lo <= knee && knee <= a.hi {
					held++
				}
				if i < 3 && os.Getenv("SHOW") != "" {
					for _, l := range levels {
						t.Logf("%8.4g %6.0f s %6d requests, bad %.4f %s %s", l.Load, l.Seconds, l.Requests, l.Seen[0].Share, l.Met, l.Over)
					}
				}
				n, took, bias = n+len(levels), took+spent, bias+math.Log(a.value/knee)
				if i < 3 {
					t.Logf("%.4g (%.4g to %.4g) for %.4g, %d levels, %.0f s; slope %.3g, clumping %.3g", a.value, a.lo, a.hi, knee, len(levels), spent, a.belief.curves[0].slope, a.belief.curves[0].clumping)
				}
			}
			k := float64(searches)
			t.Logf("knee %.4g: within 5 %% %d, held %d of %d; %.1f levels, %.0f s, bias %.2g", knee, close, held, searches, float64(n)/k, took/k, bias/k)
			if searches > 10 && (close < 95 || held < 90) {
				t.Error("not often enough")
			}
		})
	}
}
