package abort

// Error is an error that ended a run before its time. The result beside it is of what had been
// measured by then.
type Error struct{ Err error }

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
