package probe

import (
	"context"
	"time"
)

// Meter reads the power of GPUs until it is closed.
type Meter interface {
	// Wait waits until there is a reading from after a moment, for a short time at most.
	Wait(ctx context.Context, after time.Duration)
	Close() error
}
