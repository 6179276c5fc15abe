package tool

import (
	"runtime"
	"runtime/debug"
)

const (
	// heapRoom is what the heap may grow by between two collections, whatever is alive in
	// it: a client's own heap is small, and collecting it at twice its size would take time
	// from the measurement, again and again. It costs memory once it is used, not before.
	heapRoom = 32 << 20
	// gcPercent is how much more it may grow, of what is alive.
	gcPercent = 100
)

// RaiseGCPercent lets the heap of a measuring client grow, unless GOGC says how. The caller
// calls release at the end.
//
// The room is memory that is alive and never used, so that the system need not back it: the
// collector then counts it to what may double. A greater percentage alone would multiply all
// that a long run comes to hold.
func (e Env) RaiseGCPercent() (release func()) {
	if e.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(gcPercent)
	room := make([]byte, heapRoom)
	unback(room)
	return func() { runtime.KeepAlive(room) }
}
