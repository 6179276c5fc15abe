package collect

import (
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/record"
)

// inbox holds the records that wait for a worker. Whoever puts one in holds its lock for a
// few stores, and the worker takes all that is there at once: on many cores they seldom
// meet, and what a record needs is seldom fetched from another core.
type inbox struct {
	mu     sync.Mutex
	list   []*record.Exchange
	idle   bool // the worker sleeps, or is about to
	closed bool
	wake   chan struct{}
	_      [64]byte // the worker writes what follows: not to the cache line that others lock

	bytes atomic.Int64 // of responses not yet decoded, but for large ones
	// How many records were put in, and have been taken into account.
	puts, done atomic.Int64
}

// put adds a record with a response of n bytes, unless those are too many records or bytes.
func (b *inbox) put(rec *record.Exchange, bytes *atomic.Int64, n, most int64) bool {
	b.mu.Lock()
	full := len(b.list) >= queueLength
	if !full && bytes.Add(n) > most {
		bytes.Add(-n)
		full = true
	}
	if full {
		b.mu.Unlock()
		return false
	}
	b.list = append(b.list, rec)
	b.puts.Add(1)
	idle := b.idle
	b.idle = false
	b.mu.Unlock()
	if idle {
		b.nudge()
	}
	return true
}

// nudge has the worker look again.
func (b *inbox) nudge() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// close says that nothing is put in any more.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.nudge()
}

// drain gives all that waits, for a list that is empty again. Where nothing does, the worker
// is told when that changes; open is false where it never will.
func (b *inbox) drain(empty []*record.Exchange) (list []*record.Exchange, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, b.list = b.list, empty
	b.idle = len(list) == 0
	return list, !b.closed
}

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
