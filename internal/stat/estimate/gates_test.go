package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The gate that simulations are about: worse by more than 5 %, asked about 10 %.
const gateBound, gateChange = 0.05, 0.1

// gateTally counts what came of a gate over simulated comparisons.
type gateTally struct {
	rounds, known      int
	equal, bound       int     // missed where nothing has changed, and by a change of just the bound
	noticed, held      int     // missed by the change that it is asked about; held where nothing has changed
	claimed, claimHeld float64 // what it says of both
}

func (c *gateTally) share(n int) float64 { return 100 * float64(n) / float64(max(1, c.known)) }

// scaled is an estimate of samples that are all times as great.
func (e estimate) scaled(times float64) estimate {
	limits := e.limits
	e.value *= times
	e.limits = func(t float64) (lo, hi float64) {
		lo, hi = limits(t)
		return times * lo, times * hi
	}
	return e
}

// add counts one comparison, of b made greater by a true change.
func (c *gateTally) add(compare func(times float64) Difference) {
	c.rounds++
	same := compare(1)
	if !same.Known {
		return
	}
	c.known++
	missed := func(times float64) int {
		if d := compare(times); d.Known && d.Lo > gateBound*d.A {
			return 1
		}
		return 0
	}
	c.equal += missed(1)
	c.bound += missed(1 + gateBound)
	c.noticed += missed(1 + gateChange)
	if same.Hi < gateBound*same.A {
		c.held++
	}
	c.claimed += same.Beyond(gateBound*same.A, gateChange*same.A, true)
	c.claimHeld += same.Beyond(gateBound*same.A, 0, false)
}

// gates simulates so many comparisons.
func (s *simulation) gates(rounds int) []gateTally {
	out := make([]gateTally, len(s.figures))
	for round := range rounds {
		a, b := s.estimates(2*round, nil), s.estimates(2*round+1, nil)
		for i := range a {
			out[i].add(func(times float64) Difference {
				other := b[i]
				if other.known {
					other = other.scaled(times)
				}
				return between(&a[i], &other, Confidence)
			})
		}
	}
	return out
}

// TestGateSlice: what TestSimulatedGates shows at length holds for a few comparisons.
func TestGateSlice(t *testing.T) {
	f := &families[0]
	s := simulation{f, 1000, usual[:3]}
	for i, c := range s.gates(60) {
		s.judgeGate(t, titles[i], &c)
	}
}

// TestSimulatedGates: a gate of 5 % is seldom missed by equal sides, and a change of 10 % is noticed
// as often as its line says.
func TestSimulatedGates(t *testing.T) {
	if !everything {
		t.Skip("INFEROMETER_SIMULATE=all runs it")
	}
	for i := range families {
		f := &families[i]
		if f.draw == nil {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1000, 10_000, 100_000} {
				rounds := 400
				if size > 10_000 {
					rounds = 100
				}
				s := simulation{f, size, usual}
				for i, c := range s.gates(rounds) {
					s.judgeGate(t, titles[i], &c)
				}
			}
		})
	}
}

func (s *simulation) judgeGate(t *testing.T, title string, c *gateTally) {
	if c.known < c.rounds*3/4 {
		return
	}
	claimed, claimHeld := 100*c.claimed/float64(c.known), 100*c.claimHeld/float64(c.known)
	t.Logf("%-14s %6d %-4s known %3.0f %%  equal sides: missed %4.1f, held %3.0f (says %3.0f)  +5 %%: missed %4.1f  +10 %%: missed %3.0f (says %3.0f)", s.family.name, s.size, title,
		100*float64(c.known)/float64(c.rounds), c.share(c.equal), c.share(c.held), claimHeld, c.share(c.bound), c.share(c.noticed), claimed)
	slack := 120 / math.Sqrt(float64(c.known)) // what so few can be off by, in per cent
	if c.share(c.equal) > 2.5+slack/4 || c.share(c.bound) > 4+slack/3 {
		t.Errorf("missed by %.1f %% of equal sides and %.1f %% that differ by the bound", c.share(c.equal), c.share(c.bound))
	}
	if off := c.share(c.noticed) - claimed; math.Abs(off) > 4+slack {
		t.Errorf("notices %.0f %%, says %.0f %%", c.share(c.noticed), claimed)
	}
	if off := c.share(c.held) - claimHeld; math.Abs(off) > 4+slack {
		t.Errorf("holds %.0f %%, says %.0f %%", c.share(c.held), claimHeld)
	}
}

// nightly compares builds whose runs differ by 3 % from one to the next, with so many runs a side. The
// error within a run is that of the p90 of 6,000 requests, lognormal with σ = 0.5.
func nightly(r *rand.Rand, runs, rounds int) gateTally {
	const fromRunToRun, within = 0.03, 0.011
	var c gateTally
	for range rounds {
		var a, b []estimate
		for i := range 2 * runs {
			value := 50 * math.Exp(fromRunToRun*r.NormFloat64()) * (1 + within*r.NormFloat64())
			e := around(value, within*value, 60)
			if i < runs {
				a = append(a, e)
			} else {
				b = append(b, e)
			}
		}
		c.add(func(times float64) Difference {
			if runs == 1 {
				other := b[0].scaled(times)
				return between(&a[0], &other, Confidence)
			}
			var x, y []float64
			for i := range a {
				x, y = append(x, a[i].value), append(y, times*b[i].value)
			}
			return BetweenRuns(x, y, Confidence)
		})
	}
	return c
}

// TestSimulatedNightly: where runs differ by more than their requests say, one run a side fails equal
// builds, and several do not.
func TestSimulatedNightly(t *testing.T) {
	rounds := 300
	if everything {
		rounds = 4000
	}
	for _, runs := range []int{1, 3, 5, 10} {
		c := nightly(rand.New(rand.NewPCG(32, uint64(runs))), runs, rounds)
		t.Logf("%2d runs a side: equal builds: missed %4.1f %%, held %3.0f %%; +5 %%: missed %4.1f %%; +10 %%: missed %3.0f %% (says %3.0f)", runs,
			c.share(c.equal), c.share(c.held), c.share(c.bound), c.share(c.noticed), 100*c.claimed/float64(c.known))
		if runs >= 3 && c.share(c.equal) > 1.5 {
			t.Errorf("%d runs a side: %.1f %% of equal builds are missed", runs, c.share(c.equal))
		}
	}
}
