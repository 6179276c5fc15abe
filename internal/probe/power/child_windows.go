package power

import "os/exec"

// attach leaves a child as it is: it ends when told to, or at its next line without this process.
func attach(*exec.Cmd) {}
