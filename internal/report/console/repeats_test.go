package console

import (
	"bytes"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// repeated are runs of one plan with a latency and a rate.
func repeated(values ...float64) []repeat.Run {
	var runs []repeat.Run
	for i, v := range values {
		runs = append(runs, repeat.Run{
			Dir: string(rune('1' + i)),
			Result: &result.Result{
				Seed: 42 + uint64(i), Started: time.Date(2026, 11, 17, 10, i, 0, 0, time.UTC), Duration: 20,
				Verdict: result.Verdict{Status: result.Valid, Valid: true},
				Stages: []result.Stage{{
					Name: "stage 1", Load: "8 in flight", Counts: result.Counts{Sent: 100, OK: 100},
					Metrics: map[string]result.Stat{
						"time_to_first_token": {Unit: "ms", Avg: v, Distribution: &result.Distribution{P50: v - 1, P99: 2 * v}, LowSamples: []string{"p99"}},
						"request_throughput":  {Unit: "requests/sec", Avg: 1000 / v},
					},
				}},
			},
			Within: map[int]map[repeat.Key]estimate.Interval{0: {{Metric: "time_to_first_token", Stat: "avg"}: {Value: v, Lo: v - 0.2, Hi: v + 0.2, Known: true}}},
		})
	}
	return runs
}

func TestRepeats(t *testing.T) {
	value := 0.062
	whole := repeat.Make(repeated(50.1, 52.3, 49.2), 3, "v1")
	whole.Until = &repeat.Until{Expression: "ci(ttft.p99) < 5%", Levels: []repeat.Value{{Where: "stage 1 (8 in flight)", Value: &value, Bound: 0.05}}}
	bad := repeated(50.1, 52.3)
	bad[1].Result.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"the client was slow"}}
	part := repeat.Make(bad, 5, "v1")
	part.Ended = repeat.EndedInterrupted
	none := repeat.Make(nil, 5, "v1")
	none.Ended = repeat.EndedInterrupted
	for name, d := range map[string]*repeat.Document{"repeats": whole, "repeats-part": part, "repeats-none": none} {
		for _, all := range []bool{false, true} {
			o := Options{Subject: "m chat at http://h", All: all}
			if all {
				name += "-all"
			} else {
				o.Dir, o.Files = "out", []string{"repeats.json", "1/"}
			}
			var b bytes.Buffer
			if err := Repeats(&b, d, o); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", b.String())
		}
	}
}
