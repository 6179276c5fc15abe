//go:build !linux

package tool

// TakeShortTurns does nothing: turns are not for asking here.
func (e Env) TakeShortTurns() {}
