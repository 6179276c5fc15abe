package netclock

import "time"

// What follows is for connections that carry many requests at once. One goroutine
// may read while another writes; none of Exchange, Park and Usable is for them.

// ReadEach hands each read to f until f returns false or the connection ends,
// which gives io.EOF or what broke it. Two calls of f with one stamp have their
// bytes from one network read.
func (c *Conn) ReadEach(f func(p []byte, at Stamp) bool) error {
	if c.tls != nil {
		return readEach(c.tls, c.sock, f)
	}
	return c.sock.each(nil, f)
}

// Write writes all of p. Sent is the moment right before its first write(2).
func (c *Conn) Write(p []byte) (sent time.Duration, err error) {
	c.sock.rearm()
	now := c.sock.clock.Now()
	err = c.write(p)
	return c.sock.began(now), err
}

func (c *Conn) write(p []byte) (err error) {
	if c.tls != nil {
		_, err = c.tls.Write(p)
	} else {
		_, err = c.sock.Write(p)
	}
	return err
}

// farewellTime is how long a last word may take.
const farewellTime = time.Second

// Farewell closes the connection after a last word, which may be lost.
func (c *Conn) Farewell(p []byte) {
	_ = c.sock.SetWriteDeadline(time.Now().Add(farewellTime))
	_ = c.write(p)
	_ = c.Close()
}
