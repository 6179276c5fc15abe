package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSummarizeEach: lots that share columns are described as if each were by itself, whether they
// are few samples or many.
func TestSummarizeEach(t *testing.T) {
	qs := []float64{0, 0.01, 0.5, 0.9, 0.99, 1}
	for seed, n := range []int{0, 1, 50, fewSamples - 20, fewSamples + 20, 60_000} {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		pool := NewPool(t.TempDir(), 1<<16)
		defer pool.Close()
		fill := func(n int) *Column {
			c := pool.Column()
			for range n {
				c.Append(random.Int64N(1<<uint(1+random.IntN(40)))-5, Set(1+random.IntN(3)))
			}
			return c
		}
		shared := []*Column{fill(n), fill(n / 10)}
		others := [][]*Column{nil, {fill(30)}, {fill(n / 20), fill(1)}}
		got, err := SummarizeEach(qs, Linear, nil, shared, others...)
		if err != nil {
			t.Fatal(err)
		}
		for i, own := range others {
			want, err := Summarize(qs, Linear, append(append([]*Column{}, shared...), own...)...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got[i]); d != "" {
				t.Errorf("%d samples, lot %d: %s", n, i, d)
			}
		}
	}
}
