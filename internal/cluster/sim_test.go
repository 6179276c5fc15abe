package cluster

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// Coordinators, workers and the bus run on virtual time, with a network and faults that follow from a seed: each run ends, sends and
// records each request once, sends nothing after its end, and its report says what happened.
//
// INFEROMETER_SEEDS says which: 2000, 1001-2000, or one alone, as 1679-1679, of which the log is shown.
func TestSimulation(t *testing.T) {
	first, last := seeds(t, cmp.Or(os.Getenv("INFEROMETER_SEEDS"), "100"))
	before := debug.SetGCPercent(800) // most of it is short-lived
	t.Cleanup(func() { debug.SetGCPercent(before) })
	lanes := 2 * uint64(runtime.GOMAXPROCS(0)) // each waits for its disk at times
	for lane := range lanes {
		t.Run(fmt.Sprint("lane ", lane), func(t *testing.T) {
			t.Parallel()
			for seed := first + lane; seed <= last; seed += lanes {
				t.Run(fmt.Sprint(seed), func(t *testing.T) { simulate(t, newScenario(seed), first == last) })
			}
		})
	}
}

// Seeds that have shown a fault, of which each needs some tries: where two things happen at the same instant, the scheduler chooses.
func TestSimulationAgain(t *testing.T) {
	for _, seed := range []uint64{11897, 92798} {
		for range 4 {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { simulate(t, newScenario(seed), false) })
		}
	}
}

// seeds reads which to simulate.
func seeds(t *testing.T, text string) (first, last uint64) {
	from, to, several := strings.Cut(text, "-")
	if !several {
		from, to = "1", text
	}
	first, err := strconv.ParseUint(from, 10, 64)
	last, also := strconv.ParseUint(to, 10, 64)
	if err != nil || also != nil {
		t.Fatalf("INFEROMETER_SEEDS=%q: write 2000, or 1001-2000", text)
	}
	return first, last
}

// simulate runs a scenario and looks at what came of it.
func simulate(t *testing.T, s scenario, loud bool) {
	synctest.Test(t, func(t *testing.T) {
		w := play(t, s)
		for i := range s.runs {
			j := judge{t: t, s: s, w: w, coordinator: w.procs[i*(s.workers+1)], workers: w.procs[i*(s.workers+1)+1:][:s.workers], run: i}
			j.judge()
		}
		if t.Failed() || loud {
			t.Log(s)
			for _, p := range w.procs {
				t.Logf("%s ended at %v with %v:\n%s", p.name, p.ended.Sub(p.born), p.err, &p.log)
			}
			t.Logf("again: INFEROMETER_SEEDS=%d-%d go test ./internal/cluster -run TestSimulation", s.seed, s.seed)
		}
	})
}
