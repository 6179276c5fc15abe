package plan

import (
	"sync"

	"github.com/inferometer/inferometer/internal/message"
)

// Retries say how often a request goes again that no server answered: no connection was
// made, or it broke before the first byte of the answer.
type Retries struct {
	Count   int
	Backoff Duration // wait before the first of them, about; twice as long before each further one
}

const mostRetries = 1000

// What a closed loop does with the Retry-After of a server that is busy.
const (
	RetryHonor  = "honor"
	RetryIgnore = "ignore"
)

var retriesSpec = sync.OnceValue(func() codec[Retries] {
	return object(
		fieldOf("count", count[int](mostRetries), func(r *Retries) *int { return &r.Count }, "Maximum number of retries."),
		fieldOf("backoff", duration(), func(r *Retries) *Duration { return &r.Backoff },
			"Wait before the first retry, doubled for each further one, with random jitter of up to half."),
	)
})

func (c *checker) retries(t *Target) {
	if t.RetryAfter != "" {
		c.choice("target.retry_after", t.RetryAfter, []string{RetryHonor, RetryIgnore})
	}
	retriesSpec().check(c, "target.retries", &t.Retries)
	if t.Retries.Backoff > 0 && t.Retries.Count == 0 {
		c.add("target.retries.backoff", "there are no retries to wait for", "give %v", message.Retries)
	}
}
