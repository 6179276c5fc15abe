package cli

import "os"

// stopSignals ask a run to stop.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// outlivePipes does nothing: a broken pipe is an error of writing, and no signal.
func outlivePipes() {}

// hungUp reports whether a signal says that the terminal is gone.
func hungUp(os.Signal) bool { return false }
