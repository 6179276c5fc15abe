package stat

import (
	"math/rand/v2"
	"testing"
)

func TestDistinct(t *testing.T) {
	cases := map[string]struct {
		n     int
		value func(i int) int64
		want  int64
	}{
		"none":                 {0, nil, 0},
		"one value":            {5000, func(int) int64 { return 7 }, 1},
		"zero too":             {3000, func(i int) int64 { return int64(i % 3) }, 3},
		"below zero":           {3000, func(i int) int64 { return int64(i%5 - 2) }, 5},
		"all different":        {3 * distinctShare, func(i int) int64 { return int64(i) }, 3 * distinctShare},
		"far apart":            {distinctShare + 1, func(i int) int64 { return int64(i) << 40 }, distinctShare + 1},
		"every one four times": {3 * distinctShare, func(i int) int64 { return int64(i % (3 * distinctShare / 4)) }, 3 * distinctShare / 4},
		"one often": {3 * distinctShare, func(i int) int64 {
			if i%2 == 0 {
				return -1
			}
			return int64(i)
		}, 3*distinctShare/2 + 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pool := NewPool(t.TempDir(), 1<<20)
			defer pool.Close()
			a, b := pool.Column(), pool.Column()
			for i := range c.n {
				[]*Column{a, b}[i/7%2].Append(c.value(i), Set(1+i%3))
			}
			if err := a.Merge(b); err != nil {
				t.Fatal(err)
			}
			if got, err := a.Distinct(); got != c.want || err != nil {
				t.Errorf("%d different samples (%v), want %d", got, err, c.want)
			}
		})
	}
}

func TestTableGrows(t *testing.T) {
	table, r := newTable(1), rand.New(rand.NewPCG(1, 2))
	seen := map[uint64]bool{}
	for range 100_000 {
		v := scatter(uint64(r.IntN(30_000)))
		table.add(v)
		seen[v] = true
	}
	if table.len() != int64(len(seen)) {
		t.Errorf("%d values, want %d", table.len(), len(seen))
	}
}

func TestDistinctOfLostFile(t *testing.T) {
	pool := NewPool(t.TempDir(), 0)
	c := pool.Column()
	for i := range 100_000 {
		c.Append(int64(i)<<30, First)
	}
	if pool.Spilled() == 0 {
		t.Fatal("nothing went to disk")
	}
	if err := pool.file.Truncate(10); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Distinct(); err == nil {
		t.Error("no error")
	}
	pool.Close()
}

func BenchmarkDistinct1M(b *testing.B) {
	pool := NewPool(b.TempDir(), 4<<20)
	defer pool.Close()
	c, r := pool.Column(), rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		c.Append(int64(r.Uint64()), First)
	}
	for b.Loop() {
		if _, err := c.Distinct(); err != nil {
			b.Fatal(err)
		}
	}
}
