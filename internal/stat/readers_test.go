package stat

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestReaders: what is made of columns does not depend on how many goroutines read them.
func TestReaders(t *testing.T) {
	const parts = 64
	type made struct {
		Sums  [2]Summary
		Parts [2]Division
		Bins  Bins
	}
	work := func(budget int64, spare int) made {
		p := NewPool(t.TempDir(), budget)
		defer p.Close()
		p.spare = make(chan struct{}, spare)
		r := rand.New(rand.NewPCG(3, 1))
		cols := []*Column{p.Column(), p.Column()}
		for i := range 700_000 {
			c := cols[r.IntN(2)]
			c.In(Part{Sent: int64(i / 2048), End: int64(i / 2048)})
			v := int64(r.ExpFloat64() * 5e6)
			if i%1000 < 300 {
				v = 7
			}
			c.Append(v, Both-Set(r.IntN(3)%2))
		}
		var m made
		var err error
		if m.Sums, err = Summarize(testQs, Linear, cols...); err != nil {
			t.Fatal(err)
		}
		bounds := [2][]float64{m.Sums[0].Quantiles[:3], m.Sums[1].Quantiles[:3]}
		if m.Parts, err = Divide(bounds, parts, func(p Part) int { return int(p.End) % parts }, cols...); err != nil {
			t.Fatal(err)
		}
		if m.Bins, err = BinsOf(First, cols...); err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := work(1<<30, 0)
	for _, c := range []struct {
		budget int64
		spare  int
	}{{1 << 30, 1}, {1 << 30, 7}, {1 << 19, 0}, {1 << 19, 7}} {
		if got := work(c.budget, c.spare); !reflect.DeepEqual(got, want) {
			t.Errorf("%d bytes, %d others: %+v, want %+v", c.budget, c.spare, got.Sums, want.Sums)
		}
	}
}

// TestReadersFail: a column that cannot be read back is told of, however many read it.
func TestReadersFail(t *testing.T) {
	for _, spare := range []int{0, 3} {
		p := NewPool(t.TempDir(), 0)
		p.spare = make(chan struct{}, spare)
		c := p.Column()
		for i := range int64(500_000) {
			c.Append(i*i, First)
		}
		if err := p.file.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := Summarize(testQs, Linear, c); err == nil {
			t.Errorf("%d others: no error", spare)
		}
		p.Close()
	}
}
