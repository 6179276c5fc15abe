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
		var order, residual, within []float64
		bad := 0.0
		for i := range c.evidence {
			ev := &c.evidence[i]
			if ev.cut || math.Abs(ev.load-c.knee) > near {
				continue
			}
			dev, sign := c.deviance(ev, c.slope*(ev.load-c.knee), c.clumping)
			order, residual = append(order, float64(ev.stage)), append(residual, math.Copysign(math.Sqrt(dev), sign))
			if seen := element(levels[ev.level].Seen, c.j); seen != nil {
				within = append(within, seen.halves(o))
				bad += seen.Total().Bad
			}
		}
		if o.Allowed > 0 && bad < leastBadSeen {
			continue // what hardly ever happens shows no change
		}
		if t := student(order, residual); math.Abs(t) > notChance(len(order)-2) {
			return fmt.Sprintf("%s at the same load became %s as the search went on", o.Figure, direction(t))
		}
		if t := mean(within); math.Abs(t) > notChance(len(within)-1) {
			return fmt.Sprintf("%s became %s during a level", o.Figure, direction(t))
		}
	}
	return ""
}

// notChance is about the value of Student's t that chance reaches once in two hundred times.
func notChance(free int) float64 { return 2.81 * (1 + 2.2/float64(max(free, 1))) }

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

// student is the slope of values over moments, in standard errors of its own.
func student(x, y []float64) float64 {
	n := float64(len(x))
	if n < leastForTrend {
		return 0
	}
	var mx, my, xx, xy, yy float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx, xy, yy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my), yy+(y[i]-my)*(y[i]-my)
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	rest := max(yy-xy*xy/xx, 1e-9*yy)
	return xy / math.Sqrt(xx) / math.Sqrt(rest/(n-2))
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
