package timer

// Heap holds what waits for its time, the earliest first.
type Heap[T any] []*Timer[T]

// Timer is one place in a heap. It is used again and again.
type Timer[T any] struct {
	Due   int64
	Pos   int // in the heap; -1 outside
	Value T
}

// Push adds one.
func (h *Heap[T]) Push(t *Timer[T]) {
	t.Pos = len(*h)
	*h = append(*h, t)
	h.up(t.Pos)
}

// Remove takes one out.
func (h *Heap[T]) Remove(t *Timer[T]) {
	s := *h
	i, last := t.Pos, len(s)-1
	t.Pos = -1
	moved := s[last]
	s[last] = nil
	*h = s[:last]
	if i == last {
		return
	}
	s[i] = moved
	moved.Pos = i
	h.down(i)
	h.up(moved.Pos)
}

func (h Heap[T]) up(i int) {
	for i > 0 && h[(i-1)/2].Due > h[i].Due {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h Heap[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && h[r].Due < h[least].Due {
			least = r
		}
		if h[i].Due <= h[least].Due {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h Heap[T]) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].Pos, h[j].Pos = i, j
}
