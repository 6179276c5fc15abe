package replica

import (
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/wire/http1"
)

// head is what all requests to a replica share, with the API key as it is at the time.
type head struct {
	live endpoint.LiveKey // nil: the key stays
	make func(key string) *http1.Head
	last atomic.Pointer[keyedHead]
}

type keyedHead struct {
	key  string
	head *http1.Head
}

func newHead(o endpoint.Options, construct func(key string) *http1.Head) *head {
	h := &head{live: o.Live, make: construct}
	h.last.Store(&keyedHead{o.Key, construct(o.Key)})
	return h
}

// key is the API key as it is now.
func (h *head) key() string {
	if h.live != nil {
		return h.live.Value()
	}
	return h.last.Load().key
}

func (h *head) current() *http1.Head {
	key, last := h.key(), h.last.Load()
	if key != last.key {
		last = &keyedHead{key, h.make(key)}
		h.last.Store(last)
	}
	return last.head
}
