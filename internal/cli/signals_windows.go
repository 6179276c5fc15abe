package cli

import "os"

func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// outlivePipes does nothing: a broken pipe is an error of writing, and no signal.
func outlivePipes() {}

// hungUp reports whether a signal says that the terminal is gone.
func hungUp(os.Signal) bool { return false }
