package wekatrace

import (
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// piece is a run of tokens: the first n of those that a key stands for.
type piece = lexicon.Piece

// history is a conversation as it grows and is rewound from call to call. A call's
// messages are its blocks in order: those that it has in common with the call before stay
// what they were, so that a server finds them in its cache; the next ones are the response to
// that call, as long as it was; the rest is the user's. Messages begin at blocks.
type history struct {
	blocktext.Talk
	size   int     // tokens of a block
	scope  uint64  // of hashes
	own    uint64  // of what has no hash
	system int     // tokens of tools and system prompt
	blocks []int64 // whole ones of the call before
	out    int     // tokens of its response
	turn   uint64
}

func (h *history) next(r *request) *blocktext.Spoken {
	whole := min(*r.In/h.size, len(r.Hashes))
	same := common(h.blocks, r.Hashes[:whole])
	h.Rewind(same * h.size)
	fresh := h.pieces(r, same, whole)
	room := (*r.In - same*h.size - 1) / h.size // blocks that leave the user something to say
	take := func(blocks int) []piece {
		n := max(min(blocks, room, whole-same), 0)
		part := fresh[:n:n]
		fresh = fresh[n:]
		return part
	}
	if h.Last == nil {
		h.Append(blocktext.RoleSystem, take(ceil(h.system, h.size)))
	} else if h.Last.Role != blocktext.RoleSystem {
		h.Append(blocktext.RoleAssistant, take(ceil(h.out, h.size)))
	}
	h.Append(blocktext.RoleUser, fresh)
	h.EndWithUser()
	h.blocks, h.out = r.Hashes[:whole], *r.Out
	h.turn++
	return h.Last
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
