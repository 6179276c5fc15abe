package abort

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// A stage whose requests all fail alike is ended, when there were enough of them for long
// enough.
func TestAlike(t *testing.T) {
	const ms = time.Millisecond
	refused := &record.Failure{Class: record.HTTPStatus, Status: 404}
	for _, tt := range []struct {
		name   string
		closed bool
		n      int
		apart  time.Duration
		bend   func(i int, rec *record.Record)
		want   bool
	}{
		{"all alike", true, 60, 100 * ms, nil, true},
		{"an open loop", false, 60, 100 * ms, nil, false},
		{"too few", true, 49, 100 * ms, nil, false},
		{"just enough", true, 50, 100 * ms, nil, true},
		{"too soon", true, 1000, ms, nil, false},
		{"one answered", true, 60, 100 * ms, func(i int, rec *record.Record) {
			if i == 7 {
				rec.Failure = nil
			}
		}, false},
		{"another status", true, 60, 100 * ms, func(i int, rec *record.Record) {
			if i == 7 {
				rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: 500}
			}
		}, false},
		{"cut off by this side", true, 60, 100 * ms, func(_ int, rec *record.Record) { rec.Failure = &record.Failure{Class: record.CutOff} }, false},
		{"of the stage before", true, 60, 100 * ms, func(_ int, rec *record.Record) { rec.Stage = 0 }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var reasons []record.StopReason
			a := NewSameFailure(func(reason record.StopReason) { reasons = append(reasons, reason) })
			a.Begin(1, tt.closed)
			for i := range tt.n {
				at := time.Duration(i) * tt.apart
				rec := &record.Record{Stage: 1, Ready: at, End: at + ms, Failure: refused}
				if tt.bend != nil {
					tt.bend(i, rec)
				}
				a.Add(rec)
			}
			if halted := len(reasons) == 1 && reasons[0] == record.StopAlike; halted != tt.want || len(reasons) > 1 {
				t.Errorf("halted %q, want %v", reasons, tt.want)
			}
		})
	}
}
