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
// the bit inPart in its width. A block of few runs of equal samples has the bit inRuns, and the
// number of runs, uint16, before the differences; each is the run's, and its length follows it.
//
// Samples of one kind are of one size, so that most need three or four bytes, and
// a block of equal ones needs none.
const (
	blockLen   = 1024 // samples in a full block
	headerLen  = 11
	chunkLen   = 64 << 10 // bytes of blocks that are kept or spilled together
	slack      = 8        // samples are written and read eight bytes at a time
	widthAt    = 2
	leastAt    = 3
	inPart     = 0x80
	inRuns     = 0x40
	partLen    = 16
	countLen   = 2
	wordBytes  = 8
	bitsInByte = 8
)

// maxBlock is the most bytes that a block of n samples can take.
func maxBlock(n int) int { return headerLen + partLen + wordBytes*n }

// appendBlock appends vals to chunk as a block, and gives the least and the greatest of them. part
// is where they belong, if anywhere. The chunk must have room for the block and slack bytes.
func appendBlock(chunk []byte, vals []int64, part *Part) (_ []byte, lo, hi int64) {
	lo, hi = vals[0], vals[0]
	last, runs := vals[0], 1
	for _, v := range vals {
		lo, hi = min(lo, v), max(hi, v)
		if v != last {
			last, runs = v, runs+1
		}
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
	switch {
	case width == 0:
	case countLen+runs*(width+countLen) < width*len(vals):
		room[at+widthAt] |= inRuns
		end = appendRuns(room, p, width, runs, vals, lo)
	default:
		for _, v := range vals {
			binary.LittleEndian.PutUint64(room[p:], uint64(v)-uint64(lo))
			p += width
		}
	}
	return chunk[:end], lo, hi
}

// appendRuns writes samples as runs from p on, and gives where they end.
func appendRuns(room []byte, p, width, runs int, vals []int64, lo int64) int {
	binary.LittleEndian.PutUint16(room[p:], uint16(runs))
	p += countLen
	for len(vals) > 0 {
		n := run(vals)
		binary.LittleEndian.PutUint64(room[p:], uint64(vals[0])-uint64(lo))
		binary.LittleEndian.PutUint16(room[p+width:], uint16(n))
		vals, p = vals[n:], p+width+countLen
	}
	return p
}

// run is how many samples at the beginning of some are equal.
func run(vals []int64) int {
	n := 1
	for n < len(vals) && vals[n] == vals[0] {
		n++
	}
	return n
}

// readBlock unpacks the first block of chunk into vals and its part, if any, into part, and gives
// the number of samples and the rest. slack bytes behind the chunk must be readable.
func readBlock(vals *[blockLen]int64, part *Part, chunk []byte) (int, []byte) {
	n := int(binary.LittleEndian.Uint16(chunk))
	width := int(chunk[widthAt] &^ (inPart | inRuns))
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
	if chunk[widthAt]&inRuns != 0 {
		runs := int(binary.LittleEndian.Uint16(chunk[head:]))
		head += countLen
		end = head + runs*(width+countLen)
		for data := chunk[head : end+slack]; runs > 0; runs-- {
			v := int64(least + binary.LittleEndian.Uint64(data)&mask)
			equal := out[:binary.LittleEndian.Uint16(data[width:])]
			for i := range equal {
				equal[i] = v
			}
			out, data = out[len(equal):], data[width+countLen:]
		}
		return n, chunk[end:]
	}
	data := chunk[head:end]
	switch width {
	case 1:
		for i, v := range data[:n] {
			out[i] = int64(least + uint64(v))
		}
	case 2:
		for i := range out {
			out[i] = int64(least + uint64(binary.LittleEndian.Uint16(data[2*i:])))
		}
	case 4:
		for i := range out {
			out[i] = int64(least + uint64(binary.LittleEndian.Uint32(data[4*i:])))
		}
	default:
		data = chunk[head : end+slack]
		for i := range out {
			out[i] = int64(least + binary.LittleEndian.Uint64(data[width*i:])&mask)
		}
	}
	return n, chunk[end:]
}
