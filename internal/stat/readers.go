package stat

import (
	"sync"
	"sync/atomic"
)

// A piece is what one goroutine reads of a column at a time: a full chunk in memory or in the
// pool's file, or what is not yet in one.
type piece struct {
	column *Column
	chunk  []byte
	spill  extent
	tail   bool
}

// pieces appends the pieces of a column to a list, in the order of its samples in memory.
func (c *Column) pieces(list []piece) []piece {
	for _, e := range c.spills {
		list = append(list, piece{column: c, spill: e})
	}
	for _, chunk := range c.full {
		list = append(list, piece{column: c, chunk: chunk})
	}
	if len(c.chunk) > 0 {
		list = append(list, piece{column: c, chunk: c.chunk})
	}
	if len(c.tail) > 0 {
		list = append(list, piece{column: c, tail: true})
	}
	return list
}

// A visitor is called with a block of samples as stored, and their part. It must not keep the
// slice.
type visitor func(part Part, stored []int64)

// reader unpacks pieces.
type reader struct {
	vals  [blockLen]int64
	spill []byte
}

func (r *reader) read(p *piece, visit visitor) error {
	if p.tail {
		visit(p.column.part, p.column.tail)
		return nil
	}
	chunk := p.chunk
	if p.spill.len > 0 {
		if r.spill == nil {
			r.spill = make([]byte, chunkLen)
		}
		chunk = r.spill[:p.spill.len]
		if err := p.column.pool.read(chunk, p.spill); err != nil {
			return err
		}
	}
	for len(chunk) > 0 {
		var n int
		var part Part
		n, chunk = readBlock(&r.vals, &part, chunk)
		visit(part, r.vals[:n])
	}
	return nil
}

// piecesToShare is how many pieces must be left for another goroutine to join in: some 250,000
// samples, a fraction of a millisecond.
const piecesToShare = 16

// readAll reads the samples of columns, of many on several goroutines. Each has a visitor of its
// own; newVisitor is never called twice at a time.
func readAll(cols []*Column, newVisitor func() visitor) error {
	var list []piece
	for _, c := range cols {
		list = c.pieces(list)
	}
	if len(list) == 0 {
		return nil
	}
	var next atomic.Int64
	var others sync.WaitGroup
	var mu sync.Mutex
	var failed error
	spare := list[0].column.pool.spare
	var join func()
	join = func() {
		mu.Lock()
		visit := newVisitor()
		mu.Unlock()
		var r reader
		for {
			i := int(next.Add(1)) - 1
			if i >= len(list) {
				return
			}
			if len(list)-i > piecesToShare {
				select {
				case spare <- struct{}{}:
					others.Go(func() { join(); <-spare })
				default:
				}
			}
			if err := r.read(&list[i], visit); err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				return
			}
		}
	}
	join()
	others.Wait()
	return failed
}
