package metric

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// What has ended of a stage is counted by phase, and from 0 with the next stage.
func TestLiveCountsTheStage(t *testing.T) {
	live := new(Live)
	f := mustFold(t, Options{Bounds: fixed(0, Unknown), Live: live})
	for _, step := range []struct {
		stage            int
		phase            record.Phase
		warmup, measured int64
	}{
		{0, record.Warmup, 1, 0},
		{0, record.Measured, 1, 1},
		{0, record.Measured, 1, 2},
		{1, record.Warmup, 1, 0},
		{1, record.Measured, 1, 1},
	} {
		rec := evenly(0, 10*msec, 100, 20)
		rec.Stage, rec.Phase = step.stage, step.phase
		f.Add(rec)
		if w, m := live.Ended(step.stage, record.Warmup), live.Ended(step.stage, record.Measured); w != step.warmup || m != step.measured {
			t.Errorf("after %+v: %d of the warm-up and %d measured", step, w, m)
		}
	}
	if n := live.Ended(0, record.Measured) + live.Ended(2, record.Measured); n != 0 {
		t.Errorf("%d of stages that are not under way", n)
	}
}
