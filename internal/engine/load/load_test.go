package load

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// take reads up to n arrivals.
func take(a Arrivals, n int) []time.Duration {
	var out []time.Duration
	for range n {
		due, ok := a.Next()
		if !ok {
			break
		}
		out = append(out, due)
	}
	return out
}

// differs: ip-config-constant
func TestConstantIsExactAtEveryIndex(t *testing.T) {
	for _, tc := range []struct {
		rate     float64
		num, den int64 // the same number as a fraction
	}{
		{1, 1, 1}, {3, 3, 1}, {7, 7, 1}, {0.1, 1, 10}, {0.3, 3, 10}, {1.0 / 3, 3333333333333333, 10000000000000000},
		{4999.7, 49997, 10}, {1e6, 1e6, 1}, {3e9, 3e9, 1}, {123456.789, 123456789, 1000},
	} {
		a := Constant(ConstantRate(tc.rate))
		for i := range int64(10_000) {
			due, ok := a.Next()
			// i·10⁹·den/num rounded down, in arithmetic that has no size.
			want := new(big.Int).Mul(big.NewInt(i*1e9), big.NewInt(tc.den))
			want.Quo(want, big.NewInt(tc.num))
			if !ok || int64(due) != want.Int64() {
				t.Fatalf("rate %v: arrival %d is due at %d ns (%v), want %d", tc.rate, i, due, ok, want)
			}
		}
	}
}

func TestConstantDoesNotDriftInADay(t *testing.T) {
	a := Constant(ConstantRate(77.7))
	var due time.Duration
	for range 777*8640 + 1 {
		due, _ = a.Next()
	}
	if due != 24*time.Hour {
		t.Errorf("arrival 77.7·86400 is due at %v, want 24h exactly", due)
	}
}

func TestExtremeRates(t *testing.T) {
	for _, tc := range []struct {
		rate float64
		want []time.Duration
	}{
		{0, nil}, {-1, nil}, {math.NaN(), nil}, {math.Inf(1), nil},
		{1e-300, []time.Duration{0, math.MaxInt64, math.MaxInt64}},
		{1e-9, []time.Duration{0, 1e18, 2e18}},
		{2.5e-10, []time.Duration{0, 4e18, 8e18}},
		{math.MaxFloat64, []time.Duration{0, 0, 0}},
		{1e17, []time.Duration{0, 0, 0}},
	} {
		if diff := cmp.Diff(tc.want, take(Constant(ConstantRate(tc.rate)), 3)); diff != "" {
			t.Errorf("Constant at %v:\n%s", tc.rate, diff)
		}
		for _, a := range []Arrivals{Poisson(ConstantRate(tc.rate), 1), Gamma(ConstantRate(tc.rate), 2, 1)} {
			if got := take(a, 3); len(got) != len(tc.want) || !slices.IsSorted(got) {
				t.Errorf("random arrivals at %v: %v", tc.rate, got)
			}
		}
	}
}

func TestRampMeetsTheIntegratedRate(t *testing.T) {
	for _, r := range []Rate{
		ramp(10, 100, time.Minute),
		ramp(100, 10, time.Minute),
		ramp(0, 50, time.Minute),
		ramp(50, 0, time.Minute),
		ramp(10, 10.0000001, time.Minute),
		{From: 20, To: 200, Hold: 10 * time.Second, Over: 30 * time.Second},
	} {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			got := take(Constant(r), 5000)
			for i, due := range got {
				// By its due time, exactly i arrivals are expected.
				if e := expected(r, due.Seconds()); math.Abs(e-float64(i)) > 1e-5 {
					t.Fatalf("arrival %d is due at %v, by which %v are expected", i, due, e)
				}
			}
			if r.To == 0 && len(got) != 1500 {
				t.Errorf("%d arrivals before the rate reaches zero, want 1500", len(got))
			}
			if r.To > 0 && len(got) != 5000 {
				t.Errorf("the sequence ended after %d", len(got))
			}
		})
	}
}

// expected is the integral of the rate, written another way than in the code.
func expected(r Rate, t float64) float64 {
	hold, over := r.Hold.Seconds(), r.Over.Seconds()
	sum := r.From * min(t, hold)
	if x := min(t-hold, over); x > 0 {
		sum += x * (r.From + r.From + (r.To-r.From)*x/over) / 2
	}
	if x := t - hold - over; x > 0 {
		sum += x * r.To
	}
	return sum
}

func TestFiniteSequencesStayEnded(t *testing.T) {
	for name, a := range map[string]Arrivals{
		"constant": Constant(ramp(3, 0, 2*time.Second)),
		"poisson":  Poisson(ramp(3, 0, 2*time.Second), 1),
	} {
		take(a, 1000)
		if got := take(a, 10); got != nil {
			t.Errorf("%s goes on after its end: %v", name, got)
		}
	}
}

// FuzzArrivals looks for parameters that make a sequence go back, hang or panic.
func FuzzArrivals(f *testing.F) {
	f.Add(10.0, 100.0, int64(time.Second), int64(time.Minute), 1.0, uint64(1))
	f.Add(100.0, 0.0, int64(0), int64(time.Minute), 0.0, uint64(2))
	f.Add(1e-300, 1e300, int64(-1), int64(math.MaxInt64), 1e9, uint64(3))
	f.Add(0.0, 5.0, int64(5), int64(0), 1e-9, uint64(4))
	f.Add(10.0, 100.0, int64(time.Second), int64(time.Minute), 1e-200, uint64(1))
	f.Add(math.Inf(1), math.NaN(), int64(math.MaxInt64), int64(1), math.NaN(), uint64(5))
	mutate.Fuzz(f, func(t *testing.T, from, to float64, hold, over int64, cv float64, seed uint64) {
		r := Rate{From: from, To: to, Hold: time.Duration(hold), Over: time.Duration(over)}
		for name, a := range map[string]Arrivals{
			"constant": Constant(r), "poisson": Poisson(r, seed), "gamma": Gamma(r, cv, seed),
			"steady": Constant(ConstantRate(from)),
		} {
			got := take(a, 200)
			if !slices.IsSorted(got) {
				t.Errorf("%s %+v goes back: %v", name, r, got)
			}
			if len(got) > 0 && got[0] < 0 {
				t.Errorf("%s %+v starts at %v", name, r, got[0])
			}
		}
	})
}

// ramp is a rate that changes linearly over a time and stays there.
func ramp(from, to float64, over time.Duration) Rate {
	return Rate{From: from, To: to, Over: over}
}
