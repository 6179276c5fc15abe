package mock

// timerHeap holds what waits for its time, the earliest first.
type timerHeap[T any] []*timer[T]

// timer is one place in a heap. It is used again and again.
type timer[T any] struct {
	at      int64
	pos     int // in the heap; -1 outside
	payload T
}

func (h *timerHeap[T]) push(t *timer[T]) {
	t.pos = len(*h)
	*h = append(*h, t)
	h.up(t.pos)
}

func (h *timerHeap[T]) remove(t *timer[T]) {
	s := *h
	i, last := t.pos, len(s)-1
	t.pos = -1
	moved := s[last]
	s[last] = nil
	*h = s[:last]
	if i == last {
		return
	}
	s[i] = moved
	moved.pos = i
	h.down(i)
	h.up(moved.pos)
}

func (h timerHeap[T]) up(i int) {
	for i > 0 && h[(i-1)/2].at > h[i].at {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h timerHeap[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && h[r].at < h[least].at {
			least = r
		}
		if h[i].at <= h[least].at {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h timerHeap[T]) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}
