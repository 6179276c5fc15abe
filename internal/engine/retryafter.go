package engine

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// longestRetryAfter bounds the wait that a server asks for: a stage of some minutes should not
// pass waiting for one that wants to be left alone until tomorrow.
const longestRetryAfter = time.Minute

// honorRetryAfter notes when the server of a request of slot i wants to be asked again. Arrivals of an
// open loop keep their own time.
func (st *stage) honorRetryAfter(i int, rec *record.Exchange) {
	if st.rests == nil || st.e.cfg.IgnoreRetryAfter || rec.RetryAfter == "" {
		return
	}
	if rec.Status != http.StatusTooManyRequests && rec.Status != http.StatusServiceUnavailable {
		return
	}
	wait := retryAfter(rec.RetryAfter, time.Now())
	if wait <= 0 {
		return
	}
	until := int64(st.e.cfg.Now() + wait)
	for {
		was := st.rests[i].until.Load()
		if was >= until || st.rests[i].until.CompareAndSwap(was, until) {
			return
		}
	}
}

// retryAfter is the wait that a Retry-After header asks for, a number of seconds or a date,
// within bounds; 0: none.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if s, err := strconv.ParseFloat(header, 64); err == nil {
		if !(s > 0) { // NaN too
			return 0
		}
		return time.Duration(min(s, longestRetryAfter.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), longestRetryAfter)
}
