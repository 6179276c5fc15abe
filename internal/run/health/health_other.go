//go:build !linux

package health

import "time"

// These are unavailable here; a report leaves out what it does not know.

func runQueueWait() time.Duration { return 0 }

func residentSet() int64 { return 0 }

func cpuQuota() (float64, bool) { return 0, false }

func kernelVersion() string { return "" }

func cpuModel() string { return "" }
