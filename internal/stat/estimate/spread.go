package estimate

import "math"

// parts is how many a run is cut into at most: enough for the waves.
const parts = 4096

// The waves that a run is taken apart into: at most so many, and none shorter than so many
// requests, since what happens from one to the next says nothing of the whole.
const (
	mostWaves  = 64
	leastShort = 8
)

// What it takes to know an error.
const (
	leastScores = 32
	leastDF     = 2.5
	leastAlone  = 25 // requests, as many as there would be without memory
	leastBeyond = 5  // of them beyond a quantile
)

// spread is the standard error of the sum of scores, which depend on their neighbours, and its
// degrees of freedom, by at most so many waves; not ok: there are too few to say.
//
// The scores are taken apart into cosines with 1, 2, 3, … halves of a period in the run. Their
// powers are independent of one another, however the scores depend on their neighbours, and the
// error of the sum is the power that the line reaches at 0.
func spread(scores []float64, most int) (se, df float64, ok bool) {
	n := len(scores)
	if n < leastScores || most < 1 {
		return 0, 1, false
	}
	var top float64 // whose square may be too large or too small for a float64
	for _, v := range scores {
		top = max(top, math.Abs(v))
	}
	powers := make([]float64, min(most, 2*n/leastShort))
	cosines(scores, powers)
	var sum float64
	for j, w := range powers {
		w /= top
		powers[j] = w * w
		sum += w * w
	}
	if top == 0 || sum == 0 {
		return 0, mostWaves, true
	}
	level, df := still(powers)
	return top * math.Sqrt(level*float64(n)), df, df >= leastDF
}

// cosines fills in how much of the cosines with 1, 2, 3, … halves of a period there is in the scores.
//
// A cosine with an even number of halves is the same from either end of the run, one with an odd
// number has the other sign, so that half of the run is enough; and two at a time take little
// longer than one.
func cosines(scores, out []float64) {
	n := len(scores)
	even, odd := make([]float64, n/2), make([]float64, n/2)
	for i := range even {
		a, b := scores[i], scores[n-1-i]
		even[i], odd[i] = a+b, a-b
	}
	middle := 0.0 // where a cosine with an even number of halves is 1 or -1
	if n%2 == 1 {
		middle = scores[n/2]
	}
	scale := math.Sqrt(2 / float64(n))
	for j := 1; j <= len(out); j += 2 {
		x, y := cosineOf(j, n), cosineOf(j+1, n)
		var sum, next float64
		for i, v := range odd {
			sum += v * x.now
			next += even[i] * y.now
			x.last, x.now = x.now, x.twice*x.now-x.last
			y.last, y.now = y.now, y.twice*y.now-y.last
		}
		out[j-1] = sum * scale
		if middle = -middle; j < len(out) {
			out[j] = (next + middle) * scale
		}
	}
}

// cosine is one with j halves of a period in n steps, at a step and at the one before.
type cosine struct{ twice, last, now float64 }

func cosineOf(j, n int) cosine {
	step := math.Pi * float64(j) / float64(n)
	at := math.Cos(step / 2) // a cosine is the same half a step before and behind 0
	return cosine{2 * math.Cos(step), at, at}
}

// noMemory is the probability, before anything is seen, that scores do not depend on their neighbours.
const noMemory = 0.7

// still is the power of the wave of no length at all, which is the sum, by those of the others,
// and the degrees of freedom with which it is known.
//
// Scores that remember have a memory that fades, and so a line of powers that is flat up to a
// corner and falls from there on to a floor: 1 + ratio/(1 + (j/corner)²). Every such line counts
// by how likely it makes the powers that are there. What they disagree about goes into the
// degrees of freedom: the distribution of the power at 0, by mean and variance of its logarithm,
// is taken for that of a variance that so many independent samples would leave.
func still(powers []float64) (level, df float64) {
	b := belief{powers: powers, top: math.Inf(-1)}
	b.weigh(0, noMemory)
	count := float64(len(powers))
	const ratios = 8
	corners := math.Ceil(2 * math.Log2(count))
	b.fall = make([]float64, len(powers))
	for c := 1.0; c < count; c *= math.Sqrt2 {
		for i := range b.fall {
			x := float64(i+1) / c
			b.fall[i] = 1 / (1 + x*x)
		}
		for r := range ratios {
			b.weigh(math.Exp2(float64(2*r-1)), (1-noMemory)/ratios/corners)
		}
	}
	mean := b.mean / b.weight
	variance := max(0, b.square/b.weight-mean*mean) + trigamma(count/2)
	df = 2 * inverseTrigamma(variance)
	return math.Exp(mean+math.Log(count/2)-digamma(count/2)+digamma(df/2)) * 2 / df, df
}

// belief adds up lines of powers by how likely they are.
type belief struct {
	powers               []float64
	fall                 []float64 // of the line at each, behind its corner
	top                  float64   // logarithm of the greatest likelihood, which the weights are parts of
	weight, mean, square float64   // of the logarithm of the power at 0
}

// weigh adds one line, which is flat without fall.
func (b *belief) weigh(ratio, prior float64) {
	count := float64(len(b.powers))
	var sum, logs float64
	product := 1.0
	for i, p := range b.powers {
		g := 1.0
		if b.fall != nil {
			g += ratio * b.fall[i]
		}
		sum += p / g
		if product *= g; product > 1e200 {
			logs += math.Log(product)
			product = 1
		}
	}
	scale := math.Log(sum / count)
	like := math.Log(prior) - (count*scale+logs+math.Log(product))/2
	if like > b.top {
		f := math.Exp(b.top - like)
		b.weight, b.mean, b.square, b.top = b.weight*f, b.mean*f, b.square*f, like
	}
	at, w := scale+math.Log1p(ratio), math.Exp(like-b.top)
	b.weight += w
	b.mean += w * at
	b.square += w * at * at
}

// alone is how many independent requests would say as much as these do: at least that, as far as is known.
func (s *Samples) alone() float64 {
	if s.Ends == nil {
		return aloneOf(s.Values)
	}
	each := make([]float64, s.requests())
	for i := range each {
		values := s.request(i)
		for _, v := range values {
			each[i] += v / float64(len(values))
		}
	}
	return aloneOf(each)
}

// aloneOf is alone by one sample of each request.
func aloneOf(each []float64) float64 {
	ranks := ranked(each)
	var square float64
	score := func(i int) float64 { return float64(ranks[i]) / 2 }
	for i := range ranks {
		square += score(i) * score(i)
	}
	return worth(float64(len(each)), square, sums(len(ranks), score), mostWaves)
}

// worth is how many of n requests would say as much as all of them do if they were independent:
// square is the variance that the sum of their scores would have then.
func worth(n, square float64, scores []float64, waves int) float64 {
	if square == 0 {
		return n
	}
	se, df, _ := spread(scores, waves)
	return n / max(1, se*se/square*math.Exp(math.Sqrt(2/df)))
}

// ranked are twice the ranks of values, less their mean; ties share theirs.
func ranked(values []float64) []int32 {
	order := ascending(values)
	out := make([]int32, len(values))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = int32(i + j - len(order))
		}
		i = j
	}
	return out
}
