package estimate

import (
	"math"
	"slices"
)

// Parts are the samples of one metric by parts of a run, in the order of time: where there are
// too many requests to keep the samples of each. A part is one score.
type Parts struct {
	Single bool // each part is one request; else it is all of a span of time, as long as the others

	N    []int64   // samples of each
	Sum  []float64 // of each, the sum of the samples' distances from Base
	Base float64

	Mean   float64
	Q      []float64             // which quantiles, ascending
	Values []float64             // what they are
	UpTo   [][]int64             // samples up to each, by quantile and part
	At     func(float64) float64 // any quantile

	// Shortest is how long the shortest wave is at least, in parts. What a response takes
	// decides in which span it ends: waves that are not longer than that say nothing.
	Shortest float64
	// Alone is how many independent requests would say as much; 0: it is as these samples say.
	Alone float64
}

// leastEven is over how many spans samples must be spread.
const leastEven = leastScores

// OfParts are the intervals of the mean and of the quantiles.
func OfParts(p *Parts, confidence float64) (mean Interval, quantiles []Interval) {
	p = p.kept()
	var n float64
	for _, k := range p.N {
		n += float64(k)
	}
	alone, waves := p.Alone, p.waves()
	if alone == 0 {
		alone = p.Independent()
	}
	interval := func(e estimate) Interval {
		e.blocks = alone
		e.known = e.known && alone >= leastAlone
		return e.interval(confidence)
	}
	mean = interval(meanOf(p.Mean, n, p.scores(func(i int) float64 { return p.Sum[i] - (p.Mean-p.Base)*float64(p.N[i]) }), waves))
	for k, q := range p.Q {
		if min(q, 1-q)*min(n, alone) < leastBeyond { // which needs no more to be told
			quantiles = append(quantiles, Interval{Value: p.Values[k]})
			continue
		}
		scores := p.scores(func(i int) float64 { return float64(p.UpTo[k][i]) - q*float64(p.N[i]) })
		quantiles = append(quantiles, interval(quantileOf(p.Values[k], q, n, alone, ladderFunc(p.At), scores, waves)))
	}
	return mean, quantiles
}

// ladderFunc is a ladder that is worked out elsewhere.
type ladderFunc func(q float64) float64

func (f ladderFunc) quantile(q float64) float64 { return f(q) }

// enough is how many scores are as good as any more of them: the shortest wave is 16 of them long.
const enough = 8 * mostWaves

// scores are the sums of f over neighbouring parts, where there are many.
func (p *Parts) scores(f func(i int) float64) []float64 {
	n := len(p.N)
	out := make([]float64, min(n, enough))
	for k := range out {
		for i := k * n / len(out); i < (k+1)*n/len(out); i++ {
			out[k] += f(i)
		}
	}
	return out
}

// kept are the parts without requests that have no samples, or empty ends before and behind all
// spans.
func (p *Parts) kept() *Parts {
	if !slices.Contains(p.N, 0) {
		return p
	}
	out := *p
	out.N, out.Sum, out.UpTo = nil, nil, make([][]int64, len(p.UpTo))
	first, last := len(p.N), -1
	for i, n := range p.N {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	for i := first; i <= last; i++ {
		if p.N[i] == 0 && p.Single {
			continue
		}
		out.N, out.Sum = append(out.N, p.N[i]), append(out.Sum, p.Sum[i])
		for k := range p.UpTo {
			out.UpTo[k] = append(out.UpTo[k], p.UpTo[k][i])
		}
	}
	return &out
}

// waves is how many the parts can tell of.
func (p *Parts) waves() int {
	if p.Single {
		return mostWaves
	}
	return wavesOf(p.N, p.Shortest)
}

// wavesOf is how many waves spans of so many samples tell of: none where a few hold most of them.
func wavesOf(counts []int64, shortest float64) int {
	var sum, square float64
	for _, n := range counts {
		sum, square = sum+float64(n), square+float64(n)*float64(n)
	}
	even := sum * sum / max(1, square)
	if even < leastEven {
		return 0
	}
	return int(min(mostWaves, 2*even/leastShort, 2*float64(len(counts))/max(1, shortest)))
}

// Independent is how many independent requests, of one sample each, would say as much as these.
func (p *Parts) Independent() float64 {
	p = p.kept()
	if p.Single {
		means := make([]float64, len(p.N))
		for i := range means {
			means[i] = p.Sum[i] / float64(p.N[i])
		}
		return aloneOf(means)
	}
	// By ranks, as coarse as the quantiles.
	counts := make([]float64, len(p.UpTo)+1)
	between := func(k, i int) float64 {
		upTo := p.N[i]
		if k < len(p.UpTo) {
			upTo = p.UpTo[k][i]
		}
		if k > 0 {
			upTo -= p.UpTo[k-1][i]
		}
		return float64(upTo)
	}
	var n float64
	for k := range counts {
		for i := range p.N {
			counts[k] += between(k, i)
		}
		n += counts[k]
	}
	ranks := make([]float64, len(counts))
	var below, square float64
	for k, c := range counts {
		ranks[k] = below + c/2 - n/2
		square += c * ranks[k] * ranks[k]
		below += c
	}
	return worth(n, square, p.scores(func(i int) (sum float64) {
		for k, r := range ranks {
			sum += between(k, i) * r
		}
		return sum
	}), p.waves())
}

// Spans are amounts that came in spans of time, one as long as the other.
type Spans struct {
	Amount   []float64
	Count    []int64 // of what came
	Zero     float64 // when the first span begins, in seconds
	Width    float64
	Begin    float64 // the time that the rate is over
	End      float64
	Shortest float64 // as of Parts
}

// OfSpans is the interval of a rate, in amount per second.
func OfSpans(s *Spans, confidence float64) Interval {
	length := s.End - s.Begin
	if !(length > 0) || !(s.Width > 0) {
		return Interval{Value: math.NaN()}
	}
	var sum float64
	var count int64
	for i, a := range s.Amount {
		sum += a
		count += s.Count[i]
	}
	var scores []float64
	var counts []int64
	for i, a := range s.Amount {
		from := s.Zero + float64(i)*s.Width
		if in := min(from+s.Width, s.End) - max(from, s.Begin); in > 0 || a > 0 {
			scores, counts = append(scores, a-sum/length*max(0, in)), append(counts, s.Count[i])
		}
	}
	err, df, ok := spread(scores, wavesOf(counts, s.Shortest))
	e := around(sum/length, err/length, df)
	e.known = ok && count >= leastEvents
	return e.interval(confidence)
}
