package metric

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// What has ended is counted by stage and phase.
func TestLiveCountsTheStage(t *testing.T) {
	live := new(LiveStats)
	f := mustFold(t, Options{Times: fixed(0, record.NotYet), Live: live})
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
		if w, m := live.Part(step.stage, record.Warmup).Ended(), live.Part(step.stage, record.Measured).Ended(); w != step.warmup ||
			m != step.measured {
			t.Errorf("after %+v: %d of the warm-up and %d measured", step, w, m)
		}
	}
	if n := live.Part(-1, record.Measured).Ended() + live.Part(2, record.Measured).Ended(); n != 0 {
		t.Errorf("%d of stages that have not begun", n)
	}
}

// What is good, failed and long is counted for each part, and merged from all writers.
func TestLiveIsMerged(t *testing.T) {
	var lives []*LiveStats
	for range 2 {
		live := new(LiveStats)
		f := mustFold(t, Options{Times: fixed(0, record.NotYet), Live: live, SLOs: []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(60 * msec)}}})
		for _, first := range []time.Duration{50, 100} {
			rec := evenly(0, first*msec, 10*msec, 4)
			rec.Due = rec.Sent - 5*msec
			f.Add(rec)
		}
		rec := evenly(0, 50*msec, 10*msec, 4)
		rec.Stage, rec.Failure = 1, &record.Failure{Class: record.Stalled}
		f.Add(rec)
		lives = append(lives, live)
	}
	all := MergeLive(nil, lives)
	p := all.Part(0, record.Measured)
	if p.OK.Load() != 4 || p.Good.Load() != 2 || p.Failed.Load() != 0 || p.ITL.Count() != 12 {
		t.Errorf("%d ok, %d good, %d failed, %d gaps", p.OK.Load(), p.Good.Load(), p.Failed.Load(), p.ITL.Count())
	}
	if p.TTFT.Sum() != int64(300*msec) || p.TTFTFromDue.Sum() != int64(320*msec) {
		t.Errorf("TTFT adds up to %v from sent, %v from due", p.TTFT.Sum(), p.TTFTFromDue.Sum())
	}
	if got := all.Part(1, record.Measured).Failures(); len(got) != 1 || got[record.Stalled] != 2 {
		t.Errorf("failures: %v", got)
	}
	if again := MergeLive(all.Stages()[:1], lives); again.Part(0, record.Measured) != p || again.Part(1, record.Measured).Failed.Load() != 2 {
		t.Error("a stage that is known was put together again")
	}
}

// Gaps that a long stream keeps as a histogram count like the others.
func TestLiveCountsTails(t *testing.T) {
	live := new(LiveStats)
	f := mustFold(t, Options{Times: fixed(0, record.NotYet), Live: live})
	rec := evenly(0, 10*msec, 10*msec, 4)
	rec.Tail = &record.Tail{Events: 2, Tokens: 1, First: 45 * msec, Last: 50 * msec, Visible: record.Never}
	rec.Tail.Gaps.Add(int64(5 * msec))
	rec.Tail.Gaps.Add(int64(5 * msec))
	f.Add(rec)
	if itl := &live.Part(0, record.Measured).ITL; itl.Count() != 5 || itl.Sum() < int64(39*msec) || itl.Sum() > int64(41*msec) {
		t.Errorf("%d gaps of %v together, want 5 of about 40 ms", itl.Count(), time.Duration(itl.Sum()))
	}
}

// Stages may begin while others look.
func TestLiveGrowsWhileItIsMerged(t *testing.T) {
	for range 20 {
		live, done := new(LiveStats), make(chan struct{})
		go func() {
			defer close(done)
			for i := range 500 {
				live.stage(i)[record.Measured].OK.Add(1)
			}
		}()
		var seen int64
		for going := true; going; {
			select {
			case <-done:
				going = false
			default:
			}
			seen = 0
			for _, s := range MergeLive(nil, []*LiveStats{live}).Stages() {
				seen += s[record.Measured].OK.Load()
			}
		}
		if seen != 500 {
			t.Fatalf("%d of 500 requests are seen at the end", seen)
		}
	}
}
