package estimate

import (
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/stat"
)

// ladder has samples in the order of their size.
type ladder interface {
	quantile(q float64) float64 // the quantile q
}

// ladderOf sorts samples, or counts them in bins where there are so many that it would take long.
func ladderOf(values []float64) ladder {
	if len(values) > sortable {
		return binned(values)
	}
	s := slices.Clone(values)
	slices.Sort(s)
	return sorted(s)
}

// sortable is the most samples that are sorted; more are counted in at most so many bins.
const (
	sortable = 1 << 21
	mostBins = 1 << 20
)

type sorted []float64

func (s sorted) quantile(q float64) float64 { return stat.Linear.QuantileOf(s, q) }

// bins count samples that begin with the same bits, and so differ by less than 1 in 4,096 if
// they do not span too many magnitudes.
type bins struct {
	upTo   []int64 // how many samples there are up to the end of each
	lo, hi []float64
}

// key orders samples as their values do.
func key(v float64) uint64 {
	b := math.Float64bits(v)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// ascending are the places of samples in the order of size. Most fit the 32 bits that they were
// kept in.
func ascending(values []float64) []uint32 {
	short := make([]uint32, len(values))
	for i, v := range values {
		f := float32(v)
		if float64(f) != v {
			return ascendingLong(values)
		}
		if short[i] = math.Float32bits(f); short[i]>>31 != 0 {
			short[i] = ^short[i]
		} else {
			short[i] |= 1 << 31
		}
	}
	return stat.AscendingShort(short)
}

func ascendingLong(values []float64) []uint32 {
	keys := make([]uint64, len(values))
	for i, v := range values {
		keys[i] = key(v)
	}
	return stat.Ascending(keys)
}

func binned(values []float64) *bins {
	first, last := key(slices.Min(values)), key(slices.Max(values))
	shift := 52 - 12
	for last>>shift-first>>shift >= mostBins {
		shift++
	}
	base := first >> shift
	n := last>>shift - base + 1
	b := &bins{upTo: make([]int64, n), lo: make([]float64, n), hi: make([]float64, n)}
	for _, v := range values {
		i := key(v)>>shift - base
		if b.upTo[i] == 0 {
			b.lo[i], b.hi[i] = v, v
		} else {
			b.lo[i], b.hi[i] = min(b.lo[i], v), max(b.hi[i], v)
		}
		b.upTo[i]++
	}
	for i := 1; i < len(b.upTo); i++ {
		b.upTo[i] += b.upTo[i-1]
	}
	return b
}

// quantile takes the samples of a bin for evenly spread from its least to its greatest.
func (b *bins) quantile(q float64) float64 {
	rank := q * float64(b.upTo[len(b.upTo)-1]-1)
	i, _ := slices.BinarySearch(b.upTo, int64(rank)+1)
	var before int64
	if i > 0 {
		before = b.upTo[i-1]
	}
	if count := b.upTo[i] - before; count > 1 {
		return b.lo[i] + (b.hi[i]-b.lo[i])*min(1, (rank-float64(before))/float64(count-1))
	}
	return b.lo[i]
}
