package stat

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Summary describes the samples of one set.
type Summary struct {
	N         int64
	Min, Max  int64
	Mean      float64
	Std       float64   // of the population: the divisor is N
	Quantiles []float64 // in the order they were asked for; nil when N is 0

	// Where samples were cut off; else none of these is set.
	Censored int64  // those samples, which are not in N
	Beyond   int64  // those of them that were cut off at no less than Seen: Mean, Std and Max are lower bounds
	Seen     int64  // the greatest sample that was not cut off
	Bounds   []bool // of Quantiles: it is a lower bound
}

// maxSamples bounds what one summary can count: its counters have 32 bits.
const maxSamples = math.MaxUint32

// Summarize describes both sets of the samples of all columns together: First, then Second.
// Quantiles are exact. It reads the columns a few times, with memory for counters alone.
func Summarize(qs []float64, rule Rule, cols ...*Column) ([2]Summary, error) {
	all, err := SummarizeEach(qs, rule, nil, cols, nil)
	return all[0], err
}

// SummarizeEach describes several lots of samples that have most of them in common: the shared
// columns together with each of the others, which are read as often as if they were one lot. Of
// censored samples, which all lots have, it is known that they are at least so great as they are
// there. Mean, deviation and quantiles of the first set are then those of the Kaplan–Meier
// estimate. Samples that were cut off beyond all seen ones count as what they were then, and
// what depends on them is a lower bound.
func SummarizeEach(qs []float64, rule Rule, censored, shared []*Column, others ...[]*Column) ([][2]Summary, error) {
	out := make([][2]Summary, len(others))
	cut, err := cutsOf(censored)
	if err != nil {
		return out, fmt.Errorf("read the samples that were cut off: %w", err)
	}
	s := newSource(shared, others)
	for i := range s.lots {
		if n := s.n + s.lots[i].n; n > maxSamples {
			return out, fmt.Errorf("summarize %d samples: at most %d can be counted", n, int64(maxSamples))
		}
	}
	if err := s.count(cut); err != nil {
		return out, err
	}
	for i := range s.lots {
		s.lots[i].want(s.base, qs, rule)
	}
	for s.open() {
		if err := s.fill(); err != nil {
			return out, err
		}
	}
	for i := range s.lots {
		out[i] = s.lots[i].summaries(s.base, qs, rule)
	}
	return out, nil
}

// moments are exact sums over the distances of one set's samples from the base: 128
// bits hold any sum of them, 192 bits any sum of their squares.
type moments struct {
	n        int64
	min, max uint64
	sum      [2]uint64
	squares  [3]uint64
}

// addMoments adds a block of samples to the times of both sets.
func addMoments(m *[2]moments, stored []int64, base int64) {
	every := int64(Both)
	for _, s := range stored {
		every &= s
	}
	all := momentsOf(stored, base)
	for i := range m {
		if every>>i&1 == 1 {
			m[i].add(&all)
			continue
		}
		var own [blockLen]int64
		n := 0
		for _, s := range stored {
			if s>>i&1 == 1 {
				own[n] = s
				n++
			}
		}
		some := momentsOf(own[:n], base)
		m[i].add(&some)
	}
}

// momentsOf sums a block of samples, whatever sets they are in.
func momentsOf(stored []int64, base int64) moments {
	var sum, low, high, top, c uint64
	least := uint64(math.MaxUint64)
	for _, s := range stored {
		d := uint64(s>>setBits) - uint64(base)
		least, top = min(least, d), max(top, d)
		sum += d
		low, c = bits.Add64(low, d*d, 0)
		high += c
	}
	if top > math.MaxUint32 {
		return wideMoments(stored, base)
	}
	return moments{n: int64(len(stored)), min: least, max: top, sum: [2]uint64{sum, 0}, squares: [3]uint64{low, high, 0}}
}

// wideMoments is momentsOf for distances whose squares need more than 64 bits.
func wideMoments(stored []int64, base int64) moments {
	m := moments{n: int64(len(stored)), min: math.MaxUint64}
	var c uint64
	for _, s := range stored {
		d := uint64(s>>setBits) - uint64(base)
		m.min, m.max = min(m.min, d), max(m.max, d)
		m.sum[0], c = bits.Add64(m.sum[0], d, 0)
		m.sum[1] += c
		hi, lo := bits.Mul64(d, d)
		m.squares[0], c = bits.Add64(m.squares[0], lo, 0)
		m.squares[1], c = bits.Add64(m.squares[1], hi, c)
		m.squares[2] += c
	}
	return m
}

func (m *moments) add(o *moments) {
	m.n += o.n
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], o.sum[0], 0)
	m.sum[1] += o.sum[1] + c
	m.squares[0], c = bits.Add64(m.squares[0], o.squares[0], 0)
	m.squares[1], c = bits.Add64(m.squares[1], o.squares[1], c)
	m.squares[2] += o.squares[2] + c
}

// summary works out mean and deviation without rounding before the last step:
// where samples lie close together, the difference of their sums is all there is.
func (m *moments) summary(base int64) Summary {
	if m.n == 0 {
		return Summary{}
	}
	n := big.NewInt(m.n)
	sum := words(m.sum[:])
	// n²·variance = n·Σd² − (Σd)²
	spread := new(big.Int).Mul(n, words(m.squares[:]))
	spread.Sub(spread, new(big.Int).Mul(sum, sum))
	mean := new(big.Int).Mul(n, big.NewInt(base))
	mean.Add(mean, sum)
	avg, _ := new(big.Rat).SetFrac(mean, n).Float64()
	dev, _ := new(big.Float).Sqrt(new(big.Float).SetInt(spread)).Float64()
	return Summary{
		N:    m.n,
		Min:  base + int64(m.min),
		Max:  base + int64(m.max),
		Mean: avg,
		Std:  dev / float64(m.n),
	}
}

// words is the number whose 64-bit digits are w, the lowest first.
func words(w []uint64) *big.Int {
	z := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		z.Lsh(z, 64)
		z.Or(z, new(big.Int).SetUint64(w[i]))
	}
	return z
}
