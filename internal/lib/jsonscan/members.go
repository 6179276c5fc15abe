package jsonscan

// Member is a member of an object by name, and how its value is read into a T.
type Member[T any] struct {
	Name string
	Read func(s *Scanner, to *T)
}

// Members are those of an object that a program has written, which has them in the same order
// every time. It is never changed, and may be used by many goroutines.
type Members[T any] struct {
	list   []Member[T]
	keys   []string // as they stand behind another member: a comma, the name in quotes, a colon
	byName map[string]uint8
}

// Order is which member came behind which in the last object that was read.
type Order []uint8

// NewMembers makes a table of members, of which there can be 254. No name needs an escape.
func NewMembers[T any](list ...Member[T]) *Members[T] {
	m := &Members[T]{list: list, byName: map[string]uint8{}}
	for i := range list {
		m.keys = append(m.keys, `,"`+list[i].Name+`":`)
		m.byName[list[i].Name] = uint8(i + 1)
	}
	return m
}

// Read reads the object that comes next, and skips members that are not in the table. What came
// behind a member in the last object is what is looked for behind it first.
func (m *Members[T]) Read(s *Scanner, order *Order, to *T) {
	if *order == nil {
		*order = make(Order, len(m.list)+1)
	}
	s.Object()
	after, last := *order, uint8(0)
	for {
		next := after[last]
		if next == 0 || !s.isKey(m.keys[next-1]) {
			key, ok := s.Key()
			if !ok {
				return
			}
			if next = m.byName[string(key)]; next == 0 {
				s.Skip()
				continue
			}
			after[last] = next
		}
		m.list[next-1].Read(s, to)
		last = next
	}
}

// isKey takes a key if it is this one, with nothing between.
func (s *Scanner) isKey(key string) bool {
	if s.fresh {
		key = key[1:]
	}
	if len(s.data)-s.pos < len(key) || string(s.data[s.pos:s.pos+len(key)]) != key {
		return false
	}
	s.pos += len(key)
	s.fresh = false
	return true
}
