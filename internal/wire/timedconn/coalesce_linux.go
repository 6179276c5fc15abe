//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// gatherTime is how long arrivals gather. The kernel adds its slack, usually 50 µs.
const gatherTime = 25 * time.Microsecond

// newCoalescer makes the coalescer of a dialer's connections; nil means every read is
// taken as it comes, because nothing else tells when it came.
func newCoalescer(kernelStamps bool) *coalescer {
	if !kernelStamps {
		return nil
	}
	return &coalescer{rest: gather}
}

// gather lets arrivals gather. The scheduler is not told of the call: handing the
// core over and getting it back is what this saves.
func gather() {
	ts := unix.NsecToTimespec(int64(gatherTime))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
