package bpe

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever the merges and their order, a long run becomes what it becomes with all of them queued.
func TestMergeLong(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		letters := 1 + random.IntN(4)
		tokens := int32(letters + random.IntN(40))
		p := newPairs(200)
		ranks := random.Perm(200)
		for i := range random.IntN(120) { // ranks are in no order: what comes up may go first
			rank := uint32(ranks[i])
			if round%2 == 0 {
				rank = uint32(i)
			}
			p.put(Merge{Left: random.Int32N(tokens), Right: random.Int32N(tokens), New: random.Int32N(tokens), Rank: rank})
		}
		run := make([]int32, 100+random.IntN(2000))
		for i := range run {
			run[i] = random.Int32N(int32(letters))
			if random.IntN(3) > 0 && i > 0 {
				run[i] = run[i-1]
			}
		}
		want := new(merger)
		want.ids = slices.Clone(run)
		all := want.merge(nil, &p)
		for _, floor := range []int{0, 2, 50, 300} {
			got := &merger{ids: slices.Clone(run)}
			var list []int32
			if got.mergeLong(&p, floor) {
				list = got.merge(nil, &p)
			} else {
				list = got.ids
			}
			if !slices.Equal(list, all) {
				t.Fatalf("round %d, down to %d: %d tokens, want %d", round, floor, len(list), len(all))
			}
		}
	}
}
