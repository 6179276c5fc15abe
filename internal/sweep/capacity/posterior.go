package capacity

import (
	"math"
	"slices"
)

const (
	// bend is how far the curve of an objective may be off a straight line, as a share of the
	// distance from the bound: what is far from the capacity says little about where it is.
	bend = 0.3
	// most and least bound what a share tells: of a level where half of the samples are bad, or
	// hardly any, the rest is not a matter of the load.
	mostBad  = 0.5
	leastBad = 1.0 / 20
	// clumping is what is assumed of how alike neighbours are before anything is known, with the
	// weight of so many degrees of freedom.
	clumping       = 2.5
	clumpingWeight = 6
	// few is the weight, in degrees of freedom, of the assumption that levels differ by thrice as much
	// as what is within them tells: what lasts longer than a level does not show there.
	few = 3
	// crowding bounds by how much more alike neighbours are at a load above the capacity than at it:
	// a queue lasts the longer the nearer it is to what the server can do at all.
	crowding = 4
	// near is how far from the capacity a level is among those that decide it, in logarithms.
	near = 0.35
	// coarse and fine are how many loads are looked at, at first and then where the capacity can be.
	coarse, fine = 61, 121
	slopes       = 20
)

// curve is what is known of where an objective is no longer met.
type curve struct {
	j        int       // of the objective
	weights  []float64 // of each load of the grid
	slope    float64   // the likeliest: how fast the log odds rise with the logarithm of the load
	knee     float64   // the likeliest, in logarithms
	clumping float64   // how many samples tell as much as one of their own would
	misfit   float64   // χ² of the levels near the knee
	free     float64   // its degrees of freedom

	evidence []evidence
	slopes   []float64
	deviance func(e *evidence, d, clumping float64) float64
}

type grid []float64

func newGrid(lo, hi float64, points int) grid {
	g := make(grid, points)
	for i := range g {
		g[i] = lo + (hi-lo)*float64(i)/float64(points-1)
	}
	return g
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func clip(v, lo, hi float64) float64 { return min(max(v, lo), hi) }

// evidence is what a level says of an objective, worked out once for all curves.
type evidence struct {
	load    float64 // in logarithms
	n       float64 // samples
	seen    float64 // the share of bad ones, or the margin of the mean
	own     float64 // seen·log seen + (1−seen)·log(1−seen)
	se      float64 // of the margin of the mean
	cut     bool
	level   int // its place among the levels
	alike   [scales]dispersion
	crowded float64 // how many times as alike as at the capacity neighbours are
	unknown bool
}

func (o *Objective) evidenceOf(l *Trial, s *Observation) evidence {
	t := s.Total()
	e := evidence{load: math.Log(l.Load), n: t.N, cut: l.Cut, crowded: 1, unknown: t.N == 0}
	if o.Allowed == 0 {
		mean, se, ok := s.Mean()
		e.seen, e.se, e.unknown = clip(o.margin(mean), -mostBad, mostBad), se/math.Max(math.Abs(o.Bound), 1e-12), !ok
		return e
	}
	if !e.unknown {
		lo, hi := o.shares()
		e.seen = clip(t.Bad/t.N, lo, hi)
		e.own = e.seen*math.Log(e.seen) + (1-e.seen)*math.Log(1-e.seen)
		e.alike = s.dispersion()
	}
	return e
}

// shares bound the shares of bad samples that tell something.
func (o *Objective) shares() (lo, hi float64) {
	return o.Allowed * leastBad, max(mostBad, (1+o.Allowed)/2)
}

// odds are logarithms of shares along the log odds, so that none is worked out twice.
type odds struct {
	at, lo, hi, step float64
	p, logs, rest    []float64 // the share, its logarithm and that of its rest
}

func (o *Objective) odds() *odds {
	const steps = 400
	least, most := o.shares()
	t := &odds{at: logit(o.Allowed), lo: logit(least), hi: logit(most)}
	t.step = (t.hi - t.lo) / steps
	for i := range steps + 1 {
		p := 1 / (1 + math.Exp(-(t.lo + float64(i)*t.step)))
		t.p, t.logs, t.rest = append(t.p, p), append(t.logs, math.Log(p)), append(t.rest, math.Log1p(-p))
	}
	return t
}

// deviance is how badly a level fits a curve at the distance d from the bound, in log odds.
func (t *odds) deviance(e *evidence, d, clumping float64) float64 {
	eta := clip(t.at+d, t.lo, t.hi)
	k := int((eta-t.lo)/t.step + 0.5)
	p := t.p[k]
	if e.cut && p >= e.seen {
		return 0
	}
	off := bend * (eta - t.at)
	n := 1 / (clumping*e.crowded/e.n + off*off*p*(1-p))
	return 2 * n * max(e.own-e.seen*t.logs[k]-(1-e.seen)*t.rest[k], 0)
}

// meanDeviance is the same for the margin of a mean, in shares of the bound.
func meanDeviance(e *evidence, d, clumping float64) float64 {
	pred := clip(-d, -mostBad, mostBad)
	if e.cut && pred <= e.seen {
		return 0
	}
	v := e.se*e.se*clumping + bend*bend*pred*pred + 1e-8
	return (e.seen - pred) * (e.seen - pred) / v
}

func (o *Objective) deviance() func(e *evidence, d, clumping float64) float64 {
	if o.Allowed == 0 {
		return meanDeviance
	}
	return o.odds().deviance
}

// steepness are the slopes that a curve may have.
func (o *Objective) steepness() (lo, hi float64) {
	if o.Allowed == 0 {
		return 0.05, 500
	}
	return 1, 2000
}

// fit works out what the levels tell about where objective j is no longer met.
func (o *Objective) fit(g grid, levels []Trial, j int) *curve {
	c := &curve{j: j, clumping: clumping, deviance: o.deviance()}
	if o.Allowed == 0 {
		c.clumping = 1
	}
	lo, hi := o.steepness()
	for k := range slopes {
		c.slopes = append(c.slopes, lo*math.Pow(hi/lo, float64(k)/(slopes-1)))
	}
	for i := range levels {
		if s := element(levels[i].Seen, j); s != nil {
			if e := o.evidenceOf(&levels[i], s); !e.unknown {
				e.level = i
				c.evidence = append(c.evidence, e)
			}
		}
	}
	if o.Allowed == 0 {
		c.pool()
	}
	c.scan(g)
	// How much neighbours are alike is known of the levels that decide; where the levels differ by
	// more than that, they are believed less.
	if o.Allowed > 0 {
		c.crowd(o)
		c.clumping = c.alike()
	}
	c.residuals()
	c.clumping *= max((c.misfit+3*few)/(c.free+few), 1)
	c.scan(g)
	return c
}

// crowd works out how much more alike neighbours are at each level than at the capacity: as many
// times as there are more bad samples on the likeliest curve. What a level itself has seen does
// not enter, or those that happen to be bad would be believed less than those that happen to be good.
func (c *curve) crowd(o *Objective) {
	for i := range c.evidence {
		e := &c.evidence[i]
		odds := math.Exp(clip(logit(o.Allowed)+c.slope*(e.load-c.knee), -20, 20))
		e.crowded = clip(odds/(1+odds)/o.Allowed, 1, crowding)
	}
}

// alike is how many samples at the capacity tell as much as one of its own would, by the levels that decide.
func (c *curve) alike() float64 {
	var sum [scales]dispersion
	for i := range c.evidence {
		if e := &c.evidence[i]; math.Abs(e.load-c.knee) < near && !e.cut {
			for k := range sum {
				sum[k].chi2, sum[k].df = sum[k].chi2+e.alike[k].chi2/e.crowded, sum[k].df+e.alike[k].df
			}
		}
	}
	return clumped(sum)
}

// pool takes the same variance of a sample for all levels. By chance a low mean comes with a small
// standard error of its own: such levels would count for more, and the capacity be too high.
func (c *curve) pool() {
	sum, n := 0.0, 0.0
	for i := range c.evidence {
		if e := &c.evidence[i]; math.Abs(e.seen) < mostBad && !math.IsInf(e.se, 0) {
			sum, n = sum+e.se*e.se*e.n, n+1
		}
	}
	for i := range c.evidence {
		if e := &c.evidence[i]; n > 0 && sum > 0 && math.Abs(e.seen) < mostBad {
			e.se = math.Sqrt(sum / n / e.n)
		}
	}
}

// scan weighs each load of the grid by how well the levels fit a curve that crosses there.
func (c *curve) scan(g grid) {
	c.weights = make([]float64, len(g))
	logs := make([]float64, 0, len(g)*slopes)
	best := math.Inf(-1)
	for _, knee := range g {
		for _, slope := range c.slopes {
			sum := 0.0
			for i := range c.evidence {
				e := &c.evidence[i]
				sum -= c.deviance(e, slope*(e.load-knee), c.clumping) / 2
			}
			logs = append(logs, sum)
			if sum > best {
				best, c.knee, c.slope = sum, knee, slope
			}
		}
	}
	for i, l := range logs {
		if l > best-30 {
			c.weights[i/slopes] += math.Exp(l - best)
		}
	}
}

// residuals works out how far the levels near the knee are off the curve.
func (c *curve) residuals() {
	c.misfit, c.free = 0, -2
	for i := range c.evidence {
		e := &c.evidence[i]
		if math.Abs(e.load-c.knee) > near || e.cut {
			continue
		}
		c.misfit, c.free = c.misfit+c.deviance(e, c.slope*(e.load-c.knee), c.clumping), c.free+1
	}
	c.free = max(c.free, 0)
}

// element is an element of a list; nil where it is not that long.
func element[T any](list []T, i int) *T {
	if i >= 0 && i < len(list) {
		return &list[i]
	}
	return nil
}

// posterior is what is known of the capacity: the lowest load at which an objective is missed.
type posterior struct {
	grid   grid
	above  []float64 // the chance that it is above each load, if the objectives know nothing of one another
	alike  []float64 // the same if they are missed by the same requests
	curves []*curve
}

// believe works it out: roughly at first, then where it can be.
func (s *Search) believe(levels []Trial) *posterior {
	lo, hi := s.span(levels)
	b := s.posterior(levels, newGrid(lo, hi, coarse))
	step := b.grid[1] - b.grid[0]
	lo, hi = math.Log(b.quantile(0.002))-2*step, math.Log(b.highest(0.998))+2*step
	return s.posterior(levels, newGrid(lo, hi, fine))
}

// posterior works out the chances for each load of a grid. Levels not kept up with are above the
// capacity.
func (s *Search) posterior(levels []Trial, g grid) *posterior {
	b := &posterior{grid: g, above: slices.Repeat([]float64{1}, len(g)), alike: slices.Repeat([]float64{1}, len(g))}
	for _, j := range s.limiting(levels) {
		c := s.Objectives[j].fit(b.grid, levels, j)
		b.curves = append(b.curves, c)
		b.join(c.weights)
	}
	for i := range levels {
		if levels[i].Over == "" {
			continue
		}
		for k, x := range b.grid {
			p := normal((math.Log(levels[i].Load) - x) / overMargin)
			b.above[k], b.alike[k] = min(b.above[k], p), min(b.alike[k], p)
		}
	}
	return b
}

// limiting are the objectives that can say where the capacity is: those that are not spotless, or all where all are.
func (s *Search) limiting(levels []Trial) []int {
	var all, some []int
	for j := range s.Objectives {
		all = append(all, j)
		if !s.spotless(levels, j) {
			some = append(some, j)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// spotless reports whether objective j bounds failures and no request failed at any load. That a share below
// the one allowed may fail all the same would take thousands of requests to exclude, and nothing speaks for it.
// A rate is another matter: it can be more than the server keeps up with, and then all is possible.
func (s *Search) spotless(levels []Trial, j int) bool {
	if o := &s.Objectives[j]; !s.Whole || o.Unit != "share" || o.Above {
		return false
	}
	return !slices.ContainsFunc(levels, func(l Trial) bool {
		seen := element(l.Seen, j)
		return seen != nil && seen.Total().Bad > 0
	})
}

// overMargin is how far a load not kept up with may be below the capacity, by chance.
const overMargin = 0.01

// join takes in where another objective is no longer met.
func (b *posterior) join(weights []float64) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if !(sum > 0) {
		return
	}
	left := sum
	for k, w := range weights {
		left -= w / 2
		b.above[k] *= left / sum
		b.alike[k] = min(b.alike[k], left/sum)
		left -= w / 2
	}
}

// quantile is the load below which the capacity lies with chance q.
func (b *posterior) quantile(q float64) float64 { return b.crossing(b.above, q) }

// highest is the same if the objectives are missed by the same requests, as those of one queue are: then
// what one of them shows too high, the others do.
func (b *posterior) highest(q float64) float64 { return b.crossing(b.alike, q) }

// crossing is the load below which the capacity lies with chance q, going by the chances that it is above.
func (b *posterior) crossing(above []float64, q float64) float64 {
	for k := 1; k < len(b.grid); k++ {
		if p, before := 1-above[k], 1-above[k-1]; p >= q {
			part := 1.0
			if p > before {
				part = (q - before) / (p - before)
			}
			return math.Exp(b.grid[k-1] + clip(part, 0, 1)*(b.grid[k]-b.grid[k-1]))
		}
	}
	return math.Exp(b.grid[len(b.grid)-1])
}

// normal is the standard normal distribution.
func normal(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
