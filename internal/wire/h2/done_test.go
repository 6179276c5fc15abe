package h2

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// A stream that says that it is done and does not end is complete after a while, and
// the connection goes on.
func TestStreamThatDoesNotEnd(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		for {
			id, _ := p.request()
			if id == 0 {
				return
			}
			p.head(id, false, ":status", "200")
			p.data(id, false, "data: [DONE]\n\n")
		}
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	c.grace = time.Millisecond
	for i := range 2 {
		rec := to.do(t.Context(), c, 0, "")
		wantOK(t, rec, "data: [DONE]\n\n")
		if !rec.Unterminated || rec.Conn.Reused != (i > 0) {
			t.Errorf("unended %v, connection %+v", rec.Unterminated, rec.Conn)
		}
	}
}

// Comments after the end do not hold the slot for longer.
func TestCommentsAfterTheEnd(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		p.head(id, false, ":status", "200")
		p.data(id, false, "data: [DONE]\n\n")
		p.data(id, false, ": still here\n\n")
		p.request() // until the client leaves
	})
	c := to.client(t, timedconn.Timeouts{Request: time.Minute}, 8)
	c.grace = 100 * time.Millisecond
	if rec := to.do(t.Context(), c, 0, ""); rec.Failure != nil || !rec.Unterminated || rec.End > rec.Marks[len(rec.Marks)-1].Time() {
		t.Errorf("unended %v, failure %+v", rec.Unterminated, rec.Failure)
	}
}
