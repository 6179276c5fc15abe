//go:build !linux

package timer

// NewAlarm returns the most precise alarm there is.
func NewAlarm() Alarm { return NewTimerAlarm() }
