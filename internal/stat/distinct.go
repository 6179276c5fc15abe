package stat

import (
	"math"
	"math/bits"
)

const (
	// distinctShare is how many different samples a pass of Distinct remembers: 4 MiB of them, half of
	// which is room.
	distinctShare = 1 << 18
	// distinctPasses is how many passes it takes, give or take a few: with more than 8 million samples
	// it remembers more in each, so that its time stays in proportion to them.
	distinctPasses = 32
)

// Distinct is how many different samples there are, whatever sets they are in. It remembers few of them
// at a time: where there turn out to be more, a pass goes on with some of the values, and others follow.
func (c *Column) Distinct() (int64, error) {
	most := int(max(distinctShare, c.Len()/distinctPasses))
	table := newTable(0)
	var total int64
	first, last := uint64(0), uint64(math.MaxUint64) // scattered values that a pass looks at
	for {
		table.reset()
		err := c.blocks(func(stored []int64) {
			for _, s := range stored {
				h := scatter(uint64(s >> setBits))
				if h-first > last-first {
					continue
				}
				for table.add(h); table.taken > most; table.upTo(last) {
					last = first + (last-first)/2
				}
			}
		})
		if err != nil {
			return 0, err
		}
		total += table.len()
		if last == math.MaxUint64 {
			return total, nil
		}
		width := float64(last-first) * float64(most) / float64(table.taken+1)
		first = last + 1
		last = math.MaxUint64
		if width *= distinctRoom; width < float64(last-first) {
			last = first + uint64(width)
		}
	}
}

// distinctRoom is what share of the samples that it can remember a pass is meant to find.
const distinctRoom = 7.0 / 8

// scatter spreads values over all numbers, each to one of its own.
func scatter(v uint64) uint64 {
	v ^= v >> 32
	v *= 0x9e3779b97f4a7c15
	v ^= v >> 29
	v *= 0xbf58476d1ce4e5b9
	return v ^ v>>32
}

// table is a set of scattered values: each lies in the first free place from the one that
// its low bits name.
type table struct {
	places []uint64 // 0: free; as many as a power of two
	taken  int
	zero   bool // the value 0 is in the set
}

func newTable(n int64) *table {
	return &table{places: make([]uint64, 1<<bits.Len64(uint64(2*max(n, 8)-1)))}
}

func (t *table) reset() {
	clear(t.places)
	t.taken, t.zero = 0, false
}

func (t *table) len() int64 {
	if t.zero {
		return int64(t.taken) + 1
	}
	return int64(t.taken)
}

func (t *table) add(v uint64) {
	if v == 0 {
		t.zero = true
		return
	}
	mask := uint64(len(t.places) - 1)
	i := v & mask
	for t.places[i] != 0 {
		if t.places[i] == v {
			return
		}
		i = (i + 1) & mask
	}
	t.places[i] = v
	if t.taken++; t.taken > len(t.places)*3/4 {
		t.grow()
	}
}

// grow doubles the places.
func (t *table) grow() { t.refill(2*len(t.places), math.MaxUint64) }

// upTo keeps the values up to one of them.
func (t *table) upTo(last uint64) { t.refill(len(t.places), last) }

func (t *table) refill(places int, last uint64) {
	was := t.places
	t.places, t.taken = make([]uint64, places), 0
	for _, v := range was {
		if v != 0 && v <= last {
			t.add(v)
		}
	}
}
