package media

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math/rand/v2"
	"testing"
	"time"
)

// differs: ip-media-bytes
func TestImages(t *testing.T) {
	m := NewMaker()
	for _, size := range [][2]int{{1, 1}, {1, 7}, {512, 512}, {640, 360}, {1001, 3}} {
		for _, c := range []Colour{{0, 0, 0}, {255, 255, 255}, {200, 30, 90}} {
			for format, file := range map[string][]byte{"png": m.PNG(size[0], size[1], c), "jpeg": m.JPEG(size[0], size[1], c)} {
				img, got, err := image.Decode(bytes.NewReader(file))
				if err != nil || got != format || img.Bounds().Dx() != size[0] || img.Bounds().Dy() != size[1] {
					t.Fatalf("%v: %v, %s, %v", size, err, got, img.Bounds())
				}
				for _, at := range []image.Point{{}, {size[0] - 1, 0}, {size[0] / 2, size[1] / 2}, {size[0] - 1, size[1] - 1}} {
					r, g, b, _ := img.At(at.X, at.Y).RGBA()
					if !near(r, c.R) || !near(g, c.G) || !near(b, c.B) {
						t.Errorf("%s %v at %v: %d %d %d, want %v", format, size, at, r>>8, g>>8, b>>8, c)
					}
				}
			}
		}
	}
	large := m.PNG(3840, 2160, Colour{1, 2, 3})
	if c, _, err := image.DecodeConfig(bytes.NewReader(large)); err != nil || c.Width != 3840 || c.Height != 2160 {
		t.Errorf("%v, %+v", err, c)
	}
	if n := len(large); n < 10_000 || n > 100_000 {
		t.Errorf("a large image has %d bytes", n)
	}
}

func near(got uint32, want uint8) bool {
	d := int(got>>8) - int(want)
	return d >= -2 && d <= 2
}

func TestSound(t *testing.T) {
	for _, tt := range []struct {
		sound  Sound
		noise  bool
		length int // of the samples
	}{
		{Sound{Length: time.Second}, false, 32000},
		{Sound{}, false, 2},
		{Sound{Length: 500 * time.Millisecond, Rate: 44100, Depth: 24, Channels: 2}, true, 22050 * 6},
		{Sound{Length: 3 * time.Millisecond, Rate: 1000, Depth: 8}, true, 3},
		{Sound{Length: time.Second, Rate: 8000, Depth: 32}, true, 32000},
	} {
		var noise *rand.Rand
		if tt.noise {
			noise = rand.New(rand.NewPCG(1, 2))
		}
		b := WAV(tt.sound, noise)
		size := int(binary.LittleEndian.Uint32(b[40:]))
		whole := int(binary.LittleEndian.Uint32(b[4:]))
		if string(b[:4]) != "RIFF" || string(b[8:16]) != "WAVEfmt " || size != tt.length || whole != len(b)-8 || len(b)%2 != 0 {
			t.Errorf("%+v: %d bytes of samples, want %d; %d in all of %d", tt.sound, size, tt.length, whole, len(b))
		}
		silent := bytes.Count(b[44:44+size], []byte{0}) == size
		if silent == tt.noise {
			t.Errorf("%+v: silent is %v", tt.sound, silent)
		}
	}
}

// boxes finds the boxes of a file by their path.
func boxes(t *testing.T, b []byte, path string, found map[string][]byte) {
	t.Helper()
	for len(b) > 0 {
		if len(b) < 8 || int(binary.BigEndian.Uint32(b)) > len(b) || binary.BigEndian.Uint32(b) < 8 {
			t.Fatalf("%s: a box ends beyond its parent", path)
		}
		size := int(binary.BigEndian.Uint32(b))
		name := path + "/" + string(b[4:8])
		found[name] = b[8:size]
		switch string(b[4:8]) {
		case "moov", "trak", "mdia", "minf", "dinf", "stbl":
			boxes(t, b[8:size], name, found)
		}
		b = b[size:]
	}
}

func TestVideo(t *testing.T) {
	for _, tt := range []struct{ width, height, frames, w, h int }{
		{512, 512, 10, 512, 512}, {17, 33, 2, 16, 32}, {1, 1, 1, 2, 2}, {3840, 2160, 2, 3840, 2160},
	} {
		file := MP4(tt.width, tt.height, tt.frames, Colour{200, 30, 90})
		found := map[string][]byte{}
		boxes(t, file, "", found)
		const table = "/moov/trak/mdia/minf/stbl"
		entry := found[table+"/stsd"][8:]
		if w, h := binary.BigEndian.Uint16(entry[32:]), binary.BigEndian.Uint16(entry[34:]); int(w) != tt.w || int(h) != tt.h || string(entry[4:8]) != "avc1" {
			t.Errorf("%v: the frames are %d × %d", tt, w, h)
		}
		sizes := found[table+"/stsz"]
		if n := int(binary.BigEndian.Uint32(sizes[8:])); n != tt.frames {
			t.Fatalf("%v: %d frames", tt, n)
		}
		at := int(binary.BigEndian.Uint32(found[table+"/stco"][8:]))
		for i := range tt.frames {
			size := int(binary.BigEndian.Uint32(sizes[12+4*i:]))
			if n := int(binary.BigEndian.Uint32(file[at:])); n != size-4 || file[at+4] != 0x65 {
				t.Fatalf("%v: frame %d at %d does not stand where the table says", tt, i, at)
			}
			if bytes.Contains(file[at+4:at+size], []byte{0, 0, 1}) || bytes.Contains(file[at+4:at+size], []byte{0, 0, 0}) {
				t.Errorf("%v: frame %d holds the start of another", tt, i)
			}
			at += size
		}
		if at != len(file) {
			t.Errorf("%v: the frames end at %d of %d", tt, at, len(file))
		}
	}
}

// Frames of an MP3 are read as a decoder does: each begins where the one before it ends, and its spectra fit in it.
func TestMP3(t *testing.T) {
	for _, tt := range []struct {
		rate, channels int
		length         time.Duration
		noise          bool
	}{
		{0, 0, time.Second, true}, {8000, 2, time.Second, true}, {11025, 1, time.Second, true}, {12000, 2, time.Second, true},
		{22050, 1, 10 * time.Second, true},
		{24000, 2, time.Second, true}, {32000, 1, time.Second, true}, {44100, 2, 5 * time.Second, true}, {48000, 1, time.Second, false},
		{16000, 1, time.Millisecond, true},
	} {
		var noise *rand.Rand
		if tt.noise {
			noise = rand.New(rand.NewPCG(1, 2))
		}
		samples, rate := 0, 0
		for file := MP3(Sound{Length: tt.length, Rate: tt.rate, Channels: tt.channels}, noise); len(file) > 0; {
			f := readMP3Frame(t, file)
			if f.channels != max(1, tt.channels) {
				t.Fatalf("%+v: %d channels", tt, f.channels)
			}
			if nothing := f.spectra == 0; nothing == tt.noise {
				t.Fatalf("%+v: the spectra have %d bits", tt, f.spectra)
			}
			samples += f.samples
			rate = f.rate
			file = file[f.size:]
		}
		if want := cmp.Or(tt.rate, 16000); rate != want {
			t.Errorf("%+v: %d samples a second", tt, rate)
		}
		if short := tt.length.Seconds() - float64(samples)/float64(rate); short > 0 || short < -float64(1152)/float64(rate) {
			t.Errorf("%+v: %d samples", tt, samples)
		}
	}
}

type mp3Frame struct{ rate, channels, samples, size, spectra int }

// readMP3Frame reads the head and the side information of the frame that a file begins with.
func readMP3Frame(t *testing.T, b []byte) mp3Frame {
	t.Helper()
	if len(b) < 36 || b[0] != 0xff || b[1]&0xe7 != 0xe3 {
		t.Fatalf("no frame of layer III: %x", b[:min(len(b), 4)])
	}
	f := mp3Frame{channels: 2, samples: 576}
	first := b[1]>>3&3 == 3
	kilobits := [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[b[2]>>4]
	if first {
		f.samples = 1152
		kilobits = [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[b[2]>>4]
	}
	f.rate = [...]int{44100, 48000, 32000}[b[2]>>2&3] >> [...]int{3: 0, 2: 1, 0: 2}[b[1]>>3&3]
	if b[3]>>6 == 3 {
		f.channels = 1
	}
	f.size = f.samples/8*kilobits*1000/f.rate + int(b[2]>>1&1)
	if f.size > len(b) {
		t.Fatalf("a frame of %d bytes has %d", f.size, len(b))
	}
	side, at, each, spectra := 9+8*(f.channels-1), 8+f.channels, 63, f.channels
	if first {
		side, at, each, spectra = 17+15*(f.channels-1), []int{18, 20}[f.channels-1], 59, 2*f.channels
	}
	for i := range spectra {
		n := 0
		for bit := at + i*each; bit < at+i*each+12; bit++ {
			n = n<<1 | int(b[4+bit/8]>>(7-bit%8)&1)
		}
		f.spectra += n
	}
	if 4+side+(f.spectra+7)/8 > f.size {
		t.Fatalf("spectra of %d bits do not fit in a frame of %d bytes", f.spectra, f.size)
	}
	return f
}

// The writer of bits follows the standard's own examples of its codes.
func TestBits(t *testing.T) {
	w := new(bits)
	for _, v := range []uint32{0, 1, 2, 3, 7, 25} { // 1 010 011 00100 0001000 000011010
		w.ue(v)
	}
	w.end()
	if want := []byte{0b10100110, 0b01000001, 0b00000001, 0b10101000}; !bytes.Equal(w.b, want) {
		t.Errorf("%08b, want %08b", w.b, want)
	}
	if got := unit(9, []byte{0, 0, 0, 0, 0, 1, 0, 0, 4}); !bytes.Equal(got, []byte{9, 0, 0, 3, 0, 0, 3, 0, 1, 0, 0, 4}) {
		t.Errorf("%v", got)
	}
}
