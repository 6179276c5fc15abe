package h2

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// A user who goes away resets the stream and leaves the connection to the others.
func TestUserCancels(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		gone, release := make(chan struct{}, 1), make(chan struct{})
		to := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				gone <- struct{}{}
			case <-release:
			}
		})
		c := to.client(t, timedconn.Timeouts{}, 8)
		other := make(chan *record.Exchange)
		go func() { other <- to.do(t.Context(), c, 1, "stays") }()
		after := 200 * time.Millisecond
		rec := &record.Exchange{Record: record.Record{Streamed: true, Sent: record.Never, Written: record.Never}, CancelAfter: after}
		c.Do(t.Context(), http1.NewHead(to.url, nil, nil).Encode([]byte("goes")), rec)
		wantFailure(t, rec, record.UserCancelled, "went away")
		if late := rec.End - rec.Written; late < after || string(rec.Body) != "begun" {
			t.Errorf("gave up %v after it was written, body %q", late, rec.Body)
		}
		select {
		case <-gone:
		case <-time.After(patience):
			t.Fatal("the server was not told")
		}
		close(release)
		wantOK(t, <-other, "begun")
		if rec := to.do(t.Context(), c, 0, "next"); !rec.Conn.Reused {
			t.Error("the connection was given up")
		}
	})
}

func TestUserCancelsBeforeTheFirstByte(t *testing.T) {
	to := serve(t, false, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := to.client(t, timedconn.Timeouts{}, 8)
	for range 2 {
		rec := &record.Exchange{Record: record.Record{Streamed: true, Sent: record.Never, Written: record.Never}, CancelAfter: 1}
		c.Do(t.Context(), http1.NewHead(to.url, nil, nil).Encode([]byte("goes")), rec)
		wantFailure(t, rec, record.UserCancelled, "went away")
		if rec.Written == record.Never {
			t.Error("it was not written")
		}
	}
}
