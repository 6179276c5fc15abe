package selftest

import (
	"os/exec"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// fewestCores is from how many on a mock gets cores of its own: a quarter of them.
const fewestCores = 4

// startApart starts a command on cores of its own, where there are enough, and gives them.
func startApart(cmd *exec.Cmd) ([]int, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} // it does not outlive this process
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) != nil || mine.Count() < fewestCores {
		return nil, cmd.Start()
	}
	its := mine
	var cores []int
	for i := len(mine)*64 - 1; i >= 0; i-- {
		switch {
		case !mine.IsSet(i):
		case len(cores) < mine.Count()/4:
			cores = append(cores, i)
		default:
			its.Clear(i)
		}
	}
	// A process takes over the cores of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.SchedSetaffinity(0, &its) != nil {
		return nil, cmd.Start()
	}
	defer unix.SchedSetaffinity(0, &mine)
	slices.Sort(cores)
	return cores, cmd.Start()
}
