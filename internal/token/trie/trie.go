// Package trie finds a text's beginnings that are tokens, with one look into memory a byte.
package trie

import (
	"slices"
	"strings"
)

// Trie is a double array: the child of node s by byte c is at base[s]+c+1, where the
// unit says whose child it is. It never changes once it is made.
type Trie struct {
	units []unit
}

// unit is a node. Value is 0 where no key ends.
type unit struct {
	base  int32
	check int32 // the parent, plus 1; 0: the unit is free
	value int32 // of the key that ends here, plus 1
}

// Root is the node that every search begins at.
const Root int32 = 0

// New makes a trie of distinct keys with values of 0 or more. An empty key is left out.
func New(keys []string, values []int32) *Trie {
	b := builder{keys: keys, values: values, order: make([]int32, 0, len(keys))}
	total := 0
	for i, k := range keys {
		if k != "" {
			b.order = append(b.order, int32(i))
			total += len(k)
		}
	}
	slices.SortFunc(b.order, func(x, y int32) int { return strings.Compare(keys[x], keys[y]) })
	b.units = make([]unit, 512, 512+total/2)
	b.units[0].check = 1
	b.first = 257 // so that no label leads to a base below 0
	if len(b.order) > 0 {
		b.insert()
	}
	last := len(b.units)
	for last > 1 && b.units[last-1].check == 0 {
		last--
	}
	b.grow(last + 257) // so that no look is out of bounds
	return &Trie{units: slices.Clone(b.units[:last+257])}
}

// Next goes from a node along a byte. It returns the node there, -1 where there is
// none, and the value of the key that ends there, or -1.
func (t *Trie) Next(node int32, c byte) (int32, int32) {
	at := t.units[node].base + int32(c) + 1
	u := &t.units[at]
	if u.check != node+1 {
		return -1, -1
	}
	return at, u.value - 1
}

type builder struct {
	keys   []string
	values []int32
	order  []int32
	units  []unit
	first  int // no unit before this one is free
	wide   int // where the search for several units begins
}

func (b *builder) grow(n int) {
	for len(b.units) < n {
		b.units = append(b.units, make([]unit, max(n-len(b.units), len(b.units)/8))...)
	}
}

// task is a node whose children are to be placed: the keys order[from:to] share its path of depth
// bytes.
type task struct {
	node     int32
	from, to int
	depth    int
}

// insert places the nodes of all keys, depth first. It keeps what is left to do in a
// list of its own: a key may be longer than a stack is deep.
func (b *builder) insert() {
	todo := []task{{node: Root, to: len(b.order)}}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = b.children(todo[:len(todo)-1], t)
	}
}

// children places a node's children and adds them to what is left to do, the first last.
func (b *builder) children(todo []task, t task) []task {
	if len(b.keys[b.order[t.from]]) == t.depth {
		b.units[t.node].value = b.values[b.order[t.from]] + 1
		if t.from++; t.from == t.to {
			return todo
		}
	}
	var room [32]byte
	labels := room[:0]
	first := len(todo)
	for i, k := range b.order[t.from:t.to] {
		c := b.keys[k][t.depth]
		if len(labels) == 0 || labels[len(labels)-1] != c {
			if len(labels) > 0 {
				todo[len(todo)-1].to = t.from + i
			}
			labels = append(labels, c)
			todo = append(todo, task{from: t.from + i, to: t.to, depth: t.depth + 1})
		}
	}
	base := b.place(labels)
	b.units[t.node].base = base
	for i, c := range labels {
		at := base + int32(c) + 1
		b.units[at].check = t.node + 1
		todo[first+i].node = at
	}
	slices.Reverse(todo[first:])
	return todo
}

// manyTries is after how many misfits the search begins later next time, or building is quadratic.
const (
	manyTries = 16
	far       = 1024 // units, free or not
)

// place finds where the children with these labels fit. An only child goes to the
// first free unit, so that the holes between others are filled.
func (b *builder) place(labels []byte) int32 {
	lead := int(labels[0]) + 1
	for b.first < len(b.units) && b.units[b.first].check != 0 {
		b.first++
	}
	start := b.first
	if len(labels) > 1 {
		start = max(start, b.wide)
	}
	tried := 0
	for at := start; ; at++ {
		if at+512 > len(b.units) {
			b.grow(at + 512)
		}
		if b.units[at].check != 0 {
			continue
		}
		base := at - lead
		fits := true
		for _, c := range labels[1:] {
			if b.units[base+int(c)+1].check != 0 {
				fits = false
				break
			}
		}
		if !fits {
			tried++
			continue
		}
		if tried > manyTries || at-start > far {
			b.wide = at
		}
		return int32(base)
	}
}
