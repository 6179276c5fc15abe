package tool

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// turn is how long a thread of a measuring client runs before another may have its core: the shortest
// that the kernel allows.
const turn = 100_000 // ns

// TakeShortTurns asks the kernel for short turns on a core, in place of a few long ones. Who asks for
// those is let run soon after it wakes (since Linux 6.12; older kernels take no notice), so that what
// arrives is read before more does, even where other processes keep all cores busy. Threads that are
// made later have what the one has that makes them. What is unavailable is not missed.
func (e Env) TakeShortTurns() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		attr, err := unix.SchedGetAttr(id, 0)
		if err != nil || attr.Policy != unix.SCHED_NORMAL {
			continue // somebody has decided otherwise
		}
		attr.Runtime = turn
		_ = unix.SchedSetAttr(id, attr, 0)
	}
}
