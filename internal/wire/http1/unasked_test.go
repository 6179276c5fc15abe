package http1

import (
	"testing"
	"time"

	"inferometer/internal/record"
	"inferometer/internal/wire/clock"
)

// TestUnasked: what came before a request is no answer to it, but for the error of stamps,
// and where the kernel's stamps are known.
func TestUnasked(t *testing.T) {
	const sent = time.Millisecond
	for name, tt := range map[string]struct {
		at     time.Duration
		reused bool
		want   bool
	}{
		"after":            {sent + 10*time.Microsecond, true, false},
		"long before":      {sent / 2, true, true},
		"within the error": {sent - 5*time.Microsecond, true, false},
		"no kernel stamp":  {record.Never, true, false},
		"a new connection": {sent / 2, false, false},
	} {
		rec := &record.Record{Status: 200, Sent: sent, Conn: record.Conn{Reused: tt.reused}, Marks: []record.Mark{{Kernel: tt.at}}}
		if got := unasked(rec); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAnswerTwice: a second answer behind the first is a fault of the server's, since the
// next request could have taken it for its own.
func TestAnswerTwice(t *testing.T) {
	addr := serve(t, answer(hello+hello))
	rec := send(t.Context(), client(t, addr, clock.Limits{}), addr, "{}")
	if rec.Failure == nil || rec.Failure.Class != record.BadBody {
		t.Errorf("%+v", rec.Failure)
	}
}
