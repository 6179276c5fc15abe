package engine

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"5": 5 * time.Second, " 2 ": 2 * time.Second, "0.5": time.Second / 2, "0": 0, "-3": 0, "": 0, "soon": 0, "NaN": 0,
		"3600": time.Minute, "1e300": time.Minute,
		now.Add(7 * time.Second).Format(http.TimeFormat): 7 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):      0,
		now.Add(time.Hour).Format(http.TimeFormat):       time.Minute,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q is %v, want %v", header, got, want)
		}
	}
}

// A slot of a closed loop waits as long as the server asks for, and no longer than its stage.
func TestRetryAfterIsHeeded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		after  string
		ignore bool
		want   int // requests of each slot in 12 s that fail
		waits  int64
		waited time.Duration // of all slots
	}{
		{"429", 429, "5", false, 3, 6, 24 * time.Second}, // at 0, 5 and 10 s
		{"503", 503, "5", false, 3, 6, 24 * time.Second},
		{"longer than the stage", 429, "30", false, 1, 2, 24 * time.Second},
		{"another status", 404, "5", false, 130, 0, 0}, // breathers only
		{"ignored", 429, "5", true, 130, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &outage{to: time.Hour, class: record.HTTPStatus, status: tt.status, after: tt.after, ignore: tt.ignore}
				recs, mark := o.run(t, load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: 12 * time.Second, Drain: time.Minute})
				if len(recs) != 2*tt.want || mark.DrainEnd != 12*time.Second {
					t.Errorf("%d requests, the end at %v; want %d and 12s", len(recs), mark.DrainEnd, 2*tt.want)
				}
				if mark.RetryAfterWaits != tt.waits || mark.HeededFor != tt.waited {
					t.Errorf("waited %d times for %v, want %d and %v", mark.RetryAfterWaits, mark.HeededFor, tt.waits, tt.waited)
				}
				for _, r := range recs {
					if r.Due != r.Ready {
						t.Errorf("request %d was due at %v and ready at %v: its wait counts as lag", r.Seq, r.Due, r.Ready)
					}
				}
			})
		})
	}
}

// Arrivals do not wait.
func TestRetryAfterOfAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{to: time.Hour, class: record.HTTPStatus, status: 429, after: "5"}
		recs, mark := o.run(t, load.Profile{Arrivals: &every{gap: 10 * time.Millisecond}, MaxSlots: 1, Duration: time.Second, Drain: time.Second})
		if len(recs) != 100 || mark.RetryAfterWaits != 0 {
			t.Errorf("%d requests in 1 s, %d waits; want 100 and none", len(recs), mark.RetryAfterWaits)
		}
	})
}
