package power

import "os/exec"

// attach leaves a child as it is: it ends when it is told to, or at its next line where this process is no
// more.
func attach(*exec.Cmd) {}
