package estimate

import (
	"slices"
	"testing"
)

// TestSimulateLonger: a difference of 5 % is found with the power that is said in runs that are
// as much longer as Longer says.
func TestSimulateLonger(t *testing.T) {
	if !everything {
		t.Skip("INFEROMETER_SIMULATE=all runs it")
	}
	const size, rounds = 3000, 200
	for _, f := range families {
		s := simulation{&f, size, usual}
		if f.flow != nil {
			s.figures = usual[:1]
		}
		for i, figure := range s.figures {
			one := simulation{&f, size, []Statistic{figure}}
			var times []float64
			for round := range rounds {
				a, b := one.estimates(2*round, nil), one.estimates(2*round+1, nil)
				if d := between(&a[0], &b[0], Confidence); d.Known {
					times = append(times, d.SampleFactor(0.05*d.A))
				}
			}
			if len(times) < rounds*9/10 {
				continue
			}
			slices.Sort(times)
			longer := times[len(times)/2]
			one.size = int(size * longer)
			if one.size < 300 || one.size > 30_000 {
				continue
			}
			found := 0
			for round := range rounds {
				a := one.estimates(2*round, nil)
				b := one.estimates(2*round+1, []float64{0.05 * a[0].value})
				if between(&a[0], &b[0], Confidence).P < 1-Confidence {
					found++
				}
			}
			power := 100 * float64(found) / rounds
			t.Logf("%-18s %-4s  %5.2f times as long: finds %3.0f %%", f.name, titles[i], longer, power)
			if power < 70 || power > 92 {
				t.Errorf("finds %.0f %%", power)
			}
		}
	}
}
