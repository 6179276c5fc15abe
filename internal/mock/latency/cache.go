package latency

import "container/list"

// prefixCache remembers prompt prefixes, in blocks, and forgets the least recently used.
type prefixCache struct {
	size   int
	blocks map[uint64]*list.Element
	order  *list.List // of hashes, most recently used in front
}

func newPrefixCache(size int) *prefixCache {
	return &prefixCache{size: size, blocks: make(map[uint64]*list.Element), order: list.New()}
}

// clear forgets all of them.
func (c *prefixCache) clear() {
	clear(c.blocks)
	c.order.Init()
}

// visit returns how many leading blocks are held, and takes all of them in.
func (c *prefixCache) visit(blocks []uint64) int {
	hits := 0
	for hits < len(blocks) && c.blocks[blocks[hits]] != nil {
		hits++
	}
	// From the end, so that the beginning of a prompt outlives its rest.
	for i := len(blocks) - 1; i >= 0; i-- {
		h := blocks[i]
		if e := c.blocks[h]; e != nil {
			c.order.MoveToFront(e)
			continue
		}
		c.blocks[h] = c.order.PushFront(h)
		if c.order.Len() > c.size {
			e := c.order.Back()
			c.order.Remove(e)
			delete(c.blocks, e.Value.(uint64))
		}
	}
	return hits
}
