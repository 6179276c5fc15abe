//go:build !unix

package token

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
