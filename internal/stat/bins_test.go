package stat

import (
	"math/rand/v2"
	"testing"
)

func TestBinsHoldEverySample(t *testing.T) {
	for name, shape := range shapes {
		if name == "extremes" { // magnitudes that no time span has
			continue
		}
		for _, n := range []int{0, 1, 2, 500, 20_000} {
			r := rand.New(rand.NewPCG(9, uint64(n)))
			p := NewPool(t.TempDir(), 1<<20)
			c := p.Column()
			var in []int64
			for range n {
				v, set := shape(r), Set(1+r.IntN(3))
				c.Append(v, set)
				if set&First != 0 {
					in = append(in, max(v, 0))
				}
			}
			b, err := BinsOf(First, c)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]int64, len(b.Counts))
			for _, v := range in {
				for i := range want {
					if b.Edges[i] <= v && v < b.Edges[i+1] {
						want[i]++
					}
				}
			}
			var sum int64
			for i, k := range b.Counts {
				if k != want[i] {
					t.Errorf("%s: %d samples from %d to %d, want %d", name, k, b.Edges[i], b.Edges[i+1], want[i])
				}
				sum += k
			}
			if sum != int64(len(in)) {
				t.Errorf("%s: %d of %d samples are counted", name, sum, len(in))
			}
			if len(b.Counts) > 2*enoughBins {
				t.Errorf("%s: %d bins", name, len(b.Counts))
			}
			p.Close()
		}
	}
}
