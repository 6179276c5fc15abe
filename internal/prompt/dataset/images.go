package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	pictures "image"
	_ "image/jpeg" // for the sizes of images
	_ "image/png"  // the same
	"math/rand/v2"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// image makes a part of an image, whose bytes are sent as they are; false: servers do
// not take it.
func image(data []byte) (prompt.Part, bool) {
	if w, h, ok := webp(data); ok {
		return prompt.Part{Kind: prompt.Image, Type: "image/webp", Data: data, Width: w, Height: h}, true
	}
	config, format, err := pictures.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return prompt.Part{}, false
	}
	return prompt.Part{Kind: prompt.Image, Type: "image/" + format, Data: data, Width: config.Width, Height: config.Height}, true
}

// imageOf makes a part of a row's image: its bytes, or in JSON, which has none, their Base64.
func imageOf(data string) (prompt.Part, bool) {
	if part, ok := image([]byte(data)); ok {
		return part, true
	}
	plain, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return prompt.Part{}, false
	}
	return image(plain)
}

// webp reads the size of a WebP image out of its head.
func webp(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	body := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(body[6:])) & 0x3fff, int(binary.LittleEndian.Uint16(body[8:])) & 0x3fff, true
	case "VP8L":
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, body[0] == 0x2f
	case "VP8X":
		size := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return size(body[4:]) + 1, size(body[7:]) + 1, true
	}
	return 0, 0, false
}

// weave puts images into a text, each at a place that is drawn for it.
func weave(text string, images []prompt.Part, at plan.Spot, rng *rand.Rand) []prompt.Part {
	list := make([]prompt.Medium, len(images))
	for i := range images {
		list[i] = prompt.Medium{At: prompt.DrawSpot(at, rng), Parts: images[i : i+1]}
	}
	return prompt.InsertMedia(text, list)
}
