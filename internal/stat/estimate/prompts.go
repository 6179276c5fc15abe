package estimate

import "math"

// BetweenPrompts are the differences between figures of one metric on two sides that answered the
// same prompts: request i of both is the same one, and the order is that of sending. What the
// prompts make of a figure is the same on both sides, and is not in the error of the difference.
func BetweenPrompts(a, b *Samples, figures []Statistic, confidence float64) []Difference {
	out := make([]Difference, len(figures))
	as, bs := estimatesOf(a, b, figures)
	p := &prompts{a: a, b: b}
	for i, f := range figures {
		out[i] = Difference{A: as[i].value, B: bs[i].value, Delta: bs[i].value - as[i].value, P: math.NaN(), Least: math.NaN(), Method: Prompts,
			confidence: confidence}
		if !finite(out[i].Delta) || a.requests() != b.requests() {
			continue
		}
		switch f.Kind {
		case Mean:
			p.mean(&out[i], &as[i], &bs[i])
		case Quantile:
			p.quantile(&out[i], &as[i], &bs[i], f.Q)
		case Share:
			p.share(&out[i], &as[i], &bs[i])
		}
	}
	return out
}

// prompts are two sides that answered the same prompts.
type prompts struct {
	a, b *Samples
}

// differences are the scores of B less those of A, each as a part of its side's figure.
func (p *prompts) differences(a, b []float64) []float64 {
	nA, nB := float64(len(p.a.Values)), float64(len(p.b.Values))
	out := make([]float64, len(a))
	for i := range out {
		out[i] = b[i]/nB - a[i]/nA
	}
	return out
}

// mean is by the differences of the prompts, which it is the mean of. Where the sides have tails,
// their differences have two, which hide each other's length: the interval is at least that of both
// sides joined.
func (p *prompts) mean(d *Difference, a, b *estimate) {
	off := func(s *Samples, mean float64) []float64 {
		return s.scores(func(values []float64) (sum float64) {
			for _, v := range values {
				sum += v - mean
			}
			return sum
		})
	}
	scoresA, scoresB := off(p.a, d.A), off(p.b, d.B)
	e := meanOf(d.Delta, 1, p.differences(scoresA, scoresB), mostWaves)
	if d.df = e.df; !e.known || p.alone(d) < leastAlone {
		return
	}
	limits := e.limits
	if alike, _, ok := p.alike(scoresA, scoresB, 0); ok && a.known && b.known {
		limits = func(t float64) (lo, hi float64) {
			lo, hi = e.limits(t)
			l, h := joined(d, a, b, alike, t)
			return min(lo, l), max(hi, h)
		}
	}
	d.Known = true
	d.test(limits)
}

// alone is how many independent requests would say as much of the difference.
func (p *prompts) alone(d *Difference) float64 {
	each := make([]float64, p.a.requests())
	nA, nB := float64(len(p.a.Values)), float64(len(p.b.Values))
	for i := range each {
		for _, v := range p.b.request(i) {
			each[i] += (v - d.B) / nB
		}
		for _, v := range p.a.request(i) {
			each[i] -= (v - d.A) / nA
		}
	}
	return aloneOf(each)
}

// quantile is by both sides' Woodruff intervals, whose shares up to the quantile stray together.
func (p *prompts) quantile(d *Difference, a, b *estimate, q float64) {
	below := func(s *Samples, at float64) []float64 {
		return s.scores(func(values []float64) float64 {
			n := 0
			for _, v := range values {
				if v <= at {
					n++
				}
			}
			return float64(n) - q*float64(len(values))
		})
	}
	p.join(d, a, b, below(p.a, d.A), below(p.b, d.B))
}

// share is by the Wilson intervals of both sides.
func (p *prompts) share(d *Difference, a, b *estimate) {
	off := func(s *Samples, share float64) []float64 {
		return s.scores(func(values []float64) float64 { return values[0] - share })
	}
	p.join(d, a, b, off(p.a, d.A), off(p.b, d.B))
}

// join makes one interval of those of both sides by how much the scores of the sides are alike.
func (p *prompts) join(d *Difference, a, b *estimate, scoresA, scoresB []float64) {
	if !a.known || !b.known {
		return
	}
	alike, df, ok := p.alike(scoresA, scoresB, unseen)
	if d.df = df; ok {
		d.Known = true
		d.test(func(t float64) (lo, hi float64) { return joined(d, a, b, alike, t) })
	}
}

// joined are the limits of a difference at t standard errors by those of both sides, whose errors
// are so much alike.
//
// What the sides have in common moves both figures the same way: what is left of it is by how much
// further one of them moves. The rest is of each side's own.
func joined(d *Difference, a, b *estimate, alike, t float64) (lo, hi float64) {
	la, ha := a.limits(t)
	lb, hb := b.limits(t)
	common := (hb - lb - ha + la) / 2
	join := func(x, y float64) float64 {
		if alike < 0 {
			return math.Sqrt(x*x + y*y - 2*alike*x*y)
		}
		return math.Sqrt((1-alike)*(x*x+y*y) + alike*common*common)
	}
	return d.Delta - join(b.value-lb, ha-a.value), d.Delta + join(hb-b.value, a.value-la)
}

// alike is the correlation of the errors of both sides' figures, and the degrees of freedom with
// which the error of their difference is known.
func (p *prompts) alike(a, b []float64, more float64) (r, df float64, ok bool) {
	none := make([]float64, len(a))
	ofA, _, okA := spread(p.differences(a, none), mostWaves)
	ofB, _, okB := spread(p.differences(none, b), mostWaves)
	each := p.differences(a, b)
	apart, df, okD := spread(each, mostWaves)
	apart = math.Hypot(apart, math.Sqrt(more)*p.one(each))
	if ofA > 0 && ofB > 0 {
		r = max(-1, min(1, (ofA*ofA+ofB*ofB-apart*apart)/(2*ofA*ofB)))
	}
	return r, df, okA && okB && okD
}

// unseen is how many more requests than were seen are taken to be on the other side of a figure on
// one side only: where there are hardly any, how many there are is known by them alone.
const unseen = 1

// one is what such a request comes to.
func (p *prompts) one(each []float64) float64 {
	var n, square float64
	for _, v := range each {
		if v != 0 {
			n++
			square += v * v
		}
	}
	least := 1 / (float64(len(p.a.Values)) * float64(len(p.b.Values)))
	return math.Sqrt(max(least, square/max(1, n)))
}
