package h2

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// doWhile carries out a request that may go as long as nothing bars it.
func (to target) doWhile(t *testing.T, c *Client, barred *atomic.Bool, own ...http1.Field) *record.Exchange {
	rec := &record.Exchange{
		Record: record.Record{Streamed: true, Sent: record.Never, Written: record.Never}, MaySend: func() bool { return !barred.Load() },
	}
	c.Do(t.Context(), http1.NewHead(to.url, nil, nil).Encode(nil, own...), rec)
	return rec
}

// A request that may not be sent any more by the time its connection is open is not.
func TestBarred(t *testing.T) {
	to := play(t, echo)
	c := to.client(t, timedconn.Timeouts{}, 8)
	var barred atomic.Bool
	barred.Store(true)
	rec := to.doWhile(t, c, &barred, name("b"))
	wantFailure(t, rec, record.Cancelled, "nothing may be sent any more")
	if rec.Sent != record.Never {
		t.Errorf("sent at %v", rec.Sent)
	}
}

// One that a server has dropped does not go again; why it failed stands.
func TestBarredFromGoingAgain(t *testing.T) {
	var barred atomic.Bool
	to := play(t, func(p *peer) {
		p.settings()
		id, _ := p.request()
		p.answer(id, "first")
		p.request()
		barred.Store(true)
		_ = p.conn.SetLinger(0)
	}, echo)
	c := to.client(t, timedconn.Timeouts{}, 8)
	c.soon = time.Hour
	wantOK(t, to.doWhile(t, c, &barred), "first")
	rec := to.doWhile(t, c, &barred, name("a"))
	wantFailure(t, rec, record.Dropped, "")
	if rec.Resent != 0 || rec.Sent == record.Never {
		t.Errorf("sent again %d times, first at %v", rec.Resent, rec.Sent)
	}
}
