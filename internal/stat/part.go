package stat

import (
	"math"
	"math/bits"
	"slices"
)

// Part is where in a run samples belong: to one request, by when it was sent and when it
// ended, or to all requests that ended in a span of time.
type Part struct{ Sent, End int64 }

// In says that the samples that are appended next belong to part p.
func (c *Column) In(p Part) {
	if c.parted && p == c.part {
		return
	}
	c.pack()
	c.part, c.parted = p, true
}

// Division is the samples of one set by parts, and in the order of their size.
type Division struct {
	N    []int64   // samples of each part
	Sum  []float64 // of each part: the sum of its samples' distances from Base
	Base float64   // the least sample of both sets
	// UpTo is how many samples of each part are at most each bound: UpTo[bound][part].
	UpTo [][]int64

	n      int64
	values []int64 // ascending, where they are few
	cells  cells   // else how many there are in each cell
	set    Set
}

// Divide divides both sets of the samples of all columns into parts: First, then Second.
// place gives the number of a part, below parts. The bounds of each set ascend; there are at
// most mostBounds. Like Summarize it needs memory for counters only, and it reads the
// columns once, with place called by several goroutines.
func Divide(bounds [2][]float64, parts int, place func(Part) int, cols ...*Column) ([2]Division, error) {
	s := newSource(cols, nil)
	var all []*divider
	err := readAll(cols, func() visitor {
		d := newDivider(s, bounds, parts)
		all = append(all, d)
		return func(part Part, stored []int64) { d.add(place(part), stored) }
	})
	if len(all) == 0 {
		all = append(all, newDivider(s, bounds, parts))
	}
	d := all[0]
	for _, o := range all[1:] {
		d.merge(o)
	}
	d.finish()
	return d.out, err
}

type divider struct {
	base   int64
	bounds [2][]uint64
	out    [2]Division
	sums   [][2][2]uint64 // by part and set, in 128 bits
	cells  cells          // nil means samples are few
	// table is the number of bounds below each cell, by set; mixed where one lies inside it.
	table [2][]uint8
	at    [blockLen]int32 // the cells of the samples that are being added, of each run of equal ones the first
}

const (
	mixed      = math.MaxUint8
	mostBounds = 15 // of a set
)

// newDivider prepares for the samples of a source.
func newDivider(s *source, bounds [2][]float64, parts int) *divider {
	d := &divider{base: s.base, sums: make([][2][2]uint64, parts)}
	for i := range d.out {
		d.out[i] = Division{N: make([]int64, parts), Sum: make([]float64, parts), Base: float64(s.base), set: Set(1 << i)}
		for _, b := range bounds[i] {
			d.bounds[i] = append(d.bounds[i], uint64(max(int64(math.Floor(b)), s.base))-uint64(s.base))
			d.out[i].UpTo = append(d.out[i].UpTo, make([]int64, parts))
		}
	}
	if s.n > fewSamples {
		d.count(rootIndex(s.span) + 1)
	}
	return d
}

// merge adds what another divider of the same source has found.
func (d *divider) merge(o *divider) {
	for i := range d.out {
		to, from := &d.out[i], &o.out[i]
		to.values = append(to.values, from.values...)
		for part, n := range from.N {
			to.N[part] += n
			for k := range to.UpTo {
				to.UpTo[k][part] += from.UpTo[k][part]
			}
			sum, other := &d.sums[part][i], &o.sums[part][i]
			var c uint64
			sum[0], c = bits.Add64(sum[0], other[0], 0)
			sum[1] += other[1] + c
		}
	}
	for i := range d.cells {
		for k := range d.cells[i] {
			d.cells[i][k] += o.cells[i][k]
		}
	}
}

// count makes the cells, and the table of bounds for them.
func (d *divider) count(n int) {
	d.cells = make(cells, n)
	for i := range d.table {
		d.table[i] = make([]uint8, n)
		for k := range n {
			lo, width := rootCell(k)
			first := d.below(i, lo)
			if d.below(i, lo+1<<width-1) != first {
				first = mixed
			}
			d.table[i][k] = uint8(first)
		}
	}
}

// below is how many bounds of a set are less than a distance.
func (d *divider) below(set int, distance uint64) int {
	n := 0
	for n < len(d.bounds[set]) && d.bounds[set][n] < distance {
		n++
	}
	return n
}

func (d *divider) add(part int, stored []int64) {
	if d.cells != nil {
		for i := 0; i < len(stored); {
			s, from := stored[i], i
			for i++; i < len(stored) && stored[i] == s; i++ {
			}
			cell := rootIndex(uint64(s>>setBits) - uint64(d.base))
			d.cells[cell][s&int64(Both)] += uint32(i - from)
			d.at[from] = int32(cell)
		}
	}
	for i := range d.out {
		d.addTo(i, part, stored)
	}
}

// addTo adds those samples of one part that are in a set.
func (d *divider) addTo(set, part int, stored []int64) {
	var over [mostBounds + 1]int64 // by number of bounds below
	out, sum, table := &d.out[set], d.sums[part][set], d.table[set]
	for i := 0; i < len(stored); {
		s, at := stored[i], i
		for i++; i < len(stored) && stored[i] == s; i++ {
		}
		equal := i - at
		if s>>set&1 == 0 {
			continue
		}
		distance := uint64(s>>setBits) - uint64(d.base)
		hi, lo := bits.Mul64(distance, uint64(equal))
		var carry uint64
		sum[0], carry = bits.Add64(sum[0], lo, 0)
		sum[1] += hi + carry
		below := uint8(mixed)
		if d.cells != nil {
			below = table[d.at[at]]
		} else {
			for range equal {
				out.values = append(out.values, s>>setBits)
			}
		}
		if below == mixed {
			below = uint8(d.below(set, distance))
		}
		over[below&mostBounds] += int64(equal)
	}
	d.sums[part][set] = sum
	var upTo int64
	for k := range out.UpTo {
		upTo += over[k]
		out.UpTo[k][part] += upTo
	}
	out.N[part] += upTo + over[len(out.UpTo)]
}

// finish works out what is known once all samples are in.
func (d *divider) finish() {
	for i := range d.out {
		out := &d.out[i]
		out.cells = d.cells
		slices.Sort(out.values)
		for part, n := range out.N {
			out.n += n
			out.Sum[part] = math.Ldexp(float64(d.sums[part][i][1]), 64) + float64(d.sums[part][i][0])
		}
	}
}

// Len is the number of samples.
func (d *Division) Len() int64 { return d.n }

// Quantile is the quantile q, to 1 in 2,048 of its distance from the least sample.
func (d *Division) Quantile(q float64) float64 {
	if d.n == 0 {
		return math.NaN()
	}
	if d.cells == nil {
		return Linear.Quantile(d.values, q)
	}
	lo, hi, weight := Linear.ranks(d.n, q)
	return between(d.ranked(lo), d.ranked(hi), weight)
}

// ranked is the sample of a rank: those of a cell are taken for evenly spread.
func (d *Division) ranked(rank int64) float64 {
	for i := range d.cells {
		n := int64(d.cells[i][d.set]) + int64(d.cells[i][Both])
		if rank < n {
			lo, width := rootCell(i)
			within := 0.0
			if width > 0 {
				within = (float64(rank) + 0.5) / float64(n) * float64(uint64(1)<<width)
			}
			return d.Base + float64(lo) + within
		}
		rank -= n
	}
	return math.NaN()
}
