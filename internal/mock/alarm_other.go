//go:build !linux

package mock

// newAlarm returns the most precise alarm there is.
func newAlarm() alarm { return newTimerAlarm() }
