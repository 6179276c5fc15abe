//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals ask a run to stop. Under nohup a hang-up does not: it is ignored already.
func stopSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// hungUp reports whether a signal says that the terminal is gone. From then on what is
// printed is not read, which must not end the program.
func hungUp(s os.Signal) bool {
	if s != syscall.SIGHUP {
		return false
	}
	outlivePipes()
	return true
}

// outlivePipes keeps the program running when its output is no longer read.
func outlivePipes() { signal.Ignore(syscall.SIGPIPE) }
