package wekatrace

import (
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
)

// message is one message of a chat, as pieces of text to be, and all that was said before
// it. Calls share what they have in common; nothing changes it.
type message struct {
	before *message // nil means it is the first
	role   string
	pieces []piece
	end    int // tokens up to here
}

// begin is how many tokens were said before.
func (m *message) begin() int {
	if m.before == nil {
		return 0
	}
	return m.before.end
}

// list are the messages up to this one, in order.
func (m *message) list() []*message {
	var out []*message
	for ; m != nil; m = m.before {
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
)

// history is a conversation as it grows and is rewound from call to call. A call's
// messages are its blocks in order: those that it has in common with the call before stay
// what they were, so that a server finds them in its cache; the next ones are the response to
// that call, as long as it was; the rest is the user's. Messages begin at blocks.
type history struct {
	size   int    // tokens of a block
	scope  uint64 // of hashes
	own    uint64 // of what has no hash
	system int    // tokens of tools and system prompt
	last   *message
	blocks []int64 // whole ones of the call before
	out    int     // tokens of its response
	turn   uint64
}

func (h *history) next(r *request) *message {
	whole := min(*r.In/h.size, len(r.Hashes))
	same := common(h.blocks, r.Hashes[:whole])
	h.rewind(same * h.size)
	fresh := h.pieces(r, same, whole)
	room := (*r.In - same*h.size - 1) / h.size // blocks that leave the user something to say
	take := func(blocks int) []piece {
		n := max(min(blocks, room, whole-same), 0)
		part := fresh[:n:n]
		fresh = fresh[n:]
		return part
	}
	if h.last == nil {
		h.add(roleSystem, take(ceil(h.system, h.size)))
	} else if h.last.role != roleSystem {
		h.add(roleAssistant, take(ceil(h.out, h.size)))
	}
	h.add(roleUser, fresh)
	h.endWithUser()
	h.blocks, h.out = r.Hashes[:whole], *r.Out
	h.turn++
	return h.last
}

// pieces are the tokens of a call from a block on.
func (h *history) pieces(r *request, from, whole int) []piece {
	out := make([]piece, 0, whole-from+1)
	for _, hash := range r.Hashes[from:whole] {
		out = append(out, piece{Key: h.key(hash), N: h.size})
	}
	rest := *r.In - whole*h.size
	switch {
	case rest == 0:
	case whole < len(r.Hashes): // the last block is not full, and has a hash
		out = append(out, piece{Key: h.key(r.Hashes[whole]), N: rest})
	default:
		out = append(out, piece{Key: prompt.Mix(h.own + h.turn), N: rest})
	}
	return out
}

func (h *history) key(hash int64) uint64 { return prompt.Mix(h.scope ^ prompt.Mix(uint64(hash))) }

// rewind keeps the first so many tokens: whole pieces.
func (h *history) rewind(tokens int) {
	for h.last != nil && h.last.begin() >= tokens {
		h.last = h.last.before
	}
	m := h.last
	if m == nil || m.end <= tokens {
		return
	}
	h.last = m.before
	n := 0
	for left := tokens - m.begin(); n < len(m.pieces) && m.pieces[n].N <= left; n++ {
		left -= m.pieces[n].N
	}
	h.add(m.role, m.pieces[:n:n])
}

// add appends what someone says. Where the last message is of the same role, it goes on:
// there are templates that want the roles in turns.
func (h *history) add(role string, pieces []piece) {
	if len(pieces) == 0 {
		return
	}
	m := &message{before: h.last, role: role, pieces: pieces}
	if h.last != nil && h.last.role == role {
		m.before, m.pieces = h.last.before, slices.Concat(h.last.pieces, pieces)
	}
	m.end = m.begin()
	for _, p := range m.pieces {
		m.end += p.N
	}
	h.last = m
}

// endWithUser gives the last block to the user where a call goes back to within a response
// or the system prompt and says no more.
func (h *history) endWithUser() {
	m := h.last
	if m.role == roleUser {
		return
	}
	n := len(m.pieces) - 1
	h.last = m.before
	h.add(m.role, m.pieces[:n:n])
	h.add(roleUser, m.pieces[n:])
}

func common(a, b []int64) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func ceil(a, b int) int { return (a + b - 1) / b }
