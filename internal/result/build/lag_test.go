package build

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// TestFewLateRequests: a moment in which the machine was busy is no uneven load, where few
// requests make a single one of them a 99th percentile.
func TestFewLateRequests(t *testing.T) {
	for _, tt := range []struct {
		requests, late int
		ok, noted      bool
	}{
		{80, 0, true, false},
		{80, 1, true, true},
		{80, 3, true, true},
		{80, 8, false, false},
		{300, 1, true, false},
		{300, 9, false, false},
	} {
		w := healthy()
		w.plan.Stages = []plan.Stage{{Rate: 200, Requests: int64(tt.requests)}}
		w.recs = w.recs[200 : 200+tt.requests]
		for i, rec := range w.recs {
			if i%(tt.requests/max(tt.late, 1)) == 5 && tt.late > 0 {
				wait(rec)
			}
		}
		r := w.build(t)
		noted := strings.Contains(strings.Join(r.Notes, " "), "were sent late, by up to 150 ms")
		if c := checkOf(r, "dispatch_delay_p99"); c.OK != tt.ok || noted != tt.noted {
			t.Errorf("%d of %d late: %+v, notes %q", tt.late, tt.requests, c, r.Notes)
		}
	}
}

// wait lets a request go 150 ms after it was due.
func wait(rec *record.Record) {
	const by = 150 * ms
	rec.Ready, rec.Sent, rec.Written, rec.End = rec.Ready+by, rec.Sent+by, rec.Written+by, rec.End+by
	for i := range rec.Marks {
		rec.Marks[i].Kernel += by
		rec.Marks[i].User += by
	}
}
