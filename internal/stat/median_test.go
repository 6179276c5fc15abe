package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		vals := make([]int64, r.IntN(40))
		for i := range vals {
			vals[i] = r.Int64N(20) - 5
		}
		sorted := slices.Clone(vals)
		slices.Sort(sorted)
		var want int64
		if n := len(sorted); n > 0 {
			a, b := sorted[(n-1)/2], sorted[n/2]
			want = a + (b-a)/2
		}
		if got := Median(slices.Clone(vals)); got != want {
			t.Fatalf("median of %v is %d, want %d", vals, got, want)
		}
	}
}

func TestAppendAllEqualsAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	p := NewPool("", 1<<20)
	one, all := p.Column(), p.Column()
	for range 200 {
		vals := make([]int64, r.IntN(600))
		for i := range vals {
			vals[i] = r.Int64N(1<<40) - 1<<39
			one.Append(vals[i], Second)
		}
		all.AppendAll(vals, Second)
	}
	a, err := Summarize(testQs, Linear, one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Summarize(testQs, Linear, all)
	if err != nil {
		t.Fatal(err)
	}
	checkSummary(t, "AppendAll", b[1], a[1])
}
