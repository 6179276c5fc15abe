package media

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math/rand/v2"
	"testing"
	"time"
)

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
