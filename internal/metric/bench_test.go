package metric

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// BenchmarkAddInTime: requests that end one after the other, about in order.
func BenchmarkAddInTime(b *testing.B) {
	for name, events := range map[string]int{"1": 1, "16": 16, "512": 512} {
		b.Run(name, func(b *testing.B) {
			pool := stat.NewPool(b.TempDir(), 1<<20)
			defer pool.Close()
			f := mustFold(b, Options{Times: fixed(0, record.NotYet), Pool: pool})
			rec := evenly(0, 50*msec, 10*msec, events)
			r := rand.New(rand.NewPCG(1, 2))
			end := rec.End
			for i := int64(0); b.Loop(); i++ {
				rec.Seq = i
				at := time.Duration(i)*50*time.Microsecond + time.Duration(r.Int64N(int64(msec)))
				rec.End = end + at
				f.Add(rec)
			}
		})
	}
}

// BenchmarkAddFew: stages of so many requests that each is told apart.
func BenchmarkAddFew(b *testing.B) {
	rec := evenly(0, 50*msec, 10*msec, 16)
	end := rec.End
	var f *Aggregator
	pool := stat.NewPool(b.TempDir(), 64<<20)
	defer pool.Close()
	for i := 0; b.Loop(); i++ {
		if i%4096 == 0 {
			if f != nil {
				f.Close()
			}
			f = mustFold(b, Options{Times: fixed(0, record.NotYet), Pool: pool})
		}
		rec.End = end + time.Duration(i)*50*time.Microsecond
		f.Add(rec)
	}
}
