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

// attempt is how one attempt at a request goes, a second after it began.
type attempt struct {
	class  record.Class // empty: it is answered
	status int
	sent   bool // something was written
	read   bool // something was read
}

// moody is a server that each request meets with the same attempts, one after the other.
type moody struct {
	start    time.Time
	attempts []attempt
}

func (m *moody) Prepare(*prompt.Prompt) (endpoint.Call, error) { return &moodyCall{m: m}, nil }

type moodyCall struct {
	m    *moody
	done int
}

func (c *moodyCall) Do(ctx context.Context, rec *record.Exchange) {
	a := c.m.attempts[c.done]
	c.done++
	if a.sent {
		rec.Sent = time.Since(c.m.start)
	}
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		a.class = record.CutOff
	}
	rec.End, rec.Status = time.Since(c.m.start), a.status
	if a.read {
		rec.Marks = append(rec.Marks, record.Read{User: rec.End})
	}
	if a.class != "" {
		rec.Failure = &record.Failure{Class: a.class}
	}
}

// A request goes again where no server answered it, and never where one did.
func TestRetries(t *testing.T) {
	refused := attempt{class: record.ConnectFailed}
	reset := attempt{class: record.Reset, sent: true}
	fine := attempt{status: 200, sent: true, read: true}
	for name, c := range map[string]struct {
		attempts []attempt
		retries  int
		class    record.Class
		sent     bool
	}{
		"answered":              {[]attempt{fine}, 0, "", true},
		"refused at first":      {[]attempt{refused, fine}, 1, "", true},
		"twice":                 {[]attempt{reset, refused, fine}, 2, "", true},
		"for good":              {[]attempt{refused, refused, refused, refused}, 3, record.ConnectFailed, false},
		"turned away at last":   {[]attempt{reset, {class: record.HTTPStatus, status: 503, sent: true, read: true}}, 1, record.HTTPStatus, true},
		"turned away":           {[]attempt{{class: record.HTTPStatus, status: 503, sent: true, read: true}}, 0, record.HTTPStatus, true},
		"broken in its answer":  {[]attempt{{class: record.Reset, status: 200, sent: true, read: true}}, 0, record.Reset, true},
		"broken in its headers": {[]attempt{{class: record.Reset, sent: true, read: true}}, 0, record.Reset, true},
		"out of time":           {[]attempt{{class: record.TimedOut, sent: true}}, 0, record.TimedOut, true},
		"not trusted":           {[]attempt{{class: record.TLSFailed}}, 0, record.TLSFailed, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, kept := &moody{time.Now(), c.attempts}, new(keeper)
				e := New(Config{
					Now: func() time.Duration { return time.Since(server.start) }, Source: &source{1}, Prepare: server.Prepare, Sink: kept,
					NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1, Retries: 3, Backoff: 10 * time.Second,
				})
				defer e.Close()
				if _, err := e.Run(t.Context(), load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: 1, Drain: time.Hour}, nil); err != nil {
					t.Fatal(err)
				}
				if len(kept.recs) != 1 {
					t.Fatalf("%d records, want 1", len(kept.recs))
				}
				rec := kept.recs[0]
				class := record.Class("")
				if rec.Failure != nil {
					class = rec.Failure.Class
				}
				if rec.Retries != c.retries || class != c.class || (rec.Sent == 0) != c.sent || !c.sent && rec.Sent != record.Never {
					t.Errorf("%d retries, failure %q, sent %v; want %d, %q, sent at 0: %v", rec.Retries, class, rec.Sent, c.retries, c.class, c.sent)
				}
				// A second for each attempt, and waits of 5 to 15 s that double.
				waits := time.Duration(1<<c.retries-1) * 5 * time.Second
				tries := time.Duration(c.retries) * time.Second
				if c.retries > 0 && (rec.LastTry < tries+waits || rec.LastTry > tries+3*waits || rec.End != rec.LastTry+time.Second) {
					t.Errorf("the last attempt was from %v to %v, want it to begin from %v to %v", rec.LastTry, rec.End, tries+waits, tries+3*waits)
				}
			})
		})
	}
}

// What waits for another attempt is broken off with the rest.
func TestRetriesEndWithTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := &moody{time.Now(), []attempt{{class: record.ConnectFailed}}}, new(keeper)
		e := New(Config{
			Now: func() time.Duration { return time.Since(server.start) }, Source: &source{1}, Prepare: server.Prepare, Sink: kept,
			NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1, Retries: 1, Backoff: time.Hour,
		})
		defer e.Close()
		mark, err := e.Run(t.Context(), load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: 1, Drain: 5 * time.Second}, nil)
		if err != nil || mark.DrainEnd != 5*time.Second || len(kept.recs) != 1 || kept.recs[0].Retries != 0 ||
			kept.recs[0].Failure.Class != record.ConnectFailed {
			t.Errorf("%v, ended at %v, records %+v", err, mark.DrainEnd, kept.recs)
		}
	})
}
