package media

import (
	"encoding/binary"
	"image/color"
)

// FramesPerSecond is how fast videos run.
const FramesPerSecond = 10

// MP4 is a video of one colour that brightens a little from frame to frame: H.264 of
// the baseline profile in an MP4 file. Sizes are made even, which its colours need.
//
// Each frame stands for itself. Its first block of 16 × 16 pixels is given sample by
// sample; every other one is predicted from its neighbours, with nothing to add.
func MP4(width, height, frames int, c Colour) []byte {
	width, height = max(width&^1, 2), max(height&^1, 2)
	samples := make([][]byte, frames)
	for i := range samples {
		more := i * 7 % 32
		y, cb, cr := color.RGBToYCbCr(brighter(c.R, more), brighter(c.G, more), brighter(c.B, more))
		samples[i] = frame(width, height, i, limited(y, 219, 16), limited(cb, 224, 16), limited(cr, 224, 16))
	}
	return movie(width, height, samples)
}

func brighter(v uint8, more int) uint8 { return uint8(min(int(v)+more, 255)) }

// limited brings a value of the full range into that of video.
func limited(v uint8, span, from int) byte { return byte(int(v)*span/255 + from) }

// unit is a unit of the stream: its head, and bytes without what looks like another's start.
func unit(head byte, payload []byte) []byte {
	b := append(make([]byte, 0, len(payload)+16), head)
	zeros := 0
	for _, v := range payload {
		if zeros == 2 && v <= 3 {
			b, zeros = append(b, 3), 0
		}
		b = append(b, v)
		if v == 0 {
			zeros++
		} else {
			zeros = 0
		}
	}
	return b
}

func blocks(pixels int) int { return (pixels + 15) / 16 }

// sequence says what all frames have in common.
func sequence(width, height int) []byte {
	w := new(bits)
	w.put(66, 8)   // baseline
	w.put(0xc0, 8) // also what the simpler decoders understand
	w.put(uint32(level(width, height)), 8)
	w.ue(0)     // number of this set
	w.ue(0)     // frame numbers have 4 bits
	w.ue(2)     // frames are shown in the order they come
	w.ue(1)     // frames kept
	w.put(0, 1) // no gaps
	w.ue(uint32(blocks(width) - 1))
	w.ue(uint32(blocks(height) - 1))
	w.put(1, 1) // whole frames
	w.put(1, 1)
	right, bottom := blocks(width)*16-width, blocks(height)*16-height
	if right+bottom > 0 {
		w.put(1, 1)
		w.ue(0)
		w.ue(uint32(right / 2))
		w.ue(0)
		w.ue(uint32(bottom / 2))
	} else {
		w.put(0, 1)
	}
	w.put(0, 1) // nothing about how it is shown
	w.end()
	return unit(0x67, w.b)
}

// level is the least that decoders must be up to.
func level(width, height int) int {
	switch n := blocks(width) * blocks(height); {
	case n <= 1620:
		return 30
	case n <= 8192:
		return 40
	case n <= 36864:
		return 51
	}
	return 62
}

func picture() []byte {
	w := new(bits)
	w.ue(0)
	w.ue(0)
	w.put(0, 2) // plain variable-length codes, no fields
	w.ue(0)     // one group of slices
	w.ue(0)
	w.ue(0)
	w.put(0, 3)
	w.ue(0) // quantizers as usual
	w.ue(0)
	w.ue(0)
	w.put(1, 1) // slices say whether edges are smoothed
	w.put(0, 2)
	w.end()
	return unit(0x68, w.b)
}

func frame(width, height, number int, y, cb, cr byte) []byte {
	w := new(bits)
	w.ue(0) // from the first block on
	w.ue(7) // nothing but blocks that stand for themselves
	w.ue(0)
	w.put(0, 4)              // frame number
	w.ue(uint32(number & 1)) // tells two such pictures in a row apart
	w.put(0, 2)              // kept as usual
	w.ue(0)                  // quantizer as usual
	w.ue(1)                  // edges are not smoothed
	w.ue(25)                 // samples as they are
	w.free = 0
	for range 256 {
		w.b = append(w.b, y)
	}
	for range 64 {
		w.b = append(w.b, cb)
	}
	for range 64 {
		w.b = append(w.b, cr)
	}
	across, down := blocks(width), blocks(height)
	for i := 1; i < across*down; i++ {
		w.ue(3) // the mean of its neighbours, nothing added
		w.ue(0) // colours likewise
		w.ue(0) // quantizer as before
		if i == 1 && across > 1 || i == across {
			w.put(3, 6) // no coefficients, next to the block that is given
		} else {
			w.put(1, 1) // no coefficients
		}
	}
	w.end()
	return unit(0x65, w.b)
}

func box(kind string, parts ...[]byte) []byte {
	size := 8
	for _, p := range parts {
		size += len(p)
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(size))
	b = append(b, kind...)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// words are numbers of 32 bits.
func words(list ...uint32) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// one is 1.0 where numbers have 16 bits behind the point.
const one = 0x10000

// movie puts frames into a file.
func movie(width, height int, samples [][]byte) []byte {
	kind := box("ftyp", []byte("isom"), words(0x200), []byte("isomiso2avc1mp41"))
	var data []byte
	sizes := words(0, 0, uint32(len(samples)))
	for _, s := range samples {
		data = append(append(data, words(uint32(len(s)))...), s...)
		sizes = append(sizes, words(uint32(len(s)+4))...)
	}
	head := func(offset int) []byte {
		n := uint32(len(samples))
		matrix := words(one, 0, 0, 0, one, 0, 0, 0, 0x40000000)
		track := box("tkhd", words(3, 0, 0, 1, 0, n, 0, 0, 0, 0), matrix, words(uint32(width)<<16, uint32(height)<<16))
		table := box("stbl",
			box("stsd", words(0, 1), visual(width, height)),
			box("stts", words(0, 1, n, 1)),
			box("stsc", words(0, 1, 1, n, 1)),
			box("stsz", sizes),
			box("stco", words(0, 1, uint32(offset))))
		info := box("minf",
			box("vmhd", words(1, 0, 0)),
			box("dinf", box("dref", words(0, 1), box("url ", words(1)))),
			table)
		medium := box("mdia",
			box("mdhd", words(0, 0, 0, FramesPerSecond, n, 0x55c40000)),
			box("hdlr", words(0, 0), []byte("vide"), words(0, 0, 0), []byte("video\x00")),
			info)
		return box("moov",
			box("mvhd", words(0, 0, 0, FramesPerSecond, n, one, 0x01000000, 0, 0), matrix, words(0, 0, 0, 0, 0, 0, 2)),
			box("trak", track, medium))
	}
	moov := head(0)
	moov = head(len(kind) + len(moov) + 8)
	return append(append(kind, moov...), box("mdat", data)...)
}

func visual(width, height int) []byte {
	seq, pic := sequence(width, height), picture()
	config := append([]byte{1, seq[1], seq[2], seq[3], 0xff, 0xe1}, byte(len(seq)>>8), byte(len(seq)))
	config = append(config, seq...)
	config = append(append(config, 1, byte(len(pic)>>8), byte(len(pic))), pic...)
	size := words(uint32(width)<<16 | uint32(height))
	return box("avc1", words(0, 1, 0, 0, 0, 0), size, words(72*one, 72*one, 0), []byte{0, 1}, make([]byte, 32), []byte{0, 0x18, 0xff, 0xff}, box("avcC", config))
}
