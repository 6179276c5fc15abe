//go:build unix

package inferometer

import (
	"os/exec"
	"syscall"
)

// apart keeps Ctrl-C at the terminal from a process: it ends when it is told to.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
