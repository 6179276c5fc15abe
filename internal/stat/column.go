// Package stat is mathematics over integer samples: columns that spill to disk, exact order
// statistics and times over them, quantile rules, the number of samples that a percentile needs,
// and a small histogram for figures at any time.
package stat

import "slices"

// Set says to which of two overlapping sets a sample belongs. A column keeps one
// copy of a sample that is in both, and its summary covers each set by itself.
type Set uint8

// The sets. A sample in both has them or-ed together.
const (
	First  Set = 1
	Second Set = 2
	Both   Set = First | Second
)

// setBits is the number of low bits of a stored sample that hold its sets.
const setBits = 2

// MaxSample is the greatest magnitude that a column can hold exactly: the bits
// above it make room for the sets. In nanoseconds it is 73 years.
const MaxSample = 1<<(63-setBits) - 1

// Column is a growing sequence of integer samples. It keeps them packed in memory
// and, once its pool is over its budget, in the pool's file. A column belongs to
// one goroutine at a time.
type Column struct {
	pool *Pool
	tail []int64 // samples not yet packed, fewer than blockLen

	chunk  []byte   // packed blocks, the chunk being filled
	full   [][]byte // full chunks kept in memory
	spills []extent // full chunks in the pool's file
	packed int64    // samples in chunk, full and spills
	min    int64    // stored form, over packed samples
	max    int64

	parted bool // samples are kept in parts
	part   Part // that of the samples in tail
}

// Append adds sample v to the given sets, one at least. Beyond MaxSample it is not kept exactly.
func (c *Column) Append(v int64, in Set) {
	c.tail = append(c.tail, v<<setBits|int64(in))
	if len(c.tail) == blockLen {
		c.pack()
	}
}

// Len is the number of samples.
func (c *Column) Len() int64 { return c.packed + int64(len(c.tail)) }

// pack moves the tail into the chunk as one block.
func (c *Column) pack() {
	if len(c.tail) == 0 {
		return
	}
	vals := c.tail
	need := maxBlock(len(vals)) + slack
	if len(c.chunk)+need > chunkLen {
		c.closeChunk()
	}
	if cap(c.chunk) < len(c.chunk)+need {
		grown := make([]byte, len(c.chunk), min(chunkLen, max(2*cap(c.chunk), len(c.chunk)+need)))
		copy(grown, c.chunk)
		c.chunk = grown
	}
	var lo, hi int64
	var part *Part
	if c.parted {
		part = &c.part
	}
	c.chunk, lo, hi = appendBlock(c.chunk, vals, part)
	if c.packed == 0 {
		c.min, c.max = lo, hi
	} else {
		c.min, c.max = min(c.min, lo), max(c.max, hi)
	}
	c.packed += int64(len(vals))
	c.tail = c.tail[:0]
}

// closeChunk puts the chunk where it stays: in memory while the pool allows, else in the file. A
// chunk that cannot be written stays in memory; the pool remembers the error.
func (c *Column) closeChunk() {
	if len(c.chunk) == 0 {
		return
	}
	if !c.pool.reserve(cap(c.chunk)) {
		if e, ok := c.pool.write(c.chunk); ok {
			c.spills = append(c.spills, e)
			c.chunk = c.chunk[:0]
			return
		}
		c.pool.used.Add(int64(cap(c.chunk)))
	}
	c.full = append(c.full, c.chunk)
	c.chunk = nil
}

// Merge moves the samples of other into c and leaves other empty.
func (c *Column) Merge(other *Column) error {
	other.pack()
	if other.packed == 0 {
		return nil
	}
	if c.pool != other.pool {
		return c.copyFrom(other)
	}
	if c.packed == 0 {
		c.min, c.max = other.min, other.max
	} else {
		c.min, c.max = min(c.min, other.min), max(c.max, other.max)
	}
	other.closeChunk()
	c.full = append(c.full, other.full...)
	c.spills = append(c.spills, other.spills...)
	c.packed += other.packed
	*other = Column{pool: other.pool}
	return nil
}

// copyFrom adds the samples of a column of another pool.
func (c *Column) copyFrom(other *Column) error {
	err := other.parts(func(part Part, stored []int64) {
		if other.parted {
			c.In(part)
		}
		for _, s := range stored {
			c.Append(s>>setBits, Set(s&int64(Both)))
		}
	})
	if err != nil {
		return err
	}
	other.Close()
	return nil
}

// Close gives the column's memory back to its pool. It is empty then and can be used again.
func (c *Column) Close() {
	for _, chunk := range c.full {
		c.pool.used.Add(-int64(cap(chunk)))
	}
	*c = Column{pool: c.pool}
}

// blocks calls f with all samples as stored, a block at a time. f must not keep the slice.
func (c *Column) blocks(f func(stored []int64)) error {
	return c.parts(func(_ Part, stored []int64) { f(stored) })
}

// parts is blocks with the part of each block.
func (c *Column) parts(f visitor) error {
	var r reader
	for _, p := range c.pieces(nil) {
		if err := r.read(&p, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Column) bounds() (lo, hi int64, ok bool) {
	lo, hi = c.min, c.max
	ok = c.packed > 0
	for _, s := range c.tail {
		if !ok {
			lo, hi, ok = s, s, true
			continue
		}
		lo, hi = min(lo, s), max(hi, s)
	}
	return lo >> setBits, hi >> setBits, ok
}

// AppendAll adds every sample of vals to the given sets.
func (c *Column) AppendAll(vals []int64, in Set) {
	for len(vals) > 0 {
		n := min(len(vals), blockLen-len(c.tail))
		tail := slices.Grow(c.tail, n)[:len(c.tail)+n]
		to := tail[len(c.tail):]
		for i, v := range vals[:n] {
			to[i] = v<<setBits | int64(in)
		}
		c.tail = tail
		vals = vals[n:]
		if len(c.tail) == blockLen {
			c.pack()
		}
	}
}
