package engine

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// maySend reports whether a request may go now. Who may not send one may send none after it: the
// stage ends there. It is asked at the last moment, since a process that stood still finds, when it
// goes on, that all it had waited for has come.
func (st *stage) maySend(now time.Duration) bool {
	switch {
	case st.e.cfg.MaySend == nil:
		return true
	case st.barred.Load():
		return false
	case st.e.cfg.MaySend(now):
		return true
	}
	if st.barred.CompareAndSwap(false, true) {
		st.breakOff(record.StopLease)
	}
	return false
}

// refuses reports whether a job may not be sent. An arrival that was let through and is not sent counts
// as one that never went.
func (st *stage) refuses(j *preparedRequest, now time.Duration) bool {
	if st.maySend(now) {
		return false
	}
	if j.admission.arrived {
		st.lost.Add(1)
	}
	return true
}
