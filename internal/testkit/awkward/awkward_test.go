package awkward

import (
	"math/rand/v2"
	"testing"
	"time"
)

// hold sends requests at a load, by chance, and says which share of them in the last part was too
// slow or failed.
func hold(s Server, k *Kind, rng *rand.Rand, load float64, from, to time.Duration) (slow, failed float64) {
	var n, over, bad float64
	for at := from; at < to; at += time.Duration(rng.ExpFloat64() / load * float64(time.Second)) {
		a := s.Arrive(at)
		n++
		if a.Failure != "" {
			bad++
		} else if a.Took > k.Bound {
			over++
		}
	}
	return over / max(n-bad, 1), bad / n
}

// held is how many fresh servers of a number meet the objective for ten minutes.
func held(k *Kind, load float64, servers uint64) (n int) {
	for seed := range servers {
		s, rng := k.New(seed), rand.New(rand.NewPCG(seed, 1))
		from := time.Duration(0)
		if k.Must == Changed {
			hold(s, k, rng, load/4, 0, 10*time.Minute)
			from = 10*time.Minute + time.Second
		}
		slow, failed := hold(s, k, rng, load, from, from+10*time.Minute)
		if slow <= 1-k.Quantile && failed <= 0.01 {
			n++
		}
	}
	return n
}

// What is said of each server is so.
func TestKinds(t *testing.T) {
	const servers = 40
	for _, k := range Kinds() {
		if k.Load == 0 {
			for _, load := range []float64{2, 5, 20} {
				if n := held(&k, load, servers); n > servers/10 {
					t.Errorf("%s: %d of %d hold %v", k.Name, n, servers, load)
				}
			}
			continue
		}
		sure, half, beyond := held(&k, k.Sure, servers), held(&k, k.Load, servers), held(&k, 1.15*k.Load, servers)
		t.Logf("%s: %d of %d hold %v, %d hold %v, %d hold 1.15 times that", k.Name, sure, servers, k.Sure, half, k.Load, beyond)
		if sure < servers*9/10 || half < servers/4 || half > servers*3/4 || beyond > servers/20 {
			t.Errorf("%s: %d of %d hold %v, %d hold %v, %d hold 1.15 times that", k.Name, sure, servers, k.Sure, half, k.Load, beyond)
		}
	}
}

// The same seed is the same server.
func TestSeed(t *testing.T) {
	for _, k := range Kinds() {
		a, b := k.New(3), k.New(3)
		for i := range 2000 {
			at := time.Duration(i*i) * 20 * time.Microsecond
			if x, y := a.Arrive(at), b.Arrive(at); x != y {
				t.Fatalf("%s: request %d: %v and %v", k.Name, i, x, y)
			}
		}
	}
}

// A server that has collapsed comes back after a rest, and not before.
func TestComesBack(t *testing.T) {
	for _, c := range []struct {
		make func(seed uint64) Server
		rest time.Duration
	}{{collapsing, 8 * time.Second}, {crashing, 10 * time.Second}} {
		s := c.make(1)
		bad := func(a Response) bool { return a.Failure != "" || a.Took > 2*time.Second }
		at, down := time.Duration(0), false
		for ; at < time.Minute && !down; at += 10 * time.Millisecond {
			down = bad(s.Arrive(at))
		}
		s.Abandon(at)
		if !down || !bad(s.Arrive(at+c.rest/2)) || bad(s.Arrive(at+c.rest/2+c.rest)) {
			t.Errorf("after a rest of %s: down %t", c.rest, down)
		}
	}
}
