package http1

import (
	"bufio"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// A server that closes its connections after so many responses loses a request on each until
// that is known, and none after.
func TestServerThatClosesAfterSomeResponses(t *testing.T) {
	for _, takes := range []int{1, 3} {
		var opened atomic.Int64
		addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
			opened.Add(1)
			for range takes {
				request(in)
				_, _ = io.WriteString(c, hello)
			}
		})
		c := client(t, addr, timedconn.Timeouts{})
		for i := 0; i < 100 && c.habit.takes.Load() == 0; i++ {
			send(t.Context(), c, addr, "{}") // which may fail: it may have come before the server closed
		}
		if got := c.habit.takes.Load(); got != int64(takes) {
			t.Fatalf("the server takes %d on a connection, and %d were learned", takes, got)
		}
		before := opened.Load()
		for range 4 * takes {
			rec := send(t.Context(), c, addr, "{}")
			succeeded(t, rec, "hello")
			if rec.Resent != 0 {
				t.Errorf("%d: sent again %d times", takes, rec.Resent)
			}
		}
		if n := opened.Load() - before; n < 4 || n > 5 {
			t.Errorf("%d: %d connections for %d requests", takes, n, 4*takes)
		}
	}
}

func TestHabit(t *testing.T) {
	type closing struct {
		carried int64
		idle    time.Duration
	}
	for name, tt := range map[string]struct {
		most int64
		list []closing
		want int64
	}{
		"after each":                 {1, []closing{{1, 0}, {1, 0}, {1, 0}}, 1},
		"too few":                    {1, []closing{{1, 0}, {1, 0}}, 0},
		"idle for long":              {1, []closing{{1, time.Second}, {1, time.Second}, {1, time.Second}}, 0},
		"never the same":             {9, []closing{{9, 0}, {8, 0}, {7, 0}, {9, 0}}, 0},
		"others carried more":        {9, []closing{{1, 0}, {1, 0}, {1, 0}}, 0},
		"a connection that had none": {0, []closing{{0, 0}, {0, 0}, {0, 0}}, 0},
		"after every five":           {5, []closing{{2, 0}, {5, 0}, {5, 0}, {5, 0}}, 5},
	} {
		var h habit
		h.answered(tt.most)
		for _, c := range tt.list {
			h.closed(c.carried, c.idle)
		}
		if got := h.takes.Load(); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
