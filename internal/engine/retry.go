package engine

import (
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// longestWait bounds the wait between two attempts, however many came before.
const longestWait = time.Hour

// retry sends a request again that no server answered, as often as the run allows. Its
// latencies go on counting from the first attempt, which is what its user has waited.
func (st *stage) retry(call endpoint.Call, rec *record.Exchange) {
	first := rec.Sent
	if first == record.Never {
		first = rec.Ready // when it set out to connect
	}
	for rec.Retries < st.e.cfg.Retries && unanswered(rec) && st.waitOut(st.backoff(rec)) && st.maySend(st.e.cfg.Now()) {
		rec.Retries++
		rec.LastTry = st.e.cfg.Now()
		rec.Failure, rec.Conn, rec.Sent, rec.Written = nil, record.Conn{}, record.Never, record.Never
		call.Do(st.ctx, rec)
	}
	if rec.Retries > 0 && rec.Sent != record.Never {
		rec.Sent = first
	}
}

// unanswered reports whether a request failed before anything of a response came, and in a
// way that another attempt may not. One that ran out of time would do so again.
func unanswered(rec *record.Exchange) bool {
	if rec.Failure == nil || rec.Status != 0 || len(rec.Marks) > 0 {
		return false
	}
	switch rec.Failure.Class {
	case record.ResolveFailed, record.ConnectFailed, record.Dropped, record.Reset:
		return true
	}
	return false
}

// backoff is the wait before the next attempt: twice as long each time, and changed by up
// to half so that requests which failed together do not come back together.
func (st *stage) backoff(rec *record.Exchange) time.Duration {
	chance := float64(prompt.Mix(uint64(rec.Seq)<<10+uint64(rec.Retries))>>11) / (1 << 53)
	wait := float64(st.e.cfg.Backoff) * (0.5 + chance)
	for range rec.Retries {
		if wait *= 2; wait > float64(longestWait) {
			return longestWait
		}
	}
	return time.Duration(wait)
}

// waitOut waits for a time; false: what is in flight was broken off first.
func (st *stage) waitOut(wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-st.ctx.Done():
		return false
	}
}
