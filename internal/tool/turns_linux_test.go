package tool

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTakeShortTurns(t *testing.T) {
	runtime.LockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil || before.Policy != unix.SCHED_NORMAL {
		t.Skip("the turns of this process are not its own affair")
	}
	Env{}.TakeShortTurns()
	after, err := unix.SchedGetAttr(0, 0)
	if err != nil || after.Policy != before.Policy || after.Nice != before.Nice {
		t.Errorf("%+v has become %+v: %v", before, after, err)
	}
	// Kernels before 6.12 take no notice, and say 0.
	if after.Runtime != 0 && after.Runtime != turn {
		t.Errorf("a turn is %d ns, want %d", after.Runtime, turn)
	}
}
