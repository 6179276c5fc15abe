package capacity

import (
	"fmt"
	"math"
)

// unsteady says why the server was not steady; empty: nothing shows that. Levels are held against
// their own scatter: what chance does, a queue near its limit does all the more.
func (s *Search) unsteady(levels []Trial, e *estimate) string {
	for _, c := range e.belief.curves {
		o := &s.Objectives[c.j]
		var decide []*evidence
		var within []float64
		bad := 0.0
		for i := range c.evidence {
			ev := &c.evidence[i]
			if ev.cut || math.Abs(ev.load-c.knee) > near {
				continue
			}
			decide = append(decide, ev)
			if seen := element(levels[ev.level].Seen, c.j); seen != nil {
				within = append(within, seen.halves(o))
				bad += seen.Total().Bad
			}
		}
		if o.Allowed > 0 && bad < leastBadSeen {
			continue // what hardly ever happens shows no change
		}
		if t := c.drift(decide, clock(levels)); math.Abs(t) > drifts*notChance(len(decide)-2) {
			return fmt.Sprintf("%s at the same load became %s as the search went on", o.Figure, direction(t))
		}
		if t := mean(within); math.Abs(t) > during*notChance(len(within)-1) {
			return fmt.Sprintf("%s became %s during a level", o.Figure, direction(t))
		}
	}
	return ""
}

// What chance does not do, in standard errors: drifts of levels that the likeliest slope explains in part,
// and during of halves of levels. Both are reached by about one search in two hundred.
const (
	drifts = 2.2
	during = 2.81
)

// notChance is by how much more of a standard error it takes where that is known from a few levels.
func notChance(free int) float64 { return 1 + 2.2/float64(max(free, 1)) }

func direction(t float64) string {
	if t > 0 {
		return "worse"
	}
	return "better"
}

// halves is how much worse the second half of a level was than the first.
func (s *Observation) halves(o *Objective) float64 {
	half := len(s.Batches) / 2
	a, b := (&Observation{Batches: s.Batches[:half]}).Total(), (&Observation{Batches: s.Batches[half:]}).Total()
	if a.N == 0 || b.N == 0 {
		return 0
	}
	if o.Allowed == 0 {
		return o.margin(a.Sum/a.N) - o.margin(b.Sum/b.N)
	}
	return math.Sqrt(b.Bad/b.N) - math.Sqrt(a.Bad/a.N) // alike in variance, however many are bad
}

// leastBadSeen is how many bad samples a change of their share is told from.
const leastBadSeen = 20

// leastForTrend is how many levels a change is told from.
const leastForTrend = 6

// clock is when each level was in the middle, in shares of the search, from −0.5 to 0.5.
func clock(levels []Trial) []float64 {
	at, whole := make([]float64, len(levels)), 0.0
	for i := range levels {
		at[i] = whole + levels[i].Seconds/2
		whole += levels[i].Seconds
	}
	for i := range at {
		at[i] = at[i]/whole - 0.5
	}
	return at
}

// drift is how much the capacity moves as the search goes on, in standard errors: by how much likelier the
// levels are where the curve may move along with time than where it stays. The loads follow a capacity
// that moves, and so the slope is looked for anew: the one of a curve that stays has taken some of it in.
func (c *curve) drift(decide []*evidence, clock []float64) float64 {
	if len(decide) < leastForTrend {
		return 0
	}
	stays, moves, sign := c.least(decide, clock, 0), math.Inf(1), 0.0
	for by := 0.01; by < 1; by *= 2 {
		for _, worse := range []float64{-1, 1} {
			if dev := c.least(decide, clock, -worse*by); dev < moves {
				moves, sign = dev, worse
			}
		}
	}
	return sign * math.Sqrt(max(stays-moves, 0))
}

// least is the least deviance of levels from a curve that moves by so much during the search, over all
// slopes and over capacities around the likeliest.
func (c *curve) least(decide []*evidence, clock []float64, moves float64) float64 {
	const step = 0.01
	least := math.Inf(1)
	for _, slope := range c.slopes {
		for off := -near; off <= near; off += step {
			sum := 0.0
			for _, ev := range decide {
				sum += c.deviance(ev, slope*(ev.load-c.knee-off-moves*clock[ev.level]), c.clumping)
			}
			least = min(least, sum)
		}
	}
	return least
}

// mean is a mean in standard errors of its own.
func mean(y []float64) float64 {
	n := float64(len(y))
	if n < leastForTrend {
		return 0
	}
	var m, v float64
	for _, d := range y {
		m += d / n
	}
	for _, d := range y {
		v += (d - m) * (d - m) / (n - 1)
	}
	if v == 0 {
		return 0
	}
	return m / math.Sqrt(v/n)
}
