package timedconn

import (
	"errors"
	"os"
	"time"
)

// What follows is for connections that carry many requests at once. One goroutine
// may read while another writes; none of Exchange, Park and Usable is for them.

// Share makes the connection ready for that. It comes before all else.
func (c *Conn) Share() { c.watch() }

// ReadEach hands each read to f until f returns false or the connection ends,
// which gives io.EOF or what broke it. Two calls of f with one stamp have their
// bytes from one network read.
func (c *Conn) ReadEach(f func(p []byte, at Stamp) bool) error {
	if c.tls != nil {
		return readEach(c.tls, c.sock, f)
	}
	for {
		err := c.sock.each(nil, f)
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.limit.nudged.Swap(false) {
			return err
		}
		// The peer has hung up. What it sent before that is still to be read.
		_ = c.sock.SetReadDeadline(time.Time{})
	}
}

// Write writes all of p. Sent is the time right before its first write(2).
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

// Interrupt ends what waits on the connection, now and from now on. Unlike Close it
// may also be called while a read is being handed over.
func (c *Conn) Interrupt() { _ = c.sock.SetDeadline(time.Unix(1, 0)) }

// BoundReads limits reading once writing has failed: the server may
// have said why.
func (c *Conn) BoundReads() { _ = c.sock.SetReadDeadline(time.Now().Add(closeTime)) }

// closeTime is how long the last reads and the last write may take.
const closeTime = time.Second

// CloseAfter writes p, which may be lost, and closes the connection.
func (c *Conn) CloseAfter(p []byte) {
	if len(p) > 0 {
		_ = c.sock.SetWriteDeadline(time.Now().Add(closeTime))
		_ = c.write(p)
	}
	_ = c.Close()
}
