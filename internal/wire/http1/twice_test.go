package http1

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// TestAnswerTwice: a second answer behind the first is a fault of the server's, since the
// next request could have taken it for its own.
func TestAnswerTwice(t *testing.T) {
	addr := serve(t, answer(hello+hello))
	rec := send(t.Context(), client(t, addr, timedconn.Timeouts{}), addr, "{}")
	if rec.Failure == nil || rec.Failure.Class != record.BadBody {
		t.Errorf("%+v", rec.Failure)
	}
}
