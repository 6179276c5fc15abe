package stat

import (
	"encoding/binary"
	"math/bits"
)

// A block is a run of stored samples, packed as the least of them and the
// differences to it, each in as many bytes as the greatest difference needs:
//
//	count uint16, width uint8, least int64, count × width bytes; little-endian
//
// A block of a column that is kept in parts has its part, two int64, behind the least, and
// the bit inPart in its width.
//
// Samples of one kind are of one size, so that most need three or four bytes, and
// a run of equal ones needs none.
const (
	blockLen   = 1024 // samples in a full block
	headerLen  = 11
	chunkLen   = 64 << 10 // bytes of blocks that are kept or spilled together
	slack      = 8        // samples are written and read eight bytes at a time
	widthAt    = 2
	leastAt    = 3
	inPart     = 0x80
	partLen    = 16
	wordBytes  = 8
	bitsInByte = 8
)

// maxBlock is the most bytes that a block of n samples can take.
func maxBlock(n int) int { return headerLen + partLen + wordBytes*n }

// appendBlock appends vals to chunk as a block, and gives the least and the greatest
// of them. part is where they belong; nil: to none. The chunk must have room for the block
// and slack bytes more.
func appendBlock(chunk []byte, vals []int64, part *Part) (_ []byte, lo, hi int64) {
	lo, hi = vals[0], vals[0]
	for _, v := range vals {
		lo, hi = min(lo, v), max(hi, v)
	}
	width := (bits.Len64(uint64(hi)-uint64(lo)) + bitsInByte - 1) / bitsInByte
	at := len(chunk)
	p := at + headerLen
	if part != nil {
		p += partLen
	}
	end := p + width*len(vals)
	room := chunk[:end+slack]
	binary.LittleEndian.PutUint16(room[at:], uint16(len(vals)))
	room[at+widthAt] = byte(width)
	binary.LittleEndian.PutUint64(room[at+leastAt:], uint64(lo))
	if part != nil {
		room[at+widthAt] |= inPart
		binary.LittleEndian.PutUint64(room[at+headerLen:], uint64(part.Sent))
		binary.LittleEndian.PutUint64(room[at+headerLen+wordBytes:], uint64(part.End))
	}
	if width > 0 {
		for _, v := range vals {
			binary.LittleEndian.PutUint64(room[p:], uint64(v)-uint64(lo))
			p += width
		}
	}
	return chunk[:end], lo, hi
}

// readBlock unpacks the first block of chunk into vals and its part, where it has one, into
// part, and gives the number of samples and the rest of the chunk. The bytes behind the
// chunk must be readable for slack bytes more.
func readBlock(vals *[blockLen]int64, part *Part, chunk []byte) (int, []byte) {
	n := int(binary.LittleEndian.Uint16(chunk))
	width := int(chunk[widthAt] &^ inPart)
	least := binary.LittleEndian.Uint64(chunk[leastAt:])
	out := vals[:n]
	head := headerLen
	if chunk[widthAt]&inPart != 0 {
		part.Sent = int64(binary.LittleEndian.Uint64(chunk[headerLen:]))
		part.End = int64(binary.LittleEndian.Uint64(chunk[headerLen+wordBytes:]))
		head += partLen
	}
	end := head + n*width
	if width == 0 {
		for i := range out {
			out[i] = int64(least)
		}
		return n, chunk[end:]
	}
	mask := ^uint64(0) >> (bitsInByte * (wordBytes - width))
	data := chunk[head : end+slack]
	for i := range out {
		out[i] = int64(least + binary.LittleEndian.Uint64(data)&mask)
		data = data[width:]
	}
	return n, chunk[end:]
}
