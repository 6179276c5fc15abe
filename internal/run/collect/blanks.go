package collect

import (
	"sync"

	"github.com/inferometer/inferometer/internal/record"
)

// recordPool are records for requests to come, of the same slots as before: what they hold is at hand
// on the core that those run on. A sync.Pool would give those of any core.
type recordPool struct {
	mu   sync.Mutex
	list []*record.Exchange // the one used last comes last, and goes first
	_    [64]byte           // keeps what follows out of the same cache line
}

const (
	// mostBlanks is how many of them there are at most. A run may have had more records under
	// way at a time than it ever has again.
	mostBlanks = 256
	// small bounds what each of them holds: bytes of its response, and reads and events.
	smallBody, smallEvents = 64 << 10, 1 << 10
)

// keep takes a record in; false: it is too large, or there are enough.
func (b *recordPool) keep(rec *record.Exchange) bool {
	if cap(rec.Body)+cap(rec.Text) > smallBody || cap(rec.Marks)+cap(rec.Events) > smallEvents {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == mostBlanks {
		return false
	}
	b.list = append(b.list, rec)
	return true
}

func (b *recordPool) get() *record.Exchange {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.list) - 1
	if n < 0 {
		return nil
	}
	rec := b.list[n]
	b.list[n] = nil
	b.list = b.list[:n]
	return rec
}
