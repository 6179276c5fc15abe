// Package media makes images, videos and sound of given sizes: valid files that say
// nothing. They are what multimodal prompts are filled with.
package media

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"sync"
)

// Colour is a colour of eight bits a channel.
type Colour struct{ R, G, B uint8 }

// Maker makes media, safely concurrent. What files of one size have in common is made once.
type Maker struct {
	mu     sync.Mutex
	canvas map[[2]int]*canvas
}

// NewMaker makes a Maker.
func NewMaker() *Maker { return &Maker{canvas: map[[2]int]*canvas{}} }

// canvas is all of a PNG file's pixels but the first one, compressed: each row says
// that it is like the one above, the first that each pixel is like the one before.
type canvas struct {
	deflated []byte
	adler    uint32 // of the pixels
	length   int    // of them
}

// PNG is an image of one colour, true colour with eight bits a channel.
func (m *Maker) PNG(width, height int, c Colour) []byte {
	rest := m.rest(width, height)
	// The first row's filter and the first pixel stand before the rest as they are.
	first := []byte{1, c.R, c.G, c.B}
	data := []byte{0x78, 0x01, 0, 4, 0, 0xfb, 0xff}
	data = append(append(data, first...), rest.deflated...)
	data = binary.BigEndian.AppendUint32(data, joinAdler(adler32.Checksum(first), rest.adler, rest.length))

	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = binary.BigEndian.AppendUint32(head, uint32(height))
	head = append(head, 8, 2, 0, 0, 0)
	b := make([]byte, 0, len(data)+64)
	b = append(b, "\x89PNG\r\n\x1a\n"...)
	b = appendChunk(b, "IHDR", head)
	b = appendChunk(b, "IDAT", data)
	return appendChunk(b, "IEND", nil)
}

func appendChunk(b []byte, kind string, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	from := len(b)
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// rest is what all images of a size share.
func (m *Maker) rest(width, height int) *canvas {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]int{width, height}
	if c := m.canvas[key]; c != nil {
		return c
	}
	row := make([]byte, 1+3*width)
	row[0] = 2 // like the row above
	var out bytes.Buffer
	sum := adler32.New()
	w, _ := flate.NewWriter(&out, flate.BestSpeed) // fails for levels that do not exist
	c := &canvas{}
	add := func(p []byte) { // neither of these can fail
		_, _ = w.Write(p)
		_, _ = sum.Write(p)
		c.length += len(p)
	}
	add(row[4:]) // after the first pixel, which stands apart
	for range height - 1 {
		add(row)
	}
	_ = w.Close()
	c.deflated, c.adler = out.Bytes(), sum.Sum32()
	m.canvas[key] = c
	return c
}

// joinAdler is the checksum of two pieces, of which the second has a length.
func joinAdler(a, b uint32, length int) uint32 {
	const mod = 65521
	a1, a2 := uint64(a&0xffff), uint64(a>>16)
	b1, b2 := uint64(b&0xffff), uint64(b>>16)
	one := (a1 + b1 + mod - 1) % mod
	two := (a2 + b2 + uint64(length)%mod*((a1+mod-1)%mod)) % mod
	return uint32(two<<16 | one)
}

// JPEG is an image of one colour, of quality 75 with colours at half the size.
func (m *Maker) JPEG(width, height int, c Colour) []byte {
	y, cb, cr := color.RGBToYCbCr(c.R, c.G, c.B)
	img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	fill(img.Y, y)
	fill(img.Cb, cb)
	fill(img.Cr, cr)
	var out bytes.Buffer
	_ = jpeg.Encode(&out, img, &jpeg.Options{Quality: 75}) // a buffer takes all, and sizes are bounded by the plan
	return out.Bytes()
}

func fill(p []byte, v byte) {
	for i := range p {
		p[i] = v
	}
}

// Noise is an image of bands of colour with noise on them, which stays as large as a
// photograph of its size when it is compressed: as PNG, or as JPEG.
func Noise(width, height int, asJPEG bool, rng *rand.Rand) []byte {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			noise := uint8(rng.UintN(32))
			picture.SetRGBA(x, y, color.RGBA{uint8(x*224/width) + noise, uint8(y*224/height) + noise, 128 + noise, 255})
		}
	}
	var b bytes.Buffer
	if asJPEG {
		_ = jpeg.Encode(&b, picture, nil) // neither can fail on a buffer
	} else {
		_ = png.Encode(&b, picture)
	}
	return b.Bytes()
}
