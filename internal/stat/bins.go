package stat

import (
	"math"
	"math/bits"
)

// Bins are counts of samples between edges that grow with the value: one fewer than edges.
// Each sample is at least the edge before its count and less than the one behind it.
type Bins struct {
	Edges  []int64
	Counts []int64
}

// The least number of bins grows with that of the samples, up to enoughBins.
const fewBins, enoughBins = 8, 40

// BinsOf counts a set's samples of all columns. Those below 0 count as 0. There are as many bins as
// show their shape, whether they are close or powers of ten apart.
func BinsOf(in Set, cols ...*Column) (Bins, error) {
	s := newSource(cols, nil)
	n := s.n
	if n == 0 {
		return Bins{}, nil
	}
	enough := min(max(int(2*math.Sqrt(float64(n))), fewBins), enoughBins)
	// The bounds of both sets hold those of each, and what is empty is cut off in the end.
	lo, hi := uint64(max(s.base, 0)), uint64(max(s.base+int64(s.span), 0))
	fine := 0
	for fine < 32 && cellOf(hi, fine)-cellOf(lo, fine)+1 < enough {
		fine++
	}
	first := cellOf(lo, fine)
	var all [][]int64
	err := readAll(cols, func() visitor {
		own := make([]int64, cellOf(hi, fine)-first+1)
		all = append(all, own)
		return func(_ Part, stored []int64) {
			for _, v := range stored {
				if v&int64(in) != 0 {
					own[cellOf(uint64(max(v>>setBits, 0)), fine)-first]++
				}
			}
		}
	})
	if err != nil {
		return Bins{}, err
	}
	counts := all[0]
	for _, own := range all[1:] {
		for i, n := range own {
			counts[i] += n
		}
	}
	for len(counts) > 0 && counts[0] == 0 {
		counts, first = counts[1:], first+1
	}
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	b := Bins{Counts: counts}
	for i := range len(counts) + 1 {
		b.Edges = append(b.Edges, int64(cellBegin(first+i, fine)))
	}
	return b, nil
}

// cellOf is a value's cell, of which each power of two has 1<<fine; small values have one each.
func cellOf(v uint64, fine int) int {
	e := max(bits.Len64(v)-fine-1, 0)
	return e<<fine + int(v>>e)
}

// cellBegin is the least value of a cell.
func cellBegin(i, fine int) uint64 {
	if i < 2<<fine {
		return uint64(i)
	}
	e := i>>fine - 1
	return uint64(i-e<<fine) << e
}
