//go:build !linux

package localaddr

import "syscall"

// connectPicksPort is Linux's: other systems choose the port when they bind the address.
func connectPicksPort(_, _ string, _ syscall.RawConn) error { return nil }
