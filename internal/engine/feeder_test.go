package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"inferometer/internal/load"
)

// A stage of so many requests sends the source's first prompts, each once, however
// many prepare them and however unevenly the slots take them.
func TestAStageSendsTheFirstPromptsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Millisecond, -1)
		b.cfg.Feeders = 3
		b.Engine = New(b.cfg)
		for stage, want := range []int64{700, 1000} {
			b.keeper.recs = nil
			s := load.Stage{Index: stage, InFlight: slots(2), MaxSlots: 2, WarmupRequests: 50, Requests: want - 50, Drain: time.Second}
			mark, err := b.Run(t.Context(), s, nil)
			if err != nil || mark.Reason != "requests" {
				t.Fatal(mark.Reason, err)
			}
			var seqs []int64
			for _, r := range b.keeper.recs {
				seqs = append(seqs, r.Seq)
			}
			slices.Sort(seqs)
			first := int64(700 * stage)
			if int64(len(seqs)) != want || seqs[0] != first || seqs[want-1] != first+want-1 || len(slices.Compact(seqs)) != int(want) {
				t.Errorf("stage %d sent %d prompts, from %d to %d", stage, len(seqs), seqs[0], seqs[len(seqs)-1])
			}
		}
		b.Close()
	})
}
