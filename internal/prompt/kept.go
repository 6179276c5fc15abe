package prompt

import "sync/atomic"

// mostKept bounds the prompts of a pool that are kept rather than made again.
const mostKept = 1 << 16

// Cache are the prompts of a pool that were made, by their number. Nil keeps nothing.
type Cache []atomic.Pointer[Prompt]

// NewKept makes room for the prompts of a pool, where it is of a size that can be kept and no
// salt sets two uses of one apart.
func NewKept(pool uint64, salt Salt) Cache {
	if pool > mostKept || !salt.None() {
		return nil
	}
	return make(Cache, pool)
}

// Get is the prompt of a number; nil means it was not made yet, or is not kept.
func (k Cache) Get(number uint64) *Prompt {
	if number >= uint64(len(k)) {
		return nil
	}
	return k[number].Load()
}

// Put keeps the prompt of a number, if there is room.
func (k Cache) Put(number uint64, p Prompt) {
	if number < uint64(len(k)) {
		k[number].Store(&p)
	}
}
