package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

func TestMeterOfAWholeStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Mode, m.Windows, m.MaxTrials = plan.WindowStage, 1, 1
		b := newBench(m)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second+time.Millisecond, cancel)
		time.Sleep(time.Second / 2) // nothing is sent yet
		go b.load(ctx, func(int) time.Duration { return 100 * time.Millisecond })
		l := b.Run(ctx, 0, 1, 0)
		time.Sleep(time.Second)
		b.Finish(context.Background(), l, 0)
		// Six requests were sent before the load ended, from 0.5 s on.
		if l.Ended != record.StopWhole || !l.Passed || l.Merged.Requests != 6 || l.Merged.End != 1100*time.Millisecond {
			t.Fatalf("ended %q, merged %+v", l.Ended, l.Merged)
		}
		if got := l.Merged.Throughput; got < 9.99 || got > 10 {
			t.Errorf("throughput %v, want 6 requests in 0.6 s", got)
		}
	})
}

// Requests that come at a rate are never more per second than are sent.
// differs: pa-request-count-rate
func TestMeterOfAWholeStageAtARate(t *testing.T) {
	for name, tc := range map[string]struct {
		ends []time.Duration // of requests that are due every 100 ms
		span time.Duration
	}{
		"in time":        {[]time.Duration{20, 120, 220, 320}, 400},
		"one":            {[]time.Duration{20}, 20},
		"out of order":   {[]time.Duration{320, 20, 220, 120}, 400},
		"a slow server":  {[]time.Duration{200, 400, 600, 800}, 800},
		"as it goes out": {[]time.Duration{90, 190, 290, 390}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := plan.DefaultMeasurement()
				m.Mode, m.Windows, m.MaxTrials = plan.WindowStage, 1, 1
				b := newBench(m)
				b.Paced = true
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				l := b.Run(ctx, 0, 10, 0)
				for _, end := range tc.ends {
					due := end / 100 * 100
					if name == "a slow server" {
						due = end/2 - 100
					}
					b.Log.samples = append(b.Log.samples, Sample{
						Due: due * time.Millisecond, Sent: due * time.Millisecond, End: end * time.Millisecond, Closed: end * time.Millisecond, Responses: 1,
					})
				}
				b.Log.samples = append(b.Log.samples, Sample{Due: -time.Second, Sent: -time.Second, End: -time.Second / 2, Warmup: true})
				b.Finish(context.Background(), l, 0)
				if got := l.Merged.End - l.Merged.Begin; got.Round(time.Microsecond) != tc.span*time.Millisecond ||
					l.Merged.Requests != int64(len(tc.ends)) {
					t.Errorf("%d requests in %v, want %d in %v", l.Merged.Requests, got, len(tc.ends), tc.span*time.Millisecond)
				}
			})
		})
	}
}
