package timedconn

import (
	"testing"
	"time"
)

// A read without the kernel's stamp is dated by its return; the next one, which the
// kernel may have stamped before that, is not dated earlier.
func TestStampsDoNotGoBack(t *testing.T) {
	clock := NewClock()
	s := &socket{clock: clock}
	s.stamp(0, 0, false)
	unstamped := s.last
	s.stamp(clock.Start().Add(-time.Second).UnixNano(), 0, false)
	if s.last.Kernel < unstamped.User || s.last.Kernel > s.last.User {
		t.Errorf("stamp %v after %v", s.last, unstamped)
	}
	stamped := s.last
	s.stamp(clock.Start().Add(time.Hour).UnixNano(), 0, false)
	if s.last.Kernel != s.last.User || s.last.Kernel < stamped.Kernel {
		t.Errorf("a stamp of the future became %v after %v", s.last, stamped)
	}
}
