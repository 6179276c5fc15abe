package stat

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

var testQs = []float64{0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}

// naive computes what Summarize must give, the plain way.
func naive(vals []int64, qs []float64, rule Rule) Summary {
	if len(vals) == 0 {
		return Summary{}
	}
	s := slices.Clone(vals)
	slices.Sort(s)
	out := Summary{N: int64(len(s)), Min: s[0], Max: s[len(s)-1]}
	var sum float64
	for _, v := range s {
		sum += float64(v - s[0])
	}
	d := sum / float64(len(s))
	out.Mean = float64(s[0]) + d
	var m2 float64
	for _, v := range s {
		x := float64(v-s[0]) - d
		m2 += x * x
	}
	out.Std = math.Sqrt(m2 / float64(len(s)))
	for _, q := range qs {
		out.Quantiles = append(out.Quantiles, rule.Quantile(s, q))
	}
	return out
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1)
}

func checkSummary(t *testing.T, what string, got, want Summary) {
	t.Helper()
	if got.N != want.N || got.Min != want.Min || got.Max != want.Max {
		t.Errorf("%s: n %d min %d max %d, want %d %d %d", what, got.N, got.Min, got.Max, want.N, want.Min, want.Max)
	}
	if !near(got.Mean, want.Mean) || !near(got.Std, want.Std) {
		t.Errorf("%s: mean %v std %v, want %v %v", what, got.Mean, got.Std, want.Mean, want.Std)
	}
	if !slices.Equal(got.Quantiles, want.Quantiles) {
		t.Errorf("%s: quantiles\n got %v\nwant %v", what, got.Quantiles, want.Quantiles)
	}
}

// shapes are distributions that stress different parts of the search.
var shapes = map[string]func(r *rand.Rand) int64{
	"narrow":   func(r *rand.Rand) int64 { return 10_000_000 + r.Int64N(20_000) },
	"wide":     func(r *rand.Rand) int64 { return r.Int64N(1 << 50) },
	"lognorm":  func(r *rand.Rand) int64 { return int64(math.Exp(16 + r.NormFloat64())) },
	"constant": func(*rand.Rand) int64 { return 42 },
	"zeros": func(r *rand.Rand) int64 {
		if r.IntN(10) > 0 {
			return 0
		}
		return r.Int64N(1_000_000_000)
	},
	"signed": func(r *rand.Rand) int64 { return r.Int64N(2_000_001) - 1_000_000 },
	"outlier": func(r *rand.Rand) int64 {
		if r.IntN(1000) == 0 {
			return MaxSample
		}
		return 1_000_000_000 + r.Int64N(100_000)
	},
	"two far heaps": func(r *rand.Rand) int64 { return int64(r.IntN(2))<<55 + r.Int64N(1<<34) },
	"extremes":      func(r *rand.Rand) int64 { return (MaxSample - r.Int64N(5)) * int64(1-2*r.IntN(2)) },
}

func TestSummarizeEqualsSorting(t *testing.T) {
	for name, shape := range shapes {
		for _, n := range []int{0, 1, 2, 3, 17, 1024, 1025, 4096, 4097, 60_000} {
			for _, budget := range []int64{0, 1 << 30} {
				if n > 5000 && budget > 0 {
					continue
				}
				r := rand.New(rand.NewPCG(1, uint64(n)))
				p := NewPool(t.TempDir(), budget)
				cols := []*Column{p.Column(), p.Column()}
				var in [2][]int64
				for range n {
					v, set := shape(r), Set(1+r.IntN(3))
					cols[r.IntN(2)].Append(v, set)
					if set&First != 0 {
						in[0] = append(in[0], v)
					}
					if set&Second != 0 {
						in[1] = append(in[1], v)
					}
				}
				for _, rule := range []Rule{Linear, Nearest} {
					if n > 5000 && rule == Nearest {
						continue
					}
					got, err := Summarize(testQs, rule, cols...)
					if err != nil {
						t.Fatal(err)
					}
					checkSummary(t, name, got[0], naive(in[0], testQs, rule))
					checkSummary(t, name, got[1], naive(in[1], testQs, rule))
				}
				if budget == 0 && n == 60_000 && name != "constant" && p.Spilled() == 0 {
					t.Errorf("%s: nothing was spilled with no budget", name)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestSummarizeOneSet(t *testing.T) {
	for _, set := range []Set{First, Second, Both} {
		p := NewPool("", 1<<20)
		c := p.Column()
		for i := range 10_000 {
			c.Append(int64(i), set)
		}
		got, err := Summarize([]float64{0.5}, Linear, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, in := range []Set{First, Second} {
			want := Summary{}
			if set&in != 0 {
				want = Summary{N: 10_000, Min: 0, Max: 9_999, Mean: 4999.5, Std: math.Sqrt((1e8 - 1) / 12.0), Quantiles: []float64{4999.5}}
			}
			checkSummary(t, "one set", got[i], want)
		}
	}
}

func TestMergeKeepsEverySample(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p, foreign := NewPool(t.TempDir(), 100_000), NewPool(t.TempDir(), 0)
	defer p.Close()
	defer foreign.Close()
	all := p.Column()
	var want []int64
	for i, n := range []int{5, 0, 50_000, 1024, 90_001, 3} {
		c := p.Column()
		if i == 4 {
			c = foreign.Column()
		}
		for range n {
			v := r.Int64N(1 << 33)
			c.Append(v, First)
			want = append(want, v)
		}
		if err := all.Merge(c); err != nil {
			t.Fatal(err)
		}
		if c.Len() != 0 {
			t.Errorf("a merged column still has %d samples", c.Len())
		}
	}
	if all.Len() != int64(len(want)) {
		t.Fatalf("%d samples, want %d", all.Len(), len(want))
	}
	got, err := Summarize(testQs, Linear, all)
	if err != nil {
		t.Fatal(err)
	}
	checkSummary(t, "merged", got[0], naive(want, testQs, Linear))
	all.Close()
	if used := p.used.Load(); used != 0 {
		t.Errorf("%d bytes are in use after the last column was closed", used)
	}
}

func TestSpillLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	p := NewPool(dir, 0)
	c := p.Column()
	for i := range 200_000 {
		c.Append(int64(i)*7919%1_000_003, First)
	}
	if p.Spilled() == 0 {
		t.Fatal("nothing was spilled")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSpillFailureLosesNothing(t *testing.T) {
	p := NewPool(t.TempDir()+"/missing", 0)
	c := p.Column()
	for i := range 100_000 {
		c.Append(int64(i)*7919%100_003, First)
	}
	if p.Err() == nil {
		t.Error("no error although the file cannot be made")
	}
	got, err := Summarize([]float64{0.5}, Linear, c)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].N != 100_000 {
		t.Errorf("%d samples, want 100000", got[0].N)
	}
}

func TestMinSamples(t *testing.T) {
	for q, want := range map[float64]int64{0.5: 11, 0.9: 64, 0.1: 64, 0.95: 130, 0.05: 130, 0.99: 662, 0.01: 662, 0.999: 6636} {
		if got := MinSamples(q); got != want {
			t.Errorf("MinSamples(%v) = %d, want %d", q, got, want)
		}
	}
	if got := MinSamples(1); got != math.MaxInt64 {
		t.Errorf("MinSamples(1) = %d: no number of samples measures the end of a distribution", got)
	}
}

func TestQuantileRules(t *testing.T) {
	// numpy.percentile([7, 8, 9], …) and Perf Analyzer's index.
	s := []int64{7, 8, 9}
	for _, c := range []struct {
		rule Rule
		q    float64
		want float64
	}{
		{Linear, 0.99, 8.98}, {Linear, 0.95, 8.9}, {Linear, 0.5, 8}, {Linear, 0.25, 7.5}, {Linear, 0.01, 7.02}, {Linear, 0, 7}, {Linear, 1, 9},
		{Nearest, 0.99, 9}, {Nearest, 0.5, 8}, {Nearest, 0.25, 8}, {Nearest, 0.24, 7}, {Nearest, 0, 7},
	} {
		if got := c.rule.Quantile(s, c.q); !near(got, c.want) {
			t.Errorf("rule %d, q %v: %v, want %v", c.rule, c.q, got, c.want)
		}
	}
	if got := Linear.Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("quantile of nothing is %v", got)
	}
}

func TestStdOfCloseSamples(t *testing.T) {
	p := NewPool("", 1<<20)
	c := p.Column()
	for i := range 100_000 {
		c.Append(1_700_000_000_000_000_000+int64(i%2), First)
	}
	c.Append(1_700_000_000_000_000_000, First)
	got, err := Summarize(nil, Linear, c)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got[0].Std-0.5) > 1e-9 {
		t.Errorf("std %v, want 0.5", got[0].Std)
	}
}

func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var a, b Histogram
	if _, ok := a.Quantile(0.5); ok {
		t.Error("an empty histogram has a median")
	}
	var all []int64
	for i := range 50_000 {
		v := int64(math.Exp(r.NormFloat64()*3 + 12))
		all = append(all, v)
		if i%2 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	a.Merge(&b)
	slices.Sort(all)
	if a.Count() != int64(len(all)) {
		t.Fatalf("count %d, want %d", a.Count(), len(all))
	}
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
		got, _ := a.Quantile(q)
		want := Nearest.Quantile(all, q)
		if math.Abs(float64(got)-want) > 0.0041*want+1 {
			t.Errorf("q %v: %d, exact %v", q, got, want)
		}
	}
	var sum int64
	for _, v := range all {
		sum += v
	}
	if a.Sum() != sum {
		t.Errorf("sum %d, want %d", a.Sum(), sum)
	}
	if d := a.Since(&b); d.Count() != 25_000 || d.Sum() != a.Sum()-b.Sum() {
		t.Errorf("%d samples with the sum %d are not of b", d.Count(), d.Sum())
	}
	end, n := int64(0), uint64(0)
	a.Buckets(func(low, high int64, k uint64) bool {
		if low < end || high <= low {
			t.Fatalf("a bucket from %d to %d behind one to %d", low, high, end)
		}
		end, n = high, n+k
		return true
	})
	if n != 50_000 {
		t.Errorf("%d samples in buckets", n)
	}
	var c Histogram
	c.Add(-5)
	c.Add(math.MaxInt64)
	if lo, _ := c.Quantile(0); lo != 0 {
		t.Errorf("a negative sample counts as %d", lo)
	}
	if hi, _ := c.Quantile(1); float64(hi) < 0.98*math.MaxInt64 {
		t.Errorf("the greatest sample counts as %d", hi)
	}
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint8(8))
	f.Add([]byte{255, 0, 255, 0}, uint8(1))
	f.Add(append(bytes.Repeat([]byte{1, 7}, 20), bytes.Repeat([]byte{200, 3}, 15)...), uint8(1)) // two runs
	mutate.Fuzz(f, func(t *testing.T, data []byte, size uint8) {
		step := int(size%8) + 1
		var vals []int64
		for len(data) >= step && len(vals) < blockLen {
			var v int64
			for _, b := range data[:step] {
				v = v<<8 | int64(b)
			}
			vals = append(vals, v)
			data = data[step:]
		}
		if len(vals) == 0 {
			return
		}
		for _, part := range []*Part{nil, {Sent: vals[0], End: -vals[0]}} {
			chunk, lo, hi := appendBlock(make([]byte, 0, maxBlock(len(vals))+slack), vals, part)
			var got [blockLen]int64
			var in, want Part
			if part != nil {
				want = *part
			}
			n, rest := readBlock(&got, &in, chunk)
			if len(rest) != 0 || !slices.Equal(got[:n], vals) || in != want {
				t.Fatalf("read %v of %v, want %v of %v (rest %d)", got[:n], in, vals, want, len(rest))
			}
			if lo != slices.Min(vals) || hi != slices.Max(vals) {
				t.Fatalf("bounds %d %d", lo, hi)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	p := NewPool(b.TempDir(), 1<<20)
	defer p.Close()
	c := p.Column()
	b.ReportAllocs()
	v := int64(10_000_000)
	for b.Loop() {
		v = (v*1664525 + 1013904223) & (1<<24 - 1)
		c.Append(v, Both)
		if c.Len() > 64<<20 {
			c.Close()
		}
	}
}

func BenchmarkSummarize64M(b *testing.B) {
	for name, shape := range map[string]func(r *rand.Rand) int64{"lognorm": shapes["lognorm"], "narrow": shapes["narrow"]} {
		b.Run(name, func(b *testing.B) {
			p := NewPool(b.TempDir(), 1<<20)
			defer p.Close()
			c := p.Column()
			r := rand.New(rand.NewPCG(1, 2))
			pre := make([]int64, 1<<16)
			for i := range pre {
				pre[i] = shape(r)
			}
			for i := range 64 << 20 {
				c.Append(pre[i&(1<<16-1)]+int64(i>>16), Both-Set(i>>3&1))
			}
			b.ResetTimer()
			for b.Loop() {
				if _, err := Summarize(testQs, Linear, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSummarize320k(b *testing.B) {
	p := NewPool(b.TempDir(), 1<<20)
	defer p.Close()
	c := p.Column()
	r := rand.New(rand.NewPCG(1, 2))
	for range 320_000 {
		c.Append(shapes["lognorm"](r), Both-Set(r.IntN(2)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Summarize(testQs, Linear, c); err != nil {
			b.Fatal(err)
		}
	}
}
