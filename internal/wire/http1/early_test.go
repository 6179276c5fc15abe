package http1

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// What a server sends on an idle connection answers no request: the next one goes over
// another.
func TestBytesThatCameBeforeTheRequest(t *testing.T) {
	const (
		good  = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
		stale = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale"
	)
	sent := make(chan struct{}, 1)
	idle := make(chan struct{})
	addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
		for request(in) != nil {
			_, _ = io.WriteString(c, good)
			if n > 0 {
				continue
			}
			<-idle // the response was taken, and the connection is parked
			_, _ = io.WriteString(c, stale)
			sent <- struct{}{}
		}
	})
	c := client(t, addr, timedconn.Timeouts{})
	succeeded(t, send(t.Context(), c, addr, "{}"), "good")
	close(idle)
	<-sent
	<-time.After(10 * time.Millisecond) // longer than a connection is trusted without a look
	for range 2 {
		succeeded(t, send(t.Context(), c, addr, "{}"), "good")
	}
}
