package build

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

func TestResentRequests(t *testing.T) {
	for _, tt := range []struct {
		every int // of the 2000 measured ones; 0: none
		added time.Duration
		count int64
		valid bool
		says  string
	}{
		{0, 0, 0, true, ""},
		{200, 0, 10, true, "10 requests had to be sent twice"},
		{20, 0, 100, false, "5 % of the 2000 requests had to be sent twice"}, // an older record does not say how long that took
		{2, 2 * ms, 1000, true, "1,000 requests had to be sent twice: the server closed the connection before reading the request. Latency counts from the first attempt: that added at most 5 % or 1 ms to each."},
		{20, 10 * ms, 100, false, "5 % of the 2000 requests had to be sent twice, because the server closed the connection before reading them, which added more than 5 % or 1 ms to their latency"},
		{200, 10 * ms, 10, true, "Latency counts from the first attempt."},
	} {
		w := healthy()
		w.each(func(i int, r *record.Record) {
			if tt.every > 0 && i%tt.every == 0 {
				if r.Resent = 1; tt.added > 0 {
					r.LastTry = r.Sent + tt.added
				}
			}
		})
		r := w.build(t)
		said := strings.Join(append(r.Notes, r.Verdict.Reasons...), "\n")
		if r.Verdict.Valid != tt.valid || r.Stages[0].Counts.Resent != tt.count || !strings.Contains(said, tt.says) {
			t.Errorf("one in %d: valid %v, %d sent twice: %s", tt.every, r.Verdict.Valid, r.Stages[0].Counts.Resent, said)
		}
		if c := checkOf(r, "resent"); c.OK != tt.valid || c.Budget != 0.01 {
			t.Errorf("one in %d: %+v", tt.every, c)
		}
		published.Fits(t, r)
	}
}

// One failure of this machine's own is one too many.
func TestClientFailures(t *testing.T) {
	w := healthy()
	w.recs[1500].Failure = &record.Failure{Class: record.ClientResource, Message: "socket: too many open files"}
	w.recs[1500].Sent = record.Never
	r := w.build(t)
	if r.Verdict.Valid || len(r.Verdict.Reasons) != 1 || !strings.Contains(r.Verdict.Reasons[0], "too many open files") || !strings.Contains(r.Verdict.Reasons[0], "ulimit -n") {
		t.Errorf("valid %v: %q", r.Verdict.Valid, r.Verdict.Reasons)
	}
	if c := checkOf(r, "client_failures"); c.OK || c.Value != 1 {
		t.Errorf("%+v", c)
	}
	// Nor are they the server's where nothing else happened.
	w.each(func(_ int, r *record.Record) {
		r.Failure = &record.Failure{Class: record.ClientResource, Message: "no ports"}
	})
	if c := checkOf(w.build(t), "client_failures"); c.OK || c.Value != 2200 {
		t.Errorf("all of them: %+v", c)
	}
}

func TestStreamsThatDoNotEnd(t *testing.T) {
	w := healthy()
	w.recs[1500].Unterminated = true
	r := w.build(t)
	if !r.Verdict.Valid || !strings.Contains(strings.Join(r.Notes, "\n"), "1 response signalled completion but did not end") {
		t.Errorf("valid %v: %q", r.Verdict.Valid, r.Notes)
	}
}
