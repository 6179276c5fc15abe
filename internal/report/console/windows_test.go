package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep"
)

func TestWindows(t *testing.T) {
	window := func(begin time.Duration, requests, failed int64) sweep.Window {
		return sweep.Window{
			Begin: begin * time.Second, End: (begin + 1) * time.Second, Requests: requests, Failed: failed, Throughput: float64(requests),
			Latency: sweep.LatencyStats{Avg: 12 * time.Millisecond, Percentiles: []sweep.Percentile{{P: 99, Value: 34 * time.Millisecond}}},
		}
	}
	merged := window(0, 291, 0)
	merged.End, merged.Throughput = 3*time.Second, 97
	level := &sweep.Level{Ended: "stable", Windows: []sweep.Window{window(0, 100, 0), window(1, 91, 4), window(2, 100, 0)}, Merged: &merged}
	r := &result.Result{Stages: []result.Stage{{Name: "a", Load: "2 in flight", Level: &result.WindowStats{Level: level}}}}
	var b bytes.Buffer
	if err := Write(&b, r, Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  Window  Length  Requests  Failed  Requests/s  Latency    p99\n",
		"       2     1 s        91       4          91    12 ms  34 ms\n",
		"  Stable; the last of them together: 291 requests in 3 s, 97/s, latency 12 ms on average\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestEveryEndOfWindowsIsNamed(t *testing.T) {
	for _, reason := range []record.StopReason{record.StopStable, record.StopThroughput, record.StopThreshold, record.StopTrials,
		record.StopEmpty, record.StopWhole} {
		if ending(reason) == ending("") {
			t.Errorf("%s has no words", reason)
		}
	}
}
