package stat

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Places are those of a stable sort, whatever the keys have in common.
func TestAscending(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, mostCompared, mostCompared + 1, 5000} {
		for name, draw := range map[string]func(i int) uint64{
			"random":   func(int) uint64 { return r.Uint64() },
			"few":      func(int) uint64 { return r.Uint64N(5) << 40 },
			"the same": func(int) uint64 { return 1 << 63 },
			"sorted":   func(i int) uint64 { return uint64(i / 2) },
			"nearly":   func(i int) uint64 { return uint64(i) + r.Uint64N(100) },
			"short":    func(int) uint64 { return 1 << r.UintN(30) >> 1 },
			"halves":   func(int) uint64 { return r.Uint64N(3)<<32 | r.Uint64N(2000) },
		} {
			keys, short := make([]uint64, n), make([]uint32, n)
			want := make([]uint32, n)
			for i := range keys {
				keys[i], want[i] = draw(i), uint32(i)
				short[i] = uint32(keys[i] >> 32)
			}
			slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
			if got := Ascending(keys); !slices.Equal(got, want) {
				t.Errorf("%d keys, %s: %v, want %v", n, name, got, want)
			}
			slices.Sort(want)
			slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(short[a], short[b]) })
			if got := AscendingShort(short); !slices.Equal(got, want) {
				t.Errorf("%d short keys, %s: %v, want %v", n, name, got, want)
			}
		}
	}
}
