package stat

import "math/bits"

const (
	// distinctShare is about how many different samples a pass of Distinct remembers: 4 MiB
	// of them, half of which is room.
	distinctShare = 1 << 18
	// distinctPasses is how many passes it takes at most: with more than 8 million samples
	// it remembers more in each, so that its time stays in proportion to them.
	distinctPasses = 32
)

// Distinct is how many different samples there are, whatever sets they are in. It looks at
// one share of the values in each pass, to remember few of them at a time.
func (c *Column) Distinct() (int64, error) {
	n := c.Len()
	shares := uint64(min(n/distinctShare+1, distinctPasses))
	var total int64
	table := newTable(n / int64(shares))
	for share := range shares {
		table.reset()
		err := c.blocks(func(stored []int64) {
			for _, s := range stored {
				h := scatter(uint64(s >> setBits))
				if at, _ := bits.Mul64(h, shares); at == share {
					table.add(h)
				}
			}
		})
		if err != nil {
			return 0, err
		}
		total += table.len()
	}
	return total, nil
}

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

// grow doubles the places, for a share that more values fell into than was to be expected.
func (t *table) grow() {
	was := t.places
	t.places, t.taken = make([]uint64, 2*len(was)), 0
	for _, v := range was {
		if v != 0 {
			t.add(v)
		}
	}
}
