//go:build !unix

package inferometer

import "os/exec"

// apart would keep Ctrl-C at the terminal from a process.
func apart(*exec.Cmd) {}
