package http1

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	netclock "github.com/inferometer/inferometer/internal/wire/timedconn"
)

// A user who goes away closes the connection so long after the whole request was written; what had come is kept.
func TestUserCancels(t *testing.T) {
	begun := "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"
	for _, tt := range []struct {
		name, text, body string
		after            time.Duration
		lim              netclock.Timeouts
		class            record.Class
	}{
		{"inside the response", begun, "hello", 200 * time.Millisecond, netclock.Timeouts{Request: time.Minute}, record.UserCancelled},
		{"before the first byte", "", "", 50 * time.Millisecond, netclock.Timeouts{FirstByte: time.Minute}, record.UserCancelled},
		{"at once", "", "", 1, netclock.Timeouts{}, record.UserCancelled},
		{"a limit is nearer", begun, "hello", time.Minute, netclock.Timeouts{Request: 200 * time.Millisecond}, record.TimedOut},
		{"the response is quicker", begun + " all", "hello all", time.Minute, netclock.Timeouts{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			read, left := make(chan string, 1), make(chan struct{})
			addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
				read <- string(request(in))
				_, _ = io.WriteString(c, tt.text)
				_, _ = io.Copy(io.Discard, in)
				close(left)
			})
			c := client(t, addr, tt.lim)
			rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}, CancelAfter: tt.after}
			c.Do(t.Context(), head(addr).Encode([]byte("{}")), rec)
			if got := <-read; got != "{}" {
				t.Errorf("the server read %q", got)
			}
			if tt.class == "" {
				succeeded(t, rec, tt.body)
				return
			}
			if rec.Failure == nil || rec.Failure.Class != tt.class || string(rec.Body) != tt.body {
				t.Fatalf("failure %+v, body %q", rec.Failure, rec.Body)
			}
			if late := rec.End - rec.Written; tt.class == record.UserCancelled && late < tt.after {
				t.Errorf("gave up %v after it was written, want %v", late, tt.after)
			}
			<-left
		})
	}
}

// The time of a user begins when the request was written, however long that takes.
func TestUserCancelsNoRequestThatIsBeingWritten(t *testing.T) {
	got := make(chan int, 1)
	addr := serve(t, func(_ int, _ *net.TCPConn, in *bufio.Reader) {
		time.Sleep(100 * time.Millisecond)
		got <- len(request(in))
	})
	c := client(t, addr, netclock.Timeouts{})
	rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}, CancelAfter: 50 * time.Millisecond}
	c.Do(t.Context(), head(addr).Encode([]byte(strings.Repeat("x", 32<<20))), rec)
	if n := <-got; n != 32<<20 {
		t.Errorf("the server read %d bytes (%+v)", n, rec.Failure)
	}
}
