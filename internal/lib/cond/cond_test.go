package cond_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/inferometer/inferometer/internal/lib/cond"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cond.Cond
		n, over := 0, make(chan error)
		for _, want := range []int{0, 1, 3} {
			go func() { over <- c.Wait(t.Context(), func() bool { return n >= want }) }()
		}
		for want := range 3 {
			synctest.Wait()
			if want == 2 { // one change too few
				select {
				case <-over:
					t.Error("it did not wait")
				default:
				}
				c.Update(func() { n++ })
			}
			if err := <-over; err != nil {
				t.Error(err)
			}
			c.Update(func() { n++ })
		}
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	var c cond.Cond
	if err := c.Wait(ctx, func() bool { return false }); !errors.Is(err, gone) {
		t.Error(err)
	}
	if err := c.Wait(ctx, func() bool { return true }); err != nil {
		t.Error(err)
	}
}
