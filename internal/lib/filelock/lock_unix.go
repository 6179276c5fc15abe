//go:build unix

package filelock

import (
	"os"
	"syscall"
)

// Try locks an open file as Python's filelock does, or says that another process has it.
func Try(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return false, nil
	}
	return err == nil, err
}
