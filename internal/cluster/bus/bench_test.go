package bus

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
)

// Eight workers send frames of 60 KB, some 256 records each, as fast as one receiver takes them, all in this process.
func BenchmarkFrames(b *testing.B) {
	const workers, size = 8, 60_000
	s := serve(b, ServerOptions{Token: "token"})
	coordinator := dialWith(b, DialOptions{URL: s.URL(), Run: "run", Token: "token"})
	b.SetBytes(size)
	b.ReportAllocs()
	var all sync.WaitGroup
	for i := range workers {
		name := fmt.Sprint(i)
		o, err := dialWith(b, DialOptions{URL: s.URL(), Run: "run", Token: "token"}).Outbox(limited(b), name, zeros{})
		if err != nil {
			b.Fatal(err)
		}
		in := inbox(b, coordinator, name)
		all.Go(func() {
			for range (b.N + workers - 1) / workers {
				o.Add(0, size)
			}
			if err := o.Close(limited(b)); err != nil {
				b.Error(err)
			}
		})
		all.Go(func() {
			ctx := limited(b)
			for {
				f, err := in.Next(ctx)
				switch {
				case errors.Is(err, io.EOF):
					in.Acknowledge(in.frames)
					return
				case err != nil:
					b.Error(err)
					return
				case f.Number%32 == 0:
					in.Acknowledge(f.Number)
				}
			}
		})
	}
	all.Wait()
}
