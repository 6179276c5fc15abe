// Package awkward has models of servers whose capacity is not that of an ordinary queue: servers
// that fail at any load, that collapse and stay down, that allow bursts, that warm up. They run on
// virtual time: a server is told when each request arrives and says how long its response takes. What
// it does follows from its seed and the arrivals alone. Whoever puts one behind a port waits that long.
package awkward

import (
	"math"
	"math/rand/v2"
	"time"
)

// Response is what becomes of a request.
type Response struct {
	Took    time.Duration // from its arrival
	Failure string        // Failed or Refused; empty: it was answered well
}

// How requests fail.
const (
	Failed  = "HTTP 500"
	Refused = "connection refused"
)

// Server is a model of a server. It is used by one goroutine.
type Server interface {
	// Arrive takes a request that arrives at a given time, none of which is before the last.
	Arrive(at time.Duration) Response
	// Abandon tells that the clients of all requests that are unanswered at a given time have gone.
	Abandon(at time.Duration)
}

// What a search for the capacity of a server has to come to.
const (
	Finds    = "finds the load that is held"
	Flat     = "says that the objective is missed at every load, whatever it is"
	Recovers = "finds the load that is held, and says that the server does not come back by itself"
	Unsteady = "finds the load that is held, or says that the server was not steady"
	Changed  = "finds the load that is held in the end, or says that the server changed"
)

// Kind is a kind of server, with an objective and what is known of it.
type Kind struct {
	Name     string
	New      func(seed uint64) Server
	Bound    time.Duration // that answers may take, of
	Quantile float64       // this share of requests
	// Load is what half of all fresh servers hold: they meet the objective for ten minutes. Nearly
	// all hold Sure. 0: there is no such load.
	Load, Sure float64
	Must       string // what a search has to come to
}

// Kinds are the awkward servers.
func Kinds() []Kind {
	const ms = time.Millisecond
	return []Kind{
		{Name: "fails 2 % at any load", New: failing, Bound: 400 * ms, Quantile: 0.9, Must: Flat},
		{Name: "2 % slow at any load", New: slow, Bound: 600 * ms, Quantile: 0.99, Must: Flat},
		{Name: "collapses, and recovers after rest", New: collapsing, Bound: 500 * ms, Quantile: 0.9, Load: 10.65, Sure: 9.9, Must: Recovers},
		{Name: "sudden cliff", New: cliff, Bound: 500 * ms, Quantile: 0.9, Load: 13.7, Sure: 11, Must: Finds},
		{Name: "bursts allowed", New: bucket, Bound: 400 * ms, Quantile: 0.9, Load: 17.55, Sure: 17, Must: Unsteady},
		{Name: "warms up", New: warming, Bound: 400 * ms, Quantile: 0.9, Load: 36.5, Sure: 35.5, Must: Changed},
		{Name: "fails always", New: broken, Bound: 400 * ms, Quantile: 0.9, Must: Flat},
		{Name: "crashes at overload", New: crashing, Bound: 400 * ms, Quantile: 0.9, Load: 36.5, Sure: 35.5, Must: Finds},
		{Name: "never fast enough", New: distant, Bound: 140 * ms, Quantile: 0.9, Must: Flat},
	}
}

// places is a queue in order of arrival with a number of places, whose requests it knows when they
// are done.
type places struct {
	free    []time.Duration // when each place is
	pending []time.Duration // when the requests end that are not done, in the order of arrival
}

func newPlaces(n int) places { return places{free: make([]time.Duration, n)} }

// waiting is how many requests are in the queue or in service at a given time.
func (p *places) waiting(at time.Duration) int {
	for len(p.pending) > 0 && p.pending[0] <= at {
		p.pending = p.pending[1:]
	}
	return len(p.pending)
}

// serve takes a request and says when it is done.
func (p *places) serve(at, service time.Duration) (end time.Duration) {
	k := 0
	for i := range p.free {
		if p.free[i] < p.free[k] {
			k = i
		}
	}
	p.free[k] = max(at, p.free[k]) + service
	p.waiting(at)
	p.pending = append(p.pending, p.free[k])
	return p.free[k]
}

// Abandon empties the queue.
func (p *places) Abandon(at time.Duration) {
	for i := range p.free {
		p.free[i] = min(p.free[i], at)
	}
	p.pending = nil
}

func chance(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// around is a time that is mean on average, with a small spread.
func around(rng *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(float64(mean) * math.Exp(0.1*rng.NormFloat64()-0.005))
}
