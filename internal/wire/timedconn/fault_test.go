package timedconn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// What this machine has run out of is no fault of the server, at whatever step it was
// met.
func TestOwnFaults(t *testing.T) {
	dial := func(err error) error {
		return &Error{record.ConnectFailed, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", err)}}
	}
	for _, tt := range []struct {
		err   error
		class record.Class
	}{
		{dial(syscall.EMFILE), record.ClientResource},
		{dial(syscall.ENFILE), record.ClientResource},
		{dial(syscall.EADDRNOTAVAIL), record.ClientResource},
		{dial(syscall.ENOBUFS), record.ClientResource},
		{dial(syscall.ENOMEM), record.ClientResource},
		{fmt.Errorf("sending: %w", os.NewSyscallError("write", syscall.ENOBUFS)), record.ClientResource},
		{&Error{record.ResolveFailed, &net.DNSError{Err: "dial udp 127.0.0.53:53: socket: too many open files", Name: "h"}}, record.ClientResource},
		{&Error{record.ResolveFailed, &net.DNSError{Err: "no such host", Name: "h"}}, record.ResolveFailed},
		{dial(syscall.ECONNREFUSED), record.ConnectFailed},
		{dial(syscall.ETIMEDOUT), record.ConnectFailed},
		{os.NewSyscallError("recvmsg", syscall.ECONNRESET), record.Reset},
		{errors.Join(io.EOF), record.Reset},
	} {
		if got := Classify(tt.err); got != tt.class {
			t.Errorf("%v: class %s, want %s", tt.err, got, tt.class)
		}
	}
}
