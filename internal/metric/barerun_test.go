package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBareRunCovers: the intervals of a run without any flags hold the true figure in at least 93 of
// 100 runs. It has four requests in flight for 30 s; the server is slow, usual, or remembers the
// request before. With fewer requests, as of one so slow that the run ends with the 30th, no interval
// is given, and the report says why.
func TestBareRunCovers(t *testing.T) {
	const rounds, least = 250, 93
	for _, c := range []struct {
		loop
		n int
	}{
		{loop{slots: 4, tokens: 3}, 60},
		{loop{slots: 4, tokens: 3}, 300},
		{loop{slots: 4, tokens: 3, phi: 0.3}, 300},
	} {
		known, held := 0, 0
		for seed := range uint64(rounds) {
			st := sampled(t, c.run(rand.New(rand.NewPCG(seed, 35)), c.n), 1)
			for name, want := range map[string]float64{
				Average: typicalFirst * math.Exp(firstSigma*firstSigma/2) / 1e6,
				"p50":   typicalFirst / 1e6,
			} {
				at, ok := st.Whole.Stats["time_to_first_token"].Intervals[name]
				if !ok {
					continue
				}
				known++
				if at.Lo <= want && want <= at.Hi {
					held++
				}
			}
		}
		share := 100 * float64(held) / float64(known)
		t.Logf("%+v, %d requests: %d of %d intervals are known, %.1f %% hold", c.loop, c.n, known, 2*rounds, share)
		if share < least || known < rounds/2 {
			t.Errorf("%+v, %d requests: %.1f %% of the intervals hold the truth, want %d", c.loop, c.n, share, least)
		}
	}
}
