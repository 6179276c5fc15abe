//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func looksByTicks(all []*poller) bool { return len(all) > 0 }

// tick looks for the pollers that have not done so for a while; false: all have.
func tick(clock *Clock, all []*poller) (looked bool) {
	now := clock.Now()
	for _, p := range all {
		if now-p.looks.last() >= tickEvery {
			looked = true
			p.glance()
		}
	}
	return looked
}

// glance looks whether there is anything to report, and leaves that to the poller itself.
func (p *poller) glance() {
	_ = p.raw.Control(func(ep uintptr) {
		now := p.clock.Now()
		ask := unix.PollFd{Fd: int32(ep), Events: unix.POLLIN}
		var atOnce unix.Timespec
		n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&ask)), 1, uintptr(unsafe.Pointer(&atOnce)), 0, 0, 0)
		if errno == 0 && n == 0 {
			p.looks.found(now)
		}
	})
}
