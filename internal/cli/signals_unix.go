//go:build unix

package cli

import (
	"os"
	"syscall"
)

// stopSignals ask a run to stop.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
