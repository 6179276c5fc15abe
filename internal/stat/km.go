package stat

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Of a censored sample it is known only that it is at least some value: it was cut off
// there. The Kaplan–Meier estimate gives its weight in equal parts to all samples that are
// greater; what is then left are samples that were seen, with weights that grow where others
// were cut off, and censored samples that no seen one is beyond. Weights are constant between
// two values at which samples were cut off, so that counts and sums between those are all
// that one pass must find, and every quantile is the sample of some rank.

// mostCuts is how many values at which samples were cut off are told apart. More are rounded down
// to cutBits significant bits: at least a value is at least a smaller one.
const (
	mostCuts = 4096
	cutBits  = 11
)

// cuts are the values at which samples were cut off, ascending, and how many at each.
type cuts struct {
	at []int64
	n  []int64
}

// cutsOf reads the censored samples of the first set, or nil.
func cutsOf(cols []*Column) (*cuts, error) {
	count, round := map[int64]int64{}, false
	for _, c := range cols {
		err := c.blocks(func(stored []int64) {
			for _, s := range stored {
				if s&int64(First) == 0 {
					continue
				}
				v := s >> setBits
				if round {
					v = roundCut(v)
				}
				count[v]++
				if len(count) > mostCuts && !round {
					round, count = true, rounded(count)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if len(count) == 0 {
		return nil, nil
	}
	list := &cuts{at: slices.Sorted(maps.Keys(count))}
	for _, v := range list.at {
		list.n = append(list.n, count[v])
	}
	return list, nil
}

func rounded(count map[int64]int64) map[int64]int64 {
	coarse := map[int64]int64{}
	for v, n := range count {
		coarse[roundCut(v)] += n
	}
	return coarse
}

func roundCut(v int64) int64 {
	spare := max(bits.Len64(uint64(max(v, -v)))-cutBits, 0)
	return v >> spare << spare
}

// cell is samples of the same weight that follow one another in order.
type cell struct {
	begin  float64 // weight of all before it
	weight float64 // of each sample
	n      int64   // samples
	first  int64   // rank of its first sample among those that were seen
	at     int64   // where they were cut off; only with beyond
	beyond bool    // they are censored, and no seen sample is greater
}

// survival is the Kaplan–Meier estimate of the first set. The weights add up to the number of
// its samples, censored ones included.
type survival struct {
	*cuts
	base  int64
	parts []moments // of the seen samples between two cuts; one cut off at a value comes behind those that are equal to it
	cells []cell
	total int64
}

func newSurvival(c *cuts, base int64) *survival {
	return &survival{cuts: c, base: base, parts: make([]moments, len(c.at)+1)}
}

// add takes in a block of seen samples; nil is of none.
func (k *survival) add(stored []int64) {
	if k == nil {
		return
	}
	for _, s := range stored {
		if s&int64(First) == 0 {
			continue
		}
		i, _ := slices.BinarySearch(k.at, s>>setBits)
		one := momentsOf([]int64{s}, k.base)
		k.parts[i].add(&one)
	}
}

// merge adds what another has taken in; both are nil where there is nothing to weigh.
func (k *survival) merge(o *survival) {
	if k == nil {
		return
	}
	for i := range k.parts {
		k.parts[i].add(&o.parts[i])
	}
}

// weigh works the weights out, once all samples were added.
func (k *survival) weigh() {
	var seen, left int64
	for i := range k.parts {
		seen += k.parts[i].n
	}
	for _, n := range k.n {
		left += n
	}
	left += seen
	k.total = left
	weight, begin, first := 1.0, 0.0, int64(0)
	put := func(c cell) {
		if c.n > 0 {
			c.begin, c.weight, c.first = begin, weight, first
			k.cells = append(k.cells, c)
			begin += weight * float64(c.n)
		}
	}
	for i := range k.parts {
		n := k.parts[i].n
		put(cell{n: n})
		first += n
		left -= n
		if i == len(k.at) {
			break
		}
		if first == seen {
			put(cell{n: k.n[i], at: k.at[i], beyond: true})
			left -= k.n[i]
			continue
		}
		left -= k.n[i]
		weight *= float64(left+k.n[i]) / float64(left)
	}
}

// find is the cell of a rank among all samples, and its sample's rank among those seen.
func (k *survival) find(rank int64) (c *cell, at int64) {
	p := float64(rank) + 0.5
	i := max(sort.Search(len(k.cells), func(i int) bool { return k.cells[i].begin > p })-1, 0)
	c = &k.cells[i]
	return c, c.first + min(max(int64((p-c.begin)/c.weight), 0), c.n-1)
}

// ranks are the ranks among the seen samples that quantiles need.
func (k *survival) ranks(qs []float64, rule Rule) []int64 {
	var list []int64
	for _, q := range qs {
		lo, hi, _ := rule.ranks(k.total, q)
		for _, r := range []int64{lo, hi} {
			if c, at := k.find(r); !c.beyond {
				list = append(list, at)
			}
		}
	}
	return list
}

// quantiles reads off the quantiles of the found ranks, and which are but lower bounds.
func (k *survival) quantiles(found map[int64]uint64, qs []float64, rule Rule) (values []float64, bounds []bool) {
	value := func(rank int64) (int64, bool) {
		c, at := k.find(rank)
		if c.beyond {
			return c.at, true
		}
		return k.base + int64(found[at]), false
	}
	for _, q := range qs {
		lo, hi, w := rule.ranks(k.total, q)
		a, openA := value(lo)
		b, openB := value(hi)
		values = append(values, between(a, b, w))
		bounds = append(bounds, openA || openB && w > 0)
	}
	return values, bounds
}

// describe puts mean, deviation and extent of the estimate in place of those of the seen samples.
func (k *survival) describe(s *Summary) {
	s.Seen, s.Censored = s.Max, k.total-s.N
	var sum, squares float64
	part := 0
	for i := range k.cells {
		c := &k.cells[i]
		if c.beyond {
			d, w := float64(c.at-k.base), c.weight*float64(c.n)
			sum, squares = sum+w*d, squares+w*d*d
			s.Beyond += c.n
			s.Max = max(s.Max, c.at)
			continue
		}
		for k.parts[part].n == 0 {
			part++
		}
		m := &k.parts[part]
		part++
		a, _ := words(m.sum[:]).Float64()
		b, _ := words(m.squares[:]).Float64()
		sum, squares = sum+c.weight*a, squares+c.weight*b
	}
	n := float64(k.total)
	s.Mean = float64(k.base) + sum/n
	s.Std = math.Sqrt(max(squares/n-sum/n*(sum/n), 0))
}

// Above counts the samples of the first set that are greater than v.
func Above(v int64, cols ...*Column) (n int64, err error) {
	for _, c := range cols {
		err := c.blocks(func(stored []int64) {
			for _, s := range stored {
				if s&int64(First) != 0 && s>>setBits > v {
					n++
				}
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}
