package load

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
)

// Poisson is a sequence of arrivals that are independent of one another: the gaps
// are exponential. While the rate changes it is the Poisson process of that rate.
func Poisson(r Rate, seed uint64) Arrivals {
	rng := newRand(seed)
	return &renewal{clock: newClock(r), gap: rng.ExpFloat64}
}

// UnseededPoisson is what a C++ program draws from an unseeded std::mt19937, anew at each rate.
func UnseededPoisson(r Rate) Arrivals {
	return &renewal{clock: newClock(r), gap: mersenne.New().ExpFloat64}
}

// Gamma is a sequence of arrivals whose gaps are gamma distributed with a
// coefficient of variation: above 1 they come in bursts, at 1 the law is Poisson's,
// below 1 they are more even, at 0 they are constant (with the first after one gap).
func Gamma(r Rate, cv float64, seed uint64) Arrivals {
	g := gamma{rng: newRand(seed), shape: 1 / (cv * cv)}
	if !(cv > 0) || math.IsInf(g.shape, 1) {
		return &renewal{clock: newClock(r), gap: func() float64 { return 1 }}
	}
	return &renewal{clock: newClock(r), gap: func() float64 { return g.draw() / g.shape }}
}

// renewal adds up independent gaps of mean one and maps the sums to times.
type renewal struct {
	clock *rateIntegral
	gap   func() float64
	u     float64
}

// Next implements Arrivals.
func (r *renewal) Next() (time.Duration, bool) {
	r.u += r.gap()
	return r.clock.timeOf(r.u)
}

// newRand makes a generator whose stream shares nothing with a neighbouring seed's.
func newRand(seed uint64) *rand.Rand {
	var key [32]byte
	copy(key[:], "inferometer arrivals")
	binary.LittleEndian.PutUint64(key[24:], seed)
	return rand.New(rand.NewChaCha8(key))
}

// gamma draws from the gamma distribution of a shape and scale one, after
// Marsaglia and Tsang: a cubed normal variate, accepted almost always.
type gamma struct {
	rng   *rand.Rand
	shape float64
}

func (g gamma) draw() float64 {
	if g.shape >= 1 {
		return g.cubed(g.shape)
	}
	// Below one, one above is scaled down by a power of a uniform variate; 1-Float64 is never
	// zero.
	return g.cubed(g.shape+1) * math.Pow(1-g.rng.Float64(), 1/g.shape)
}

func (g gamma) cubed(shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := g.rng.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - g.rng.Float64()
		if math.Log(u) < float64(x*x/2)+d-float64(d*v)+float64(d*math.Log(v)) {
			return d * v
		}
	}
}
