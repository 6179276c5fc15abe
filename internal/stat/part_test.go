package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDivide: counts, sums and quantiles by part are those of the samples, also of columns
// that were merged from two, spilled to disk, and moved to another pool.
func TestDivide(t *testing.T) {
	for name, shape := range shapes {
		if name == "extremes" { // sums of magnitudes that no time span has
			continue
		}
		for _, n := range []int{1, 100, 20_000} {
			r := rand.New(rand.NewPCG(3, uint64(n)))
			pool, other := NewPool(t.TempDir(), 1<<16), NewPool(t.TempDir(), 1<<20)
			cols := []*Column{pool.Column(), pool.Column(), other.Column()}
			const parts = 7
			var want [2][parts][]int64
			var all [2][]int64
			for i := range n {
				part := i / 3 % parts
				v, set, c := shape(r), Set(1+r.IntN(3)), cols[r.IntN(len(cols))]
				c.In(Part{Sent: int64(part), End: -1})
				c.AppendAll([]int64{v, v - 1}, set)
				for k := range want {
					if set&(1<<k) != 0 {
						want[k][part] = append(want[k][part], v, v-1)
						all[k] = append(all[k], v, v-1)
					}
				}
			}
			for _, c := range cols[1:] {
				if err := cols[0].Merge(c); err != nil {
					t.Fatal(err)
				}
			}
			var bounds [2][]float64
			for k := range all {
				slices.Sort(all[k])
				for _, q := range []float64{0.1, 0.5, 0.9} {
					bounds[k] = append(bounds[k], Linear.Quantile(all[k], q))
				}
				if len(all[k]) == 0 {
					bounds[k] = nil
				}
			}
			got, err := Divide(bounds, parts, func(p Part) int { return int(p.Sent) }, cols[0])
			if err != nil {
				t.Fatal(err)
			}
			for k := range want {
				checkDivision(t, name, &got[k], want[k][:], bounds[k], all[k])
			}
			pool.Close()
			other.Close()
		}
	}
}

func checkDivision(t *testing.T, name string, got *Division, want [][]int64, bounds []float64, all []int64) {
	t.Helper()
	if got.Len() != int64(len(all)) {
		t.Fatalf("%s: %d samples, want %d", name, got.Len(), len(all))
	}
	for part, values := range want {
		var sum float64
		upTo := make([]int64, len(bounds))
		for _, v := range values {
			sum += float64(v) - got.Base
			for k, b := range bounds {
				if v <= int64(math.Floor(b)) {
					upTo[k]++
				}
			}
		}
		if got.N[part] != int64(len(values)) || math.Abs(got.Sum[part]-sum) > 1e-9*math.Abs(sum) {
			t.Fatalf("%s: part %d has %d samples of %v, want %d of %v", name, part, got.N[part], got.Sum[part], len(values), sum)
		}
		for k := range bounds {
			if got.UpTo[k][part] != upTo[k] {
				t.Fatalf("%s: part %d has %d samples up to %v, want %d", name, part, got.UpTo[k][part], bounds[k], upTo[k])
			}
		}
	}
	for _, q := range []float64{0, 0.01, 0.4, 0.95, 1} {
		if len(all) == 0 {
			continue
		}
		at, exact := got.Quantile(q), Linear.Quantile(all, q)
		if math.Abs(at-exact) > (exact-got.Base)/1024 {
			t.Errorf("%s: quantile %v of %d is %v, want %v", name, q, len(all), at, exact)
		}
	}
}
func BenchmarkDivide(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPool(b.TempDir(), 64<<20)
	defer p.Close()
	c := p.Column()
	const n = 2 << 20
	for i := range n {
		c.In(Part{End: int64(i >> 12)})
		c.Append(10_000_000+r.Int64N(1_000_000), Both)
	}
	bounds := []float64{10_010_000, 10_050_000, 10_100_000, 10_250_000, 10_500_000, 10_750_000, 10_900_000, 10_950_000, 10_990_000, 10_999_000}
	for b.Loop() {
		if _, err := Divide([2][]float64{bounds, bounds}, n>>12, func(p Part) int { return int(p.End) }, c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
}
