package probe

import (
	"context"
	"time"
)

// PowerReader reads the power of GPUs until it is closed.
type PowerReader interface {
	// Wait waits until there is a reading from after a time, for a short time at most.
	Wait(ctx context.Context, after time.Duration)
	Close() error
}
