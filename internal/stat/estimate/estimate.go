// Package estimate says between what a figure lies, and whether two differ, where the figures
// are made of samples that depend on their neighbours in time.
//
// Every figure is taken for a sum of scores, one for each request: what the request adds to the
// figure's error. How far such a sum strays follows from the slow waves among the scores, see
// spread.go; docs/compare.md has the formulas, README.md how well they keep their word.
package estimate

import (
	"math"
	"sync"

	"github.com/inferometer/inferometer/internal/stat"
)

// Confidence is the usual one.
const Confidence = 0.95

// Samples are those of one metric in one run, in the order in which their requests were sent.
type Samples struct {
	Values []float64
	Ends   []int // where the samples of each request end in Values, for metrics with several per request; nil means one each
}

// FigureKind is what a figure is: how it is worked out of samples.
type FigureKind uint8

// The kinds.
const (
	Mean FigureKind = iota
	Quantile
	Rate  // of a Flow alone
	Share // the mean of samples that are 0 or 1, such as whether a request met its objectives
)

// Statistic is what is worked out of samples.
type Statistic struct {
	Kind FigureKind
	Q    float64 // of a quantile, from 0 to 1
}

// Interval is a figure and between what it lies with the given confidence.
type Interval struct {
	Value, Lo, Hi float64
	Blocks        int  // as many independent requests, or runs, would say as much
	Known         bool // false: there is too little to say, and Lo and Hi mean nothing
}

// Intervals are the intervals of figures of one metric. Samples that are not numbers have none.
func Intervals(s *Samples, figures []Statistic, confidence float64) []Interval {
	out := make([]Interval, len(figures))
	for i, e := range estimates(s, figures) {
		out[i] = e.interval(confidence)
	}
	return out
}

// estimate is a figure with what its error is known by.
type estimate struct {
	value  float64
	known  bool
	blocks float64
	df     float64                          // degrees of freedom of the error
	limits func(t float64) (lo, hi float64) // t standard errors to either side
}

// around is an estimate whose error is alike on both sides.
func around(value, se, df float64) estimate {
	return estimate{value: value, known: true, blocks: df + 1, df: df,
		limits: func(t float64) (lo, hi float64) { return value - t*se, value + t*se }}
}

func (e *estimate) interval(confidence float64) Interval {
	out := Interval{Value: e.value, Blocks: int(e.blocks), Known: e.known}
	if e.known {
		out.Lo, out.Hi = e.limits(stat.StudentBound(1-confidence, e.df))
		out.Known = finite(out.Lo, out.Hi)
	}
	return out
}

func finite(values ...float64) bool {
	for _, v := range values {
		if v-v != 0 { // not a number, or infinite
			return false
		}
	}
	return true
}

// error is a standard error, the mean of those below and above.
func (e *estimate) error() float64 {
	lo, hi := e.limits(1)
	return (hi - lo) / 2
}

// estimatesOf are those of two sides, which are worked out at a time.
func estimatesOf(a, b *Samples, figures []Statistic) (ofA, ofB []estimate) {
	var other sync.WaitGroup
	other.Go(func() { ofB = estimates(b, figures) })
	ofA = estimates(a, figures)
	other.Wait()
	return ofA, ofB
}

func estimates(s *Samples, figures []Statistic) []estimate {
	out := make([]estimate, len(figures))
	if !s.sound() {
		for i := range out {
			out[i].value = math.NaN()
		}
		return out
	}
	alone := s.alone()
	var l ladder
	for i, f := range figures {
		switch f.Kind {
		case Mean:
			out[i] = s.mean()
		case Share:
			out[i] = s.share(alone)
		case Quantile:
			if l == nil {
				l = ladderOf(s.Values)
			}
			out[i] = s.quantile(l, f.Q, alone)
		default:
			out[i].value = math.NaN()
		}
		out[i].blocks = alone
		out[i].known = out[i].known && alone >= leastAlone
	}
	return out
}

// sound reports whether these are samples that something can be worked out of.
func (s *Samples) sound() bool {
	end := 0
	for _, e := range s.Ends {
		if e < end {
			return false
		}
		end = e
	}
	if len(s.Values) == 0 || s.Ends != nil && end != len(s.Values) {
		return false
	}
	return finite(s.Values...)
}

func (s *Samples) requests() int {
	if s.Ends == nil {
		return len(s.Values)
	}
	return len(s.Ends)
}

func (s *Samples) request(request int) []float64 {
	if s.Ends == nil {
		return s.Values[request : request+1]
	}
	begin := 0
	if request > 0 {
		begin = s.Ends[request-1]
	}
	return s.Values[begin:s.Ends[request]]
}

// scores are the sums of f over the samples of neighbouring requests: of each request, or of
// as many as make parts of the run that are fine enough.
func (s *Samples) scores(f func(values []float64) float64) []float64 {
	return sums(s.requests(), func(request int) float64 { return f(s.request(request)) })
}

// sums are those of the scores of n requests.
func sums(n int, score func(request int) float64) []float64 {
	out := make([]float64, min(n, parts))
	for i := range out {
		for r := i * n / len(out); r < (i+1)*n/len(out); r++ {
			out[i] += score(r)
		}
	}
	return out
}

// mean is a figure whose samples may be skewed: it is then more often too low than too high, and so
// is its error.
func (s *Samples) mean() estimate {
	first, n := s.Values[0], float64(len(s.Values))
	var m float64
	for _, v := range s.Values {
		m += v - first // which makes the mean of what is all the same exact
	}
	m = first + m/n
	scores := s.scores(func(values []float64) (sum float64) {
		for _, v := range values {
			sum += v - m
		}
		return sum
	})
	return meanOf(m, n, scores, mostWaves)
}

// meanOf is the mean m of n samples with these scores.
func meanOf(m, n float64, scores []float64, waves int) estimate {
	sum, df, ok := spread(scores, waves)
	if !finite(m, sum) {
		return estimate{value: math.NaN()}
	}
	se, skew := sum/n, skewness(scores)
	return estimate{value: m, known: ok, df: df, limits: func(t float64) (lo, hi float64) {
		return min(m, m-se*unskewed(t, skew)), max(m, m-se*unskewed(-t, skew))
	}}
}

// share is by Wilson's interval, which has a width where all samples are the same.
func (s *Samples) share(alone float64) estimate {
	e := s.mean()
	if !e.known {
		return e
	}
	p, n := e.value, alone
	if se := e.error(); se > 0 {
		n = p * (1 - p) / (se * se)
	}
	e.limits = func(t float64) (lo, hi float64) {
		t2 := t * t / n
		mid, half := p+t2/2, math.Sqrt(t2*(p*(1-p)+t2/4))
		return min(p, max(0, (mid-half)/(1+t2))), max(p, min(1, (mid+half)/(1+t2)))
	}
	return e
}

// quantile is by Woodruff's interval: that of the share up to the quantile, and those ranks'
// samples.
func (s *Samples) quantile(l ladder, q, alone float64) estimate {
	at := l.quantile(q)
	if !(q > 0 && q < 1) {
		return estimate{value: at}
	}
	return quantileOf(at, q, float64(len(s.Values)), alone, l, s.scores(func(values []float64) float64 {
		below := 0
		for _, v := range values {
			if v <= at {
				below++
			}
		}
		return float64(below) - q*float64(len(values))
	}), mostWaves)
}

// quantileOf is the quantile q, which is at, of n samples with these scores.
func quantileOf(at, q, n, alone float64, l ladder, scores []float64, waves int) estimate {
	sum, df, ok := spread(scores, waves)
	se := sum / n
	// Beyond the quantile there must be several samples that are worth an independent one.
	tail := min(q, 1-q)
	beyond := tail * min(n, alone)
	if se > 0 {
		beyond = min(beyond, tail*q*(1-q)/(se*se))
	}
	return estimate{value: at, known: ok && beyond >= leastBeyond, df: df, limits: func(t float64) (lo, hi float64) {
		return min(at, l.quantile(max(0, q-t*se))), max(at, l.quantile(min(1, q+t*se)))
	}}
}
