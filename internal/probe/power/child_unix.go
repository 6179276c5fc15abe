//go:build unix && !linux

package power

import (
	"os/exec"
	"syscall"
)

// attach makes a child of its own group, which Ctrl-C at the terminal does not reach. Where this process is no
// more, it ends at its next line.
func attach(child *exec.Cmd) {
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }
}
