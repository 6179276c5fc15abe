//go:build !linux || 386 || s390x || nostamps

package timedconn

import (
	"errors"
	"net"
	"syscall"
)

// poller does not exist here: the runtime's wakes all connections.
type poller struct{}

func newPollers(*Clock) []*poller { return nil }

func (*poller) close() {}

func (*poller) adopt(*net.TCPConn, func()) (net.Conn, syscall.RawConn, error) {
	return nil, nil, errors.ErrUnsupported
}
