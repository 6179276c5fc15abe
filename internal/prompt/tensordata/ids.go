package tensordata

import (
	"context"
	"sync"

	"github.com/inferometer/inferometer/internal/prompt"
)

// ids are those that sequences may have where there are only so many. A server forgets a sequence
// that starts anew, so an id is nobody else's while a sequence has it.
type ids struct {
	first, n uint64

	mu     sync.Mutex
	next   uint64          // sequences that were given one
	used   map[uint64]bool // by those in flight
	last   uint64          // the one that became free last; 0: none has
	booked uint64          // of sequences that have one, or will ask for it
	freed  chan struct{}   // is closed when one becomes free
}

func newIDs(first, n uint64) *ids {
	return &ids{first: first, n: n, used: map[uint64]bool{}, freed: make(chan struct{})}
}

// await waits until an id is free and keeps one for who asks. With the context's error it has not.
func (s *ids) await(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		if s.booked < s.n {
			s.booked++
			s.mu.Unlock()
			return nil
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
}

// nextID gives one to who has waited: the next in order, else the one that became free last, which
// most often is that of the sequence before it in the same slot.
func (s *ids) nextID() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.first + s.next%s.n
	s.next++
	if s.used[id] && s.last > 0 {
		id = s.last
	}
	for s.used[id] {
		id = s.first + (id-s.first+1)%s.n
	}
	s.used[id] = true
	return id
}

// leave makes an id free; 0: it was kept and not taken.
func (s *ids) leave(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.booked--
	if id > 0 {
		delete(s.used, id)
		s.last = id
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

// lease is a sequence that has an id when it begins and no sooner. It implements prompt.DeferredPrompt.
type lease struct {
	sequence *sequence
	ids      *ids
	id       uint64
}

// Await implements prompt.DeferredPrompt.
func (l *lease) Await(ctx context.Context) error { return l.ids.await(ctx) }

// Prompt implements prompt.DeferredPrompt.
func (l *lease) Prompt() (prompt.Prompt, error) {
	l.id = l.ids.nextID()
	l.sequence.id = l.id
	return l.sequence.request(), nil
}

// End implements prompt.DeferredPrompt.
func (l *lease) End(prompt.Response) { l.ids.leave(l.id) }

// leased is the first request of a sequence that has no id yet.
func (s *Source) leased(at prompt.Position) prompt.Prompt {
	q := s.begin(at)
	p := q.steps[0].prompt
	if q.length > 1 {
		p.Rest = q
	}
	p.Late = &lease{sequence: q, ids: s.ids}
	return p
}
