//go:build !linux

package load

import "errors"

// newPrecise has nothing to offer: Go's timers are the best there is.
func newPrecise() (Sleeper, error) { return nil, errors.ErrUnsupported }
