package synthetic

import "sync/atomic"

// cut finds the end of n tokens in a text that is, from head on, the book from an offset on.
type cut func(part string, head, from, n int) (int, bool)

// ruled is a Cutter that is faster at cutting many texts out of one, once it has read
// that.
type ruled interface {
	// CutsOf returns a Cut for texts that are, from head on, the given text from an
	// offset on; nil where there is none. It finds the same as Cut.
	CutsOf(text string) func(part string, head, from, n int) (int, bool)
}

// worthwhile is after how many prompts reading the whole book pays.
const worthwhile = 500

// ruler reads the book once it pays. While one goroutine reads, the others go on without.
type ruler struct {
	made atomic.Int64 // prompts up to now, as far as they need counting
	cut  atomic.Pointer[cut]
}

// cutter is the book's own way to cut; nil means the tokenizer's has to do.
func (r *ruler) cutter(s *Source) cut {
	if c := r.cut.Load(); c != nil {
		return *c
	}
	if r.made.Load() > worthwhile || r.made.Add(1) != worthwhile {
		return nil
	}
	t, ok := s.tok.(ruled)
	if !ok {
		return nil
	}
	c := cut(t.CutsOf(s.book))
	r.cut.Store(&c)
	return c
}
