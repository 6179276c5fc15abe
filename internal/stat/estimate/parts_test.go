package estimate

import (
	"math/rand/v2"
	"testing"
)

// eachAlone are the samples 1 to n, each a part of its own, which say as much as so many independent requests.
func eachAlone(n int, alone float64, quantiles ...float64) *Parts {
	p := &Parts{Single: true, Alone: alone, Q: quantiles, At: func(q float64) float64 { return q * float64(n) }}
	p.UpTo, p.Values = make([][]int64, len(quantiles)), make([]float64, len(quantiles))
	for _, place := range rand.New(rand.NewPCG(3, 4)).Perm(n) {
		v := float64(place + 1)
		p.N, p.Sum, p.Mean = append(p.N, 1), append(p.Sum, v), p.Mean+v/float64(n)
		for k, q := range quantiles {
			p.Values[k] = q * float64(n)
			upTo := int64(0)
			if v <= p.Values[k] {
				upTo = 1
			}
			p.UpTo[k] = append(p.UpTo[k], upTo)
		}
	}
	return p
}

// What requests are worth decides whether there is an interval at all: from leastAlone of them on.
func TestPartsAreWorthWhatIsSaid(t *testing.T) {
	for alone, known := range map[float64]bool{leastAlone - 0.5: false, leastAlone: true, leastAlone + 75: true} {
		mean, _ := OfParts(eachAlone(200, alone), 0.95)
		if mean.Known != known || mean.Blocks != int(alone) {
			t.Errorf("200 samples worth %v: %+v", alone, mean)
		}
	}
	// Nothing is said: they are worth what they show.
	p := eachAlone(200, 0)
	mean, _ := OfParts(p, 0.95)
	if want := p.Independent(); want < leastAlone || mean.Blocks != int(want) || !mean.Known {
		t.Errorf("samples worth %v by themselves: %+v", want, mean)
	}
}

// A quantile needs leastBeyond requests on either side of it, of the samples and of what they are worth.
func TestPartsBeyondQuantile(t *testing.T) {
	for _, c := range []struct {
		n        int
		alone, q float64
		tried    bool
	}{
		{200, 2 * leastBeyond, 0.5, true},
		{200, 2*leastBeyond - 1, 0.5, false},
		{200, 40, 0.9, false},
		{200, 40, 0.1, false},
		{2*leastBeyond - 2, 1000, 0.5, false},
	} {
		p := eachAlone(c.n, c.alone, c.q)
		_, quantiles := OfParts(p, 0.95)
		if got := quantiles[0]; (got.Blocks != 0) != c.tried || got.Value != p.Values[0] {
			t.Errorf("quantile %v of %d samples worth %v: %+v", c.q, c.n, c.alone, got)
		}
	}
}
