package prompt

import (
	"context"
	"testing"
	"testing/synctest"
)

// Requests go in the order of their numbers, whichever comes first; one that gives up holds
// up nobody.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var line FIFO
		var gone []uint64
		impatient, giveUp := context.WithCancel(t.Context())
		for _, number := range []uint64{4, 2, 3, 1, 0} {
			ctx := t.Context()
			if number == 2 || number == 3 {
				ctx = impatient
			}
			go func() {
				if line.Await(ctx, number) == nil {
					gone = append(gone, number)
				}
			}()
			synctest.Wait()
		}
		step := func(want ...uint64) {
			t.Helper()
			synctest.Wait()
			if len(gone) != len(want) || gone[len(gone)-1] != want[len(want)-1] {
				t.Fatalf("%v have gone, want %v", gone, want)
			}
		}
		step(0)
		giveUp()
		step(0)
		line.Leave(0)
		step(0, 1)
		line.Leave(1)
		step(0, 1, 4)
	})
}

// Who gives up before anybody else was there has left the line, too.
func TestLineBegunWithWhoGivesUp(t *testing.T) {
	var line FIFO
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, number := range []uint64{1, 0} {
		if line.Await(over, number) == nil {
			t.Errorf("%d goes", number)
		}
	}
	if err := line.Await(t.Context(), 2); err != nil {
		t.Error(err)
	}
}
