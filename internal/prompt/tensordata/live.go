package tensordata

import (
	"context"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/prompt"
)

// book has the sequences of a stage that are in flight side by side, requests going to them in
// turn. A lane has one sequence after the other. They are numbered as they begin, and a number
// gives a sequence its length and its id: which one a request belongs to follows from the
// lengths of all that began before it, so that the book is written from the first place on.
type book struct {
	source *Source

	mu    sync.Mutex
	stage uint64
	lanes []lane
	next  uint64 // place that comes next
	begun uint64 // sequences so far
	base  uint64 // sequences of the stages before it; of exact sources alone
}

// lane is where one sequence goes after the other.
type lane struct {
	kept  []span // sequences, from the one that was last asked for on
	asked bool   // it was asked for; else it may be another process's, and has the latest alone
	line  *prompt.FIFO
}

type span struct {
	*sequence
	number uint64
	from   uint64 // requests of the lane ahead of it
}

func (s *span) end() uint64 { return s.from + uint64(s.length) }

func (b *book) reset(stage uint64) {
	if b.source.exact && stage != b.stage {
		b.base += b.begun
	}
	b.stage, b.next, b.begun = stage, 0, 0
	b.lanes = make([]lane, b.source.settings.Live)
	for i := range b.lanes {
		b.lanes[i].line = new(prompt.FIFO)
	}
}

// find is the sequence at a place, and how many requests of its lane are ahead of it. b.mu is
// held.
func (b *book) find(place prompt.Position) (s *span, round uint64) {
	if len(b.lanes) == 0 || b.stage != place.Stage {
		b.reset(place.Stage)
	}
	at := &b.lanes[place.I%uint64(len(b.lanes))]
	round = place.I / uint64(len(b.lanes))
	at.asked = true
	for b.next <= place.I {
		b.step()
	}
	for len(at.kept) > 1 && at.kept[0].end() <= round {
		at.kept = at.kept[1:]
	}
	if at.kept[0].from > round { // gone over
		b.next, b.begun = 0, 0
		for i := range b.lanes {
			b.lanes[i].kept = nil
		}
		return b.find(place)
	}
	return &at.kept[0], round
}

// step goes on by one place. A sequence that has ended makes room for a new one.
func (b *book) step() {
	at := &b.lanes[b.next%uint64(len(b.lanes))]
	round := b.next / uint64(len(b.lanes))
	b.next++
	if n := len(at.kept); n > 0 && round < at.kept[n-1].end() {
		return
	}
	s := span{b.source.begin(prompt.Position{Stage: b.stage, I: b.begun}), b.begun, round}
	if b.source.exact {
		s.id = b.source.numbered(b.base + b.begun)
	}
	b.begun++
	if n := len(at.kept); n > 0 {
		// An id still in use is no other sequence's: the one that ended here leaves its own.
		old := at.kept[n-1].id
		if s.id != old && slices.ContainsFunc(b.lanes, func(o lane) bool { return len(o.kept) > 0 && o.kept[len(o.kept)-1].id == s.id }) {
			s.id = old
		}
		if !at.asked {
			at.kept = at.kept[:0]
		}
	}
	at.kept = append(at.kept, s)
}

func (b *book) request(place prompt.Position) prompt.Prompt {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, round := b.find(place)
	now := *s.sequence
	now.at = int(round - s.from)
	p := now.request()
	p.Rest, s.last = nil, now.last
	if b.source.settings.Serial {
		p.Late = &turn{prompt: p, line: b.lanes[place.I%uint64(len(b.lanes))].line, number: round}
	}
	return p
}

// session is the number of the sequence at a place.
func (b *book) session(place prompt.Position) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, _ := b.find(place)
	return s.number
}

// turn is a request that waits for the response before it in its lane: a prompt.DeferredPrompt.
type turn struct {
	prompt prompt.Prompt
	line   *prompt.FIFO
	number uint64
}

// Await implements prompt.DeferredPrompt.
func (t *turn) Await(ctx context.Context) error { return t.line.Await(ctx, t.number) }

// Prompt implements prompt.DeferredPrompt.
func (t *turn) Prompt() (prompt.Prompt, error) { return t.prompt, nil }

// End implements prompt.DeferredPrompt.
func (t *turn) End(prompt.Response) { t.line.Leave(t.number) }
