package cli

import "os"

// stopSignals ask a run to stop.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }
