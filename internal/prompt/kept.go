package prompt

import "sync/atomic"

// mostKept bounds the prompts of a pool that are kept rather than made again.
const mostKept = 1 << 16

// Kept are the prompts of a pool that were made, by their number. Nil keeps nothing.
type Kept []atomic.Pointer[Prompt]

// NewKept makes room for the prompts of a pool, where it is of a size that can be kept and no
// salt sets two uses of one apart.
func NewKept(pool uint64, salt Salt) Kept {
	if pool > mostKept || !salt.None() {
		return nil
	}
	return make(Kept, pool)
}

// Get is the prompt of a number; nil: it was not made yet, or is not kept.
func (k Kept) Get(number uint64) *Prompt {
	if number >= uint64(len(k)) {
		return nil
	}
	return k[number].Load()
}

// Put keeps the prompt of a number, if there is room.
func (k Kept) Put(number uint64, p Prompt) {
	if number < uint64(len(k)) {
		k[number].Store(&p)
	}
}
