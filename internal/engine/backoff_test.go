package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// outage is a server that answers after 50 ms, and fails every request at once while it is
// down.
type outage struct {
	start    time.Time
	from, to time.Duration
	class    record.Class
	status   int    // of the failures
	after    string // Retry-After of the failures
	ignore   bool   // it is not heeded
}

func (o *outage) Prepare(*prompt.Prompt) (endpoint.Call, error) { return o, nil }

func (o *outage) Do(_ context.Context, rec *record.Exchange) {
	if now := time.Since(o.start); now >= o.from && now < o.to {
		rec.End, rec.Status, rec.RetryAfter = now, o.status, o.after
		rec.Failure = &record.Failure{Class: o.class, Status: o.status}
		return
	}
	rec.Sent, rec.Status = time.Since(o.start), 200
	time.Sleep(50 * time.Millisecond)
	rec.End = time.Since(o.start)
}

func (o *outage) run(t *testing.T, s load.Profile) ([]*record.Exchange, record.StageSummary) {
	t.Helper()
	o.start = time.Now()
	kept := new(keeper)
	e := New(Config{
		Now: func() time.Duration { return time.Since(o.start) }, Source: &source{-1}, Prepare: o.Prepare, Sink: kept,
		NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1,
		IgnoreRetryAfter: o.ignore,
	})
	defer e.Close()
	mark, err := e.Run(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return kept.recs, mark
}

// A slot that finds no server tries again at intervals that grow to a bound, and goes on as
// before when there is one again.
func TestBreathers(t *testing.T) {
	for _, class := range []record.Class{record.ResolveFailed, record.ConnectFailed, record.TLSFailed, record.Reset} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &outage{from: time.Second, to: 2 * time.Second, class: class}
				recs, mark := o.run(t, load.Profile{InFlight: slots(1), MaxSlots: 1, Duration: 3 * time.Second, Drain: time.Second})
				if mark.SendEnd != 3*time.Second {
					t.Errorf("sending ended at %v, want 3s", mark.SendEnd)
				}
				var failed []time.Duration
				answered := 0
				for _, r := range recs {
					if r.Failure != nil {
						failed = append(failed, r.End)
						continue
					}
					answered++
					if r.Due != r.Ready || r.Sent != r.Ready || r.End-r.Sent != 50*time.Millisecond {
						t.Errorf("request %d: due %v, ready %v, sent %v, ended %v: its wait is in its figures", r.Seq, r.Due, r.Ready, r.Sent, r.End)
					}
				}
				// At 1 s twice, then 1, 2, 4, 8, 16, 32, 64 and from there on 100 ms apart: the
				// first one beyond 2 s is answered.
				want := []time.Duration{1000, 1000, 1001, 1003, 1007, 1015, 1031, 1063, 1127, 1227, 1327, 1427, 1527, 1627, 1727, 1827, 1927}
				if len(failed) != len(want) {
					t.Fatalf("%d requests failed, at %v; want %d", len(failed), failed, len(want))
				}
				for i := range want {
					if failed[i] != want[i]*time.Millisecond {
						t.Fatalf("failed at %v, want %v (ms)", failed, want)
					}
				}
				if answered != 20+20 { // the second lot from 2.027 s
					t.Errorf("%d requests were answered, want 40", answered)
				}
			})
		})
	}
}

// Who was answered goes on at once, whatever the response was, until it was refused five times
// in a row.
func TestFewRefusalsNeedNoBreather(t *testing.T) {
	for _, tt := range []struct {
		requests int64
		end      time.Duration // ms
	}{{5, 0}, {6, 1}, {7, 3}, {12, 127}, {13, 227}, {15, 427}} {
		synctest.Test(t, func(t *testing.T) {
			o := &outage{to: time.Hour, class: record.HTTPStatus, status: 404}
			recs, mark := o.run(t, load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: tt.requests, Drain: time.Second})
			if int64(len(recs)) != tt.requests || recs[len(recs)-1].End != tt.end*time.Millisecond {
				t.Errorf("%d requests, the last at %v; want %d and %v ms (%+v)", len(recs), recs[len(recs)-1].End, tt.requests, int64(tt.end), mark)
			}
		})
	}
}

// An open loop keeps its own time, server or none.
func TestArrivalsTakeNoBreather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{to: time.Hour, class: record.ConnectFailed}
		recs, _ := o.run(t, load.Profile{Arrivals: &every{gap: time.Millisecond}, MaxSlots: 1, Duration: time.Second, Drain: time.Second})
		if len(recs) != 1000 {
			t.Errorf("%d requests in 1 s, want 1000", len(recs))
		}
	})
}

// A breather ends with the stage.
func TestBreathersEndWithTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{to: time.Hour, class: record.ConnectFailed}
		_, mark := o.run(t, load.Profile{InFlight: slots(4), MaxSlots: 4, Duration: 1250 * time.Millisecond, Drain: time.Minute})
		if mark.DrainEnd != 1250*time.Millisecond {
			t.Errorf("it ended at %v, want 1.25s", mark.DrainEnd)
		}
	})
}
