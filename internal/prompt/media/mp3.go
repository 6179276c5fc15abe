package media

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MP3 is a file of MPEG audio, layer III: silence, or noise where there is something to draw it from. It is right for
// these two alone, and so needs no filter bank and no model of the ear: noise is drawn as the spectrum that a frame
// holds, each line of it one step up, one step down or none. The length is that of whole frames, of 72 ms at most; a
// rate that an MP3 cannot have becomes the next higher one, or the highest.
func MP3(s Sound, noise *rand.Rand) []byte {
	f := newMP3Format(s)
	frames := max(1, int(math.Ceil(s.Length.Seconds()*float64(f.rate)/float64(f.granules*mp3Lines))))
	w := bits{b: make([]byte, 0, frames*(f.size+1))}
	rest := 0 // of a byte that frames are short so far, in parts of the rate
	for range frames {
		size := f.size
		if rest += f.rest; rest >= f.rate {
			rest -= f.rate
			size++
		}
		f.frame(&w, size, noise)
	}
	return w.b
}

const (
	mp3Lines = 576 // of a spectrum, and samples that it stands for

	// mp3Spectrum is the room of a spectrum whose lines are all other than zero, in bits: four lines are a word of four
	// bits, and each has a bit for its sign.
	mp3Spectrum = mp3Lines / 4 * (4 + 4)

	// mp3Gain makes noise whose deviation is a quarter of full scale, near that of WAV.
	mp3Gain = 187
)

// mp3Format is what all frames of a file have in common.
type mp3Format struct {
	version   uint32 // as in the header: 3 is MPEG-1, 2 is MPEG-2, 0 is MPEG-2.5
	rateIndex uint32
	rate      int
	bitrate   uint32 // its index
	channels  int
	granules  int // of a frame
	size      int // of a frame, in bytes, less what is padded
	rest      int // the part of a byte that size leaves out, in parts of rate
}

func newMP3Format(s Sound) mp3Format {
	f := mp3Format{rate: s.Rate, channels: max(1, s.Channels)}
	if f.rate == 0 {
		f.rate = 16000
	}
	rates := []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000} // three of each version
	i, _ := slices.BinarySearch(rates, f.rate)
	i = min(i, len(rates)-1)
	f.rate = rates[i]
	f.version = [...]uint32{0, 2, 3}[i/3]
	f.rateIndex = [...]uint32{2, 0, 1}[i%3] // a version's rates: the middle one, the highest, the lowest
	kilobits := []int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	f.granules = 1
	if f.version == 3 {
		kilobits = []int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
		f.granules = 2
	}
	need := 4 + f.sideInfo() + f.granules*f.channels*mp3Spectrum/8
	for k := 1; k < len(kilobits); k++ {
		bits := f.granules * mp3Lines / 8 * kilobits[k] * 1000
		f.bitrate, f.size, f.rest = uint32(k), bits/f.rate, bits%f.rate
		if f.size >= need {
			break
		}
	}
	return f
}

// sideInfo is the size of what stands between a frame's header and its spectra.
func (f *mp3Format) sideInfo() int {
	switch {
	case f.version == 3 && f.channels == 2:
		return 32
	case f.version != 3 && f.channels == 1:
		return 9
	default:
		return 17
	}
}

func (f *mp3Format) frame(w *bits, size int, noise *rand.Rand) {
	start := len(w.b)
	w.put(0x7ff, 11)
	w.put(f.version, 2)
	w.put(1, 2) // layer III
	w.put(1, 1) // no checksum
	w.put(f.bitrate, 4)
	w.put(f.rateIndex, 2)
	w.put(uint32(size-f.size), 1)
	w.put(0, 1)
	w.put([...]uint32{3, 0}[f.channels-1], 2) // one channel, or two that have nothing in common
	w.put(0, 6)

	spectra := make([][]int8, f.granules*f.channels)
	if noise != nil {
		for i := range spectra {
			spectra[i] = noiseSpectrum(noise)
		}
	}
	if f.version == 3 {
		w.put(0, 9)                            // spectra begin in this frame
		w.put(0, [...]int{5, 3}[f.channels-1]) // private
		w.put(0, 4*f.channels)                 // no factors of the first granule are used again
	} else {
		w.put(0, 8)
		w.put(0, f.channels)
	}
	for _, lines := range spectra {
		f.describe(w, lines)
	}
	for _, lines := range spectra {
		appendSpectrum(w, lines)
	}
	w.free = 0 // the rest of the last byte is nothing
	w.b = append(w.b, make([]byte, start+size-len(w.b))...)
}

// describe writes how a spectrum is coded: as fours of lines that are -1, 0 or 1, with no scale factors.
func (f *mp3Format) describe(w *bits, lines []int8) {
	w.put(uint32(spectrumBits(lines)), 12)
	w.put(0, 9) // pairs of larger values: none
	w.put(mp3Gain, 8)
	w.put(0, [...]int{3: 4, 2: 9, 0: 9}[f.version]) // scale factors have no bits
	w.put(0, 1)                                     // long blocks
	w.put(0, 3*5+4+3)                               // tables and regions of larger values
	if f.version == 3 {
		w.put(0, 1) // no emphasis of high lines
	}
	w.put(0, 1)
	w.put(1, 1) // fours are coded by the plain table: four bits, one for each line that is zero
}

func noiseSpectrum(noise *rand.Rand) []int8 {
	lines := make([]int8, mp3Lines)
	for i := range lines {
		lines[i] = int8(noise.IntN(3) - 1)
	}
	return lines
}

// spectrumBits is how many bits appendSpectrum writes.
func spectrumBits(lines []int8) int {
	n := len(lines) // four for each four
	for _, v := range lines {
		if v != 0 {
			n++
		}
	}
	return n
}

func appendSpectrum(w *bits, lines []int8) {
	for four := range slices.Chunk(lines, 4) {
		for _, v := range four {
			w.put(uint32(1-v*v), 1)
		}
		for _, v := range four {
			if v != 0 {
				w.put(uint32(1-v)/2, 1) // 1 is negative
			}
		}
	}
}

// bits is a string of bits, the highest of a byte first, as MPEG writes its numbers.
type bits struct {
	b    []byte
	free int // bits of the last byte that are not used
}

func (w *bits) put(v uint32, n int) {
	for n--; n >= 0; n-- {
		if w.free == 0 {
			w.b, w.free = append(w.b, 0), 8
		}
		w.free--
		w.b[len(w.b)-1] |= byte(v>>n&1) << w.free
	}
}

// ue writes a number by the Exp-Golomb code.
func (w *bits) ue(v uint32) {
	n := 0
	for (v+1)>>(n+1) != 0 {
		n++
	}
	w.put(0, n)
	w.put(v+1, n+1)
}

// end closes a unit of H.264.
func (w *bits) end() {
	w.put(1, 1)
	w.free = 0
}
