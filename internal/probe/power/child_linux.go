package power

import (
	"os/exec"
	"syscall"
)

// attach makes a child of its own group, which Ctrl-C at the terminal does not reach, and which ends when it
// is told to or when this process is no more.
func attach(child *exec.Cmd) {
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }
}
