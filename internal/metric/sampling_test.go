package metric

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// loop makes up a closed loop on a server whose latency remembers the request before with phi,
// with some tokens behind the first, and gives its requests in the order in which they ended.
type loop struct {
	slots, tokens int
	phi           float64
}

const (
	typicalFirst = 50e6 // ns; its logarithm has the deviation firstSigma
	typicalGap   = 10e6
	firstSigma   = 0.5
	gapSigma     = 0.4 // of gaps: 0.25 of the request and 0.3124 of its own
)

func (l loop) run(r *rand.Rand, n int) []*record.Record {
	free := make([]float64, l.slots)
	level := r.NormFloat64()
	var list []*record.Record
	for i := range n {
		slot := 0
		for k := range free {
			if free[k] < free[slot] {
				slot = k
			}
		}
		sent := time.Duration(free[slot])
		at := sent + time.Duration(typicalFirst*math.Exp(firstSigma*level))
		events := []token{{at: at, tokens: 1}}
		own := 0.25 * r.NormFloat64()
		for range l.tokens {
			at += time.Duration(typicalGap * math.Exp(own+0.31225*r.NormFloat64()))
			events = append(events, token{at: at, tokens: 1})
		}
		rec := streamed(sent, events...)
		rec.Seq = int64(i)
		list = append(list, rec)
		free[slot] = float64(rec.End)
		level = l.phi*level + math.Sqrt(1-l.phi*l.phi)*r.NormFloat64()
	}
	slices.SortStableFunc(list, func(a, b *record.Record) int { return cmp.Compare(a.End, b.End) })
	return list
}

// sampled folds requests with so many folds and gives the stage with its intervals.
func sampled(t testing.TB, list []*record.Record, folds int) StageStats {
	t.Helper()
	opts := Options{Times: fixed(0, list[len(list)-1].End), Closed: []bool{true}}
	var all []*Aggregator
	for range folds {
		f, err := NewFold(opts)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all = append(all, f)
	}
	for i, rec := range list {
		all[i/3%folds].Add(rec)
	}
	for _, f := range all[1:] {
		if err := all[0].Merge(f); err != nil {
			t.Fatal(err)
		}
	}
	stages := summarize(t, all[0])
	if err := all[0].Intervals(0, &stages[0]); err != nil {
		t.Fatal(err)
	}
	return stages[0]
}

// offline are the intervals of the same requests by all their samples, in the order of sending.
func offline(list []*record.Record, id string) map[string]estimate.Interval {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *record.Record) int { return cmp.Compare(a.Sent, b.Sent) })
	d, _ := ByID(id)
	var s estimate.Samples
	reader := NewReader(Options{})
	for _, rec := range list {
		req := reader.Read(rec)
		d.Each(req, func(v int64) { s.Values = append(s.Values, float64(v)/d.Scale) })
		if d.Many != nil {
			s.Ends = append(s.Ends, len(s.Values))
		}
	}
	figures := []estimate.Statistic{{Kind: estimate.Mean}}
	names := []string{Average}
	for _, q := range Percentiles() {
		figures, names = append(figures, estimate.Statistic{Kind: estimate.Quantile, Q: q.Quantile}), append(names, q.Name)
	}
	out := map[string]estimate.Interval{}
	for i, at := range estimate.Intervals(&s, figures, estimate.Confidence) {
		if at.Known {
			out[names[i]] = at
		}
	}
	return out
}

// TestIntervalsOfFewRequests: they are those that the samples of single requests give, however
// many folds there were.
func TestIntervalsOfFewRequests(t *testing.T) {
	for _, n := range []int{20, 100, 3000} {
		list := loop{slots: 16, tokens: 9, phi: 0.3}.run(rand.New(rand.NewPCG(1, uint64(n))), n)
		one, three := sampled(t, list, 1), sampled(t, list, 3)
		for _, id := range latencies() {
			got, want := one.Whole.Stats[id].Intervals, offline(list, id)
			if len(got) != len(want) || got == nil {
				t.Errorf("%d requests: %s has %d intervals, want %d", n, id, len(got), len(want))
			}
			for name, at := range got {
				if off := max(math.Abs(at.Lo-want[name].Lo), math.Abs(at.Hi-want[name].Hi)); off > 0.03*(want[name].Hi-want[name].Lo) {
					t.Errorf("%d requests: %s %s is %+v, want %+v", n, id, name, at, want[name])
				}
				if again := three.Whole.Stats[id].Intervals[name]; again != at {
					t.Errorf("%d requests: %s %s is %+v of one fold and %+v of three", n, id, name, at, again)
				}
			}
		}
	}
}

// TestIntervalsOfManyRequests: those by spans of time are about as wide as those of single
// requests, the same however many folds there were, and those of the window that they are of.
func TestIntervalsOfManyRequests(t *testing.T) {
	for _, c := range []struct {
		loop
		off float64 // at most: with many in flight there are few waves, and the intervals are less well known
	}{{loop{slots: 4, tokens: 4}, 0.1}, {loop{slots: 300, tokens: 4}, 0.8}, {loop{slots: 16, tokens: 4, phi: 0.8}, 0.1}} {
		const runs = 2
		l := c.loop
		widths := map[string][]float64{} // as parts of those of single requests
		for seed := range uint64(runs) {
			list := l.run(rand.New(rand.NewPCG(2, seed)), 9000)
			one, three := sampled(t, list, 1), sampled(t, list, 3)
			for _, id := range []string{"time_to_first_token", "inter_token_latency", perTokenID, latencyID} {
				want := offline(list, id)
				for _, name := range []string{"avg", "p50", "p90", "p99"} {
					at, ok := one.Whole.Stats[id].Intervals[name]
					if _, known := want[name]; !ok || !known {
						continue // at the brink either may have too little
					}
					widths[id+" "+name] = append(widths[id+" "+name], (at.Hi-at.Lo)/(want[name].Hi-want[name].Lo))
					if again := three.Whole.Stats[id].Intervals[name]; again != at {
						t.Errorf("%+v: %s %s is %+v of one fold and %+v of three", l, id, name, at, again)
					}
				}
			}
		}
		for figure, all := range widths {
			var r float64
			for _, width := range all {
				r += width / float64(len(all))
			}
			t.Logf("%+v %s %.3f of %d", l, figure, r, len(all))
			if math.Abs(r-1) > c.off {
				t.Errorf("%+v: the interval of %s is %.2f times as wide as by single requests", l, figure, r)
			}
		}
		if len(widths) < 14 {
			t.Errorf("%+v: the intervals of %d figures are known", l, len(widths))
		}
	}
}

// TestIntervalsCover: of many runs, about as many intervals hold the truth as they say.
func TestIntervalsCover(t *testing.T) {
	rounds, most := 40, 300
	if os.Getenv("INFEROMETER_SIMULATE") == "all" {
		rounds, most = 400, 1<<30
	}
	z := map[string]float64{"p50": 0, "p90": 1.2815516}
	truth := func(typical, sigma float64, name string) float64 {
		if name == Average {
			return typical * math.Exp(sigma*sigma/2) / 1e6
		}
		return typical * math.Exp(sigma*z[name]) / 1e6
	}
	for _, c := range []struct {
		loop
		n int
	}{{loop{slots: 8, tokens: 8}, 100}, {loop{slots: 1, tokens: 1}, 300}, {loop{slots: 8, tokens: 4, phi: 0.5}, 1000},
		{loop{slots: 64, tokens: 2}, 6000}, {loop{slots: 600, tokens: 2}, 6000}, {loop{slots: 8, tokens: 2, phi: 0.9}, 6000}} {
		if c.n > most {
			continue
		}
		known, hit := map[string]int{}, map[string]int{}
		for seed := range uint64(rounds) {
			st := sampled(t, c.run(rand.New(rand.NewPCG(seed, uint64(c.n))), c.n), 1)
			for _, name := range []string{Average, "p50", "p90"} {
				for id, want := range map[string]float64{"time_to_first_token": truth(typicalFirst, firstSigma, name), "inter_token_latency": truth(typicalGap, gapSigma, name)} {
					if at, ok := st.Whole.Stats[id].Intervals[name]; ok {
						known[id+" "+name]++
						if at.Lo <= want && want <= at.Hi {
							hit[id+" "+name]++
						}
					}
				}
			}
		}
		for figure, of := range known {
			share := 100 * float64(hit[figure]) / float64(of)
			line := fmt.Sprintf("%+v, %d requests: %-28s known %3d of %d, covers %5.1f %%", c.loop, c.n, figure, of, rounds, share)
			t.Log(line)
			if least := 90 - 100*3*math.Sqrt(0.1*0.9/float64(of)); of > rounds*3/4 && share < least {
				t.Error(line)
			}
		}
	}
}

func BenchmarkIntervals(b *testing.B) {
	for _, n := range []int{100, 4000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			list := loop{slots: 16, tokens: 15}.run(rand.New(rand.NewPCG(1, 2)), n)
			f := mustFold(b, Options{Times: fixed(0, list[len(list)-1].End), Closed: []bool{true}})
			for _, rec := range list {
				f.Add(rec)
			}
			stages := summarize(b, f)
			for b.Loop() {
				if err := f.Intervals(0, &stages[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
