package grpc

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// A request that may not be sent any more is not, and one that a server has dropped does not go again.
func TestBarred(t *testing.T) {
	var barred atomic.Bool
	s := play(t, func(p *peer) {
		stream, _ := p.request()
		p.begin(stream)
		p.say(stream, ".a fine")
		p.request()
		barred.Store(true)
		_ = p.conn.SetLinger(0)
	}, answering)
	c := s.client(t, Options{})
	c.soon = time.Hour
	ask := func(id string) *record.Exchange {
		rec := &record.Exchange{Record: record.Record{Streamed: true}, MaySend: func() bool { return !barred.Load() }}
		c.Stream(t.Context(), streamMethod, id, message(t, c, "%s", id), rec, sortTest)
		return rec
	}
	wantOK(t, ask("a"), ".a fine")
	rec := ask("b")
	wantFailure(t, rec, record.Dropped, 200, "")
	if rec.Resent != 0 || rec.Sent == record.Never {
		t.Errorf("sent again %d times, first at %v", rec.Resent, rec.Sent)
	}
	rec = ask("c")
	wantFailure(t, rec, record.Cancelled, 0, "nothing may be sent any more")
	if rec.Sent != record.Never {
		t.Errorf("sent at %v", rec.Sent)
	}
	barred.Store(false)
	wantOK(t, ask("d"), ".d fine")
}
