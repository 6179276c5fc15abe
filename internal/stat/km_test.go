package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// columnOf is a column with samples of a set.
func columnOf(t testing.TB, in Set, vals ...int64) *Column {
	t.Helper()
	p := NewPool(t.TempDir(), 1<<20)
	t.Cleanup(func() { p.Close() })
	c := p.Column()
	c.AppendAll(vals, in)
	return c
}

// surviving is the estimate's share of samples greater than v.
func (k *survival) surviving(v int64, seen []int64) float64 {
	var gone float64
	for i := range k.cells {
		c := &k.cells[i]
		for j := range c.n {
			if !c.beyond && seen[c.first+j] <= v {
				gone += c.weight
			}
		}
	}
	return 1 - gone/float64(k.total)
}

// TestTextbookSurvival: the estimates of two data sets that every textbook has.
func TestTextbookSurvival(t *testing.T) {
	for _, tt := range []struct {
		name      string
		seen, cut []int64
		survive   map[int64]float64
		median    float64
	}{
		{
			"Miller: acute myelogenous leukaemia, maintained",
			[]int64{9, 13, 18, 23, 31, 34, 48}, []int64{13, 28, 45, 161},
			map[int64]float64{8: 1, 9: 0.909, 13: 0.818, 18: 0.716, 23: 0.614, 31: 0.491, 34: 0.368, 48: 0.184, 160: 0.184}, 31,
		},
		{
			"Freireich: 6-mercaptopurine",
			[]int64{6, 6, 6, 7, 10, 13, 16, 22, 23}, []int64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35},
			map[int64]float64{6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448, 35: 0.448}, 23,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := cutsOf([]*Column{columnOf(t, First, tt.cut...)})
			if err != nil {
				t.Fatal(err)
			}
			k := newSurvival(list, 0)
			seen := columnOf(t, First, tt.seen...)
			if err := seen.blocks(k.add); err != nil {
				t.Fatal(err)
			}
			k.weigh()
			for v, want := range tt.survive {
				if got := k.surviving(v, tt.seen); math.Abs(got-want) > 0.0006 {
					t.Errorf("S(%d) = %.4f, want %.3f", v, got, want)
				}
			}
			s, err := summarizeCensored([]float64{0.5, 0.99}, Nearest, []*Column{columnOf(t, First, tt.cut...)}, seen)
			if err != nil {
				t.Fatal(err)
			}
			if s[0].Quantiles[0] != tt.median || s[0].Bounds[0] || !s[0].Bounds[1] {
				t.Errorf("median %v (want %v), bounds %v", s[0].Quantiles[0], tt.median, s[0].Bounds)
			}
		})
	}
}

// sample is a value that was seen, or at which a sample was cut off.
type sampled struct {
	v   int64
	cut bool
	w   float64
}

// bruteForce redistributes the weight of every censored sample to those on its right, one
// after the other.
func bruteForce(seen, cut []int64) []sampled {
	var all []sampled
	for _, v := range seen {
		all = append(all, sampled{v, false, 1})
	}
	for _, v := range cut {
		all = append(all, sampled{v, true, 1})
	}
	slices.SortFunc(all, func(a, b sampled) int {
		switch {
		case a.v != b.v:
			return int(a.v - b.v)
		case a.cut == b.cut:
			return 0
		case b.cut:
			return -1
		}
		return 1
	})
	for i := range all {
		if !all[i].cut || !slices.ContainsFunc(all[i:], func(s sampled) bool { return !s.cut }) {
			continue
		}
		// Those cut off at the same value go together.
		right := i + 1
		for right < len(all) && all[right].cut && all[right].v == all[i].v {
			right++
		}
		share := all[i].w / float64(len(all)-right)
		all[i].w = 0
		for j := right; j < len(all); j++ {
			all[j].w += share
		}
	}
	return all
}

// atRank are the samples that can stand for a rank: those that cover it, give or take a rounding.
func atRank(all []sampled, rank int64) (fit []sampled) {
	const slack = 1e-9
	p, begin := float64(rank)+0.5, 0.0
	for _, s := range all {
		if s.w > 0 && begin <= p+slack && p-slack <= begin+s.w {
			fit = append(fit, s)
		}
		begin += s.w
	}
	return fit
}

// TestSurvivalByBruteForce: what one pass finds is what moving every weight one by one comes to.
func TestSurvivalByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 79))
	qs := []float64{0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1}
	for round := range 400 {
		spread := []int64{3, 40, 1 << 40}[round%3]
		seen, cut := make([]int64, 1+r.IntN(60)), make([]int64, r.IntN(40))
		if round%50 == 0 {
			seen = make([]int64, fewSamples+100)
		}
		for i := range seen {
			seen[i] = r.Int64N(spread) - spread/4
		}
		for i := range cut {
			cut[i] = r.Int64N(spread+spread/2) - spread/4
		}
		col := columnOf(t, First, seen...)
		col.AppendAll(seen[:1], Second)
		got, err := summarizeCensored(qs, Nearest, []*Column{columnOf(t, First, cut...)}, col)
		if err != nil {
			t.Fatal(err)
		}
		all := bruteForce(seen, cut)
		var sum, squares, n float64
		var beyond int64
		top := slices.Max(seen)
		for _, s := range all {
			sum, squares, n = sum+s.w*float64(s.v), squares+s.w*float64(s.v)*float64(s.v), n+s.w
			if s.cut && s.w > 0 {
				beyond++
				top = max(top, s.v)
			}
		}
		s := got[0]
		if math.Abs(n-float64(len(all))) > 1e-6 || math.Abs(s.Mean-sum/n) > 1e-9*float64(spread) {
			t.Fatalf("round %d: mean %v, want %v", round, s.Mean, sum/n)
		}
		if want := math.Sqrt(max(0, squares/n-sum/n*(sum/n))); math.Abs(s.Std-want) > 1e-6*float64(spread) {
			t.Fatalf("round %d: deviation %v, want %v", round, s.Std, want)
		}
		if s.N != int64(len(seen)) || s.Censored != int64(len(cut)) || s.Beyond != beyond || s.Max != top || s.Min != slices.Min(seen) {
			t.Fatalf("round %d: %+v, want %d beyond and at most %d", round, s, beyond, top)
		}
		for i, q := range qs {
			rank, _, _ := Nearest.ranks(int64(len(all)), q)
			fits := slices.ContainsFunc(atRank(all, rank), func(f sampled) bool {
				return float64(f.v) == s.Quantiles[i] && (len(cut) == 0 || f.cut == s.Bounds[i])
			})
			if !fits {
				t.Fatalf("round %d: quantile %v is %v, want one of %v", round, q, s.Quantiles[i], atRank(all, rank))
			}
		}
		if got[1].N != 1 || got[1].Mean != float64(seen[0]) || got[1].Censored != 0 {
			t.Fatalf("round %d: the second set became %+v", round, got[1])
		}
	}
}

// TestNothingCensored: without a censored sample a summary is bit by bit what it is without the
// estimate, and the estimate with one beyond all others differs by that one alone.
func TestNothingCensored(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 79))
	qs := []float64{0.01, 0.5, 0.9, 0.99, 0.999}
	for range 50 {
		vals := make([]int64, 1+r.IntN(500))
		for i := range vals {
			vals[i] = r.Int64N(1 << 36)
		}
		for _, rule := range []Rule{Linear, Nearest} {
			want, err := Summarize(qs, rule, columnOf(t, Both, vals...))
			if err != nil {
				t.Fatal(err)
			}
			got, err := summarizeCensored(qs, rule, []*Column{columnOf(t, First)}, columnOf(t, Both, vals...))
			if err != nil {
				t.Fatal(err)
			}
			same := func(a, b Summary) bool {
				return a.N == b.N && a.Min == b.Min && a.Max == b.Max && a.Mean == b.Mean && a.Std == b.Std &&
					slices.Equal(a.Quantiles, b.Quantiles) && a.Bounds == nil
			}
			if !same(got[0], want[0]) || !same(got[1], want[1]) {
				t.Fatalf("%+v, want %+v", got, want)
			}
			more, err := Summarize(qs, rule, columnOf(t, Both, append(slices.Clone(vals), 1<<40)...))
			if err != nil {
				t.Fatal(err)
			}
			one, err := summarizeCensored(qs, rule, []*Column{columnOf(t, First, 1<<40)}, columnOf(t, Both, vals...))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one[0].Quantiles, more[0].Quantiles) || one[0].Max != more[0].Max || math.Abs(one[0].Mean/more[0].Mean-1) > 1e-12 {
				t.Fatalf("%+v, want %+v", one[0], more[0])
			}
			if !same(one[1], want[1]) {
				t.Fatalf("the second set became %+v, want %+v", one[1], want[1])
			}
		}
	}
}

// TestManyCensored: very many are rounded down, never up, and by no more than a thousandth.
func TestManyCensored(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 79))
	var cut []int64
	for range 3 * mostCuts {
		cut = append(cut, 30e9+r.Int64N(10e9))
	}
	seen := columnOf(t, First, slices.Repeat([]int64{41e6, 42e6}, 5*mostCuts)...)
	s, err := summarizeCensored([]float64{0.5, 0.99}, Linear, []*Column{columnOf(t, First, cut...)}, seen)
	if err != nil {
		t.Fatal(err)
	}
	list, err := cutsOf([]*Column{columnOf(t, First, cut...)})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.at) > mostCuts {
		t.Errorf("%d values are told apart", len(list.at))
	}
	all := append(slices.Repeat([]int64{41e6, 42e6}, 5*mostCuts), cut...)
	slices.Sort(all)
	for i, q := range []float64{0.5, 0.99} {
		want := Linear.Quantile(all, q)
		if got := s[0].Quantiles[i]; got > want || got < want*0.999 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if s[0].Beyond != int64(len(cut)) || s[0].Seen != 42e6 || s[0].Bounds[0] || !s[0].Bounds[1] {
		t.Errorf("%+v", s[0])
	}
}

func TestAbove(t *testing.T) {
	c := columnOf(t, First, 1, 2, 3, 4)
	c.Append(9, Second)
	if n, err := Above(2, c, columnOf(t, First, 7)); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// summarizeCensored is Summarize where samples of the first set were cut off.
func summarizeCensored(qs []float64, rule Rule, censored []*Column, cols ...*Column) ([2]Summary, error) {
	all, err := SummarizeEach(qs, rule, censored, cols, nil)
	return all[0], err
}
