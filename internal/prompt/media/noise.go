package media

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
)

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
