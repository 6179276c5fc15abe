package estimate

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inferometer/inferometer/internal/stat"
)

// family is a way in which samples come to be. Its draw begins in the steady state.
type family struct {
	name string
	draw func(r *rand.Rand, n int) *Samples
	flow func(r *rand.Rand, n int) *Flow // instead of draw
}

// families are servers and loads as measurements meet them.
var families = []family{
	{name: "lognormal 0.5", draw: each(func(r *rand.Rand) float64 { return 50 * math.Exp(0.5*r.NormFloat64()) })},
	{name: "lognormal 1", draw: each(func(r *rand.Rand) float64 { return 50 * math.Exp(r.NormFloat64()) })},
	{name: "exponential", draw: each(func(r *rand.Rand) float64 { return 50 * r.ExpFloat64() })},
	{name: "bimodal", draw: each(bimodal)},
	{name: "AR(1) 0.5", draw: autoregressive(0.5)},
	{name: "AR(1) 0.9", draw: autoregressive(0.9)},
	{name: "waves", draw: waves},
	{name: "M/D/1 at 80 %", draw: queue(1, 0.8, func(*rand.Rand) float64 { return 1 })},
	{name: "M/D/1 at 90 %", draw: queue(1, 0.9, func(*rand.Rand) float64 { return 1 })},
	{name: "M/M/4 at 90 %", draw: queue(4, 0.9, func(r *rand.Rand) float64 { return r.ExpFloat64() })},
	{name: "closed loop", draw: func(r *rand.Rand, n int) *Samples { s, _ := closed(r, n); return s }},
	{name: "gaps", draw: gaps},
	{name: "rate, Poisson", flow: poisson},
	{name: "rate, closed loop", flow: func(r *rand.Rand, n int) *Flow { _, f := closed(r, n); return f }},
	{name: "rate, tokens", flow: tokens},
}

func each(f func(r *rand.Rand) float64) func(r *rand.Rand, n int) *Samples {
	return func(r *rand.Rand, n int) *Samples {
		s := &Samples{Values: make([]float64, n)}
		for i := range s.Values {
			s.Values[i] = f(r)
		}
		return s
	}
}

// bimodal is a cache that misses some requests, with a heavy tail.
func bimodal(r *rand.Rand) float64 {
	if r.Float64() < 0.15 {
		return 200 * math.Exp(0.7*r.NormFloat64())
	}
	return 50 * math.Exp(0.1*r.NormFloat64())
}

// autoregressive are latencies whose logarithm remembers the one before.
func autoregressive(phi float64) func(r *rand.Rand, n int) *Samples {
	return func(r *rand.Rand, n int) *Samples {
		s := &Samples{Values: make([]float64, n)}
		level := r.NormFloat64()
		for i := range s.Values {
			s.Values[i] = 50 * math.Exp(0.5*level)
			level = phi*level + math.Sqrt(1-phi*phi)*r.NormFloat64()
		}
		return s
	}
}

// waves is a server that takes what has come as one batch: requests come at random and wait for
// the batch under way, then for their own, which lasts longer the more there are in it.
func waves(r *rand.Rand, n int) *Samples {
	s := &Samples{Values: make([]float64, 0, n)}
	const warm = 200
	var now, free float64 // of requests, of the server
	var batch []float64
	skip := warm
	for next := r.ExpFloat64(); len(s.Values) < n; {
		batch = batch[:0]
		free = max(free, next)
		for next <= free {
			batch = append(batch, next)
			now = next
			next = now + r.ExpFloat64()
		}
		free += (5 + 0.5*float64(len(batch))) * math.Exp(0.3*r.NormFloat64())
		for _, at := range batch {
			if skip--; skip < 0 && len(s.Values) < n {
				s.Values = append(s.Values, free-at)
			}
		}
	}
	return s
}

// queue is an open loop: requests come at random and queue for the servers, first come first served.
func queue(servers int, load float64, service func(r *rand.Rand) float64) func(r *rand.Rand, n int) *Samples {
	return func(r *rand.Rand, n int) *Samples {
		s := &Samples{Values: make([]float64, n)}
		free := make([]float64, servers)
		now := 0.0
		for i := -5000; i < n; i++ {
			now += r.ExpFloat64() / load / float64(servers)
			first := 0
			for j := range free {
				if free[j] < free[first] {
					first = j
				}
			}
			free[first] = max(free[first], now) + service(r)
			if i >= 0 {
				s.Values[i] = free[first] - now
			}
		}
		return s
	}
}

// event is an answer that comes, in order of time.
type event struct{ at, sent float64 }

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any          { old := *e; x := old[len(old)-1]; *e = old[:len(old)-1]; return x }

// closed is a closed loop of 16 clients on a server with 4 slots, whose speed drifts slowly
// about its mean.
func closed(r *rand.Rand, n int) (*Samples, *Flow) {
	const clients, slots, warm = 16, 4, 400
	free := make([]float64, slots)
	var flight events
	speed := r.NormFloat64()
	send := func(now float64) {
		speed = 0.95*speed + math.Sqrt(1-0.95*0.95)*r.NormFloat64()
		first := 0
		for j := range free {
			if free[j] < free[first] {
				first = j
			}
		}
		free[first] = max(free[first], now) + math.Exp(0.2*speed)*(0.5+0.5*r.ExpFloat64())
		heap.Push(&flight, event{free[first], now})
	}
	for range clients {
		send(0)
	}
	s, f := &Samples{Values: make([]float64, 0, n)}, &Flow{}
	var sent []event
	for i := range warm + n {
		e := heap.Pop(&flight).(event)
		if i == warm {
			f.Begin = e.at
		} else if i > warm {
			f.At = append(f.At, e.at)
		}
		f.End = e.at
		if i >= warm {
			sent = append(sent, e)
		}
		send(e.at)
	}
	slices.SortStableFunc(sent, func(a, b event) int {
		switch {
		case a.sent < b.sent:
			return -1
		case a.sent > b.sent:
			return 1
		}
		return 0
	})
	for _, e := range sent {
		s.Values = append(s.Values, e.at-e.sent)
	}
	return s, f
}

// gaps are those between the tokens of answers: the requests' levels depend on their neighbours'
// and all gaps of one share it.
func gaps(r *rand.Rand, n int) *Samples {
	s := &Samples{}
	level := r.NormFloat64()
	for range n {
		own := 0.2 * r.NormFloat64()
		for range 5 + r.IntN(30) {
			s.Values = append(s.Values, 10*math.Exp(0.3*level+own+0.3*r.NormFloat64()))
		}
		s.Ends = append(s.Ends, len(s.Values))
		level = 0.7*level + math.Sqrt(1-0.49)*r.NormFloat64()
	}
	return s
}

// poisson is an open loop without memory.
func poisson(r *rand.Rand, n int) *Flow {
	f := &Flow{End: float64(n) / 20}
	for at := r.ExpFloat64() / 20; at < f.End; at += r.ExpFloat64() / 20 {
		f.At = append(f.At, at)
	}
	return f
}

// tokens are answers of very different lengths, in bursts.
func tokens(r *rand.Rand, n int) *Flow {
	f := &Flow{End: float64(n) / 20}
	level := r.NormFloat64()
	for at := 0.0; ; {
		level = 0.8*level + 0.6*r.NormFloat64()
		at += r.ExpFloat64() / 20 * math.Exp(0.3*level)
		if at >= f.End {
			return f
		}
		f.At = append(f.At, at)
		f.Amount = append(f.Amount, 100*math.Exp(0.6*r.NormFloat64()))
	}
}

// truths are the figures of a family, by a simulation so long that its own error does not matter.
func (f *family) truths(figures []Statistic) []float64 {
	const parts, size = 100, 100_000
	sums := make([]float64, len(figures))
	for p := range parts {
		r := rand.New(rand.NewPCG(uint64(p), 1<<40))
		if f.flow != nil {
			e := f.flow(r, size).rate()
			sums[0] += e.value / parts
			continue
		}
		s := f.draw(r, size)
		var mean float64
		for _, v := range s.Values {
			mean += v / float64(len(s.Values))
		}
		slices.Sort(s.Values)
		for i, f := range figures {
			if f.Kind == Mean {
				sums[i] += mean / parts
			} else {
				sums[i] += stat.Linear.QuantileOf(s.Values, f.Q) / parts
			}
		}
	}
	return sums
}
