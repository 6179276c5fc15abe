//go:build unix

package hub

import (
	"os"
	"syscall"
)

// tryLock takes the lock on an open file, the way that Python's filelock does, or
// says that another process has it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return false, nil
	}
	return err == nil, err
}
