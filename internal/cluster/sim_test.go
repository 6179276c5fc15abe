package cluster

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"testing/synctest"
)

// Coordinators, workers and the bus run on virtual time, with a network and faults that follow from a seed: each run ends, sends and
// records each request once, sends nothing after its end, and its report says what happened.
//
// INFEROMETER_SEEDS=N simulates seeds 1 to N, and INFEROMETER_SEED=S seed S alone, with its log.
func TestSimulation(t *testing.T) {
	seeds, alone := uint64(200), false
	if text := os.Getenv("INFEROMETER_SEEDS"); text != "" {
		seeds, _ = strconv.ParseUint(text, 10, 64)
	}
	first := uint64(1)
	if text := os.Getenv("INFEROMETER_SEED"); text != "" {
		first, _ = strconv.ParseUint(text, 10, 64)
		seeds, alone = 1, true
	}
	before := debug.SetGCPercent(800) // most of it is short-lived
	t.Cleanup(func() { debug.SetGCPercent(before) })
	lanes := uint64(runtime.GOMAXPROCS(0))
	for lane := range lanes {
		t.Run(fmt.Sprint("lane ", lane), func(t *testing.T) {
			t.Parallel()
			for seed := first + lane; seed < first+seeds; seed += lanes {
				t.Run(fmt.Sprint(seed), func(t *testing.T) { simulate(t, newScenario(seed), alone) })
			}
		})
	}
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
			t.Logf("again: INFEROMETER_SEED=%d go test ./internal/cluster -run TestSimulation", s.seed)
		}
	})
}
