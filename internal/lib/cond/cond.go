// Package cond waits for conditions that others bring about, until a context is over.
package cond

import (
	"context"
	"sync"
)

// Cond is a lock, and wakes those who wait for what it guards. The zero value is ready.
type Cond struct {
	sync.Mutex
	changed chan struct{} // closed with the next change; optional
}

// Update changes what the lock guards.
func (c *Cond) Update(change func()) {
	c.Lock()
	defer c.Unlock()
	change()
	c.Changed()
}

// Changed wakes those who wait. The lock must be held.
func (c *Cond) Changed() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Next is closed with the next change. The lock must be held.
func (c *Cond) Next() <-chan struct{} {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// Wait returns nil once a condition, looked at under the lock, holds, else the context's cause.
func (c *Cond) Wait(ctx context.Context, holds func() bool) error {
	for {
		c.Lock()
		done, next := holds(), c.Next()
		c.Unlock()
		if done {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
