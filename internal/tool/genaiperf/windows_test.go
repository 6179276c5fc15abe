package genaiperf

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

func TestBoundariesOfWindows(t *testing.T) {
	const s = time.Second
	ended := window{ended: true, mark: record.StageSummary{StageTimes: record.StageTimes{WarmupEnd: 1 * s, SendEnd: 4 * s, DrainEnd: 5 * s}}}
	ended.header.Start = time.Unix(0, 0)
	killed := ended
	killed.ended = false
	for _, tt := range []struct {
		name string
		w    window
		set  args.Settings
		want []uint64
	}{
		{"a number of requests", ended, args.Settings{Requests: 9}, []uint64{1e9, 5e9}},
		{"three intervals", ended, args.Settings{Interval: s}, []uint64{1e9, 2e9, 3e9, 4e9}},
		{"intervals that do not come out even", ended, args.Settings{Interval: 1300 * time.Millisecond}, []uint64{1e9, 2.3e9, 4e9}},
		{"stopped", killed, args.Settings{Requests: 9}, []uint64{1e9, 4e9}},
		{"sessions", ended, args.Settings{SessionConcurrency: 2}, []uint64{0, math.MaxUint64}},
	} {
		if got := tt.w.boundaries(&tt.set); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
