package prompt

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestCancellationHasItsShare(t *testing.T) {
	for _, share := range []float64{0, 0.005, 0.1, 1. / 3, 0.999, 1} {
		c := NewCancellation(plan.Cancel{Share: share, After: plan.Length{Dist: plan.DistFixed, Mean: 500}}, 7)
		for _, turn := range []int{0, 3} {
			n := 0
			for i := range int64(100_000) {
				switch after := c.After(TurnSeq(i, turn)); after {
				case 500 * time.Millisecond:
					n++
				case 0:
				default:
					t.Fatalf("request %d is given up after %v", i, after)
				}
				if block := float64(i+1) / perShare; block == 10 && (float64(n) < share*1000-10 || float64(n) > share*1000+10) {
					t.Errorf("share %v, turn %d: %d of the first 1000", share, turn, n)
				}
			}
			if got := float64(n) / 100_000; got < share-0.001 || got > share+0.001 {
				t.Errorf("share %v, turn %d: %v", share, turn, got)
			}
		}
	}
}

func TestCancellationFollowsFromSeedAndNumber(t *testing.T) {
	about := plan.Cancel{Share: 0.5, After: plan.Length{Dist: plan.DistUniform, Min: 200, Max: 2000}}
	a, again, other := NewCancellation(about, 1), NewCancellation(about, 1), NewCancellation(about, 2)
	differ, runs := 0, 0
	for i := int64(999); i >= 0; i-- { // in any order
		v := a.After(i)
		if v != again.After(i) {
			t.Fatalf("request %d: %v, then %v", i, v, again.After(i))
		}
		if v != 0 && (v < 200*time.Millisecond || v > 2*time.Second) {
			t.Errorf("request %d is given up after %v", i, v)
		}
		if (v == 0) != (other.After(i) == 0) {
			differ++
		}
		if (v == 0) != (a.After(i+1) == 0) {
			runs++
		}
	}
	if differ < 400 || differ > 600 {
		t.Errorf("another seed chooses differently %d times in 1000", differ)
	}
	if runs < 400 || runs > 600 {
		t.Errorf("%d changes in 1000 requests: the choice is no random one", runs)
	}
}

func TestCancellationAtOnce(t *testing.T) {
	if c := NewCancellation(plan.Cancel{Share: 1}, 1); c.After(5) <= 0 {
		t.Error("a user who waits for nothing stays")
	}
}
