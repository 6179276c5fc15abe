package dataset

import (
	"bytes"
	"encoding/binary"
	pictures "image"
	_ "image/jpeg" // for the sizes of images
	_ "image/png"  // the same
	"math"
	"math/rand/v2"
	"unicode/utf8"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
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
	type pin struct {
		at   int
		part prompt.Part
	}
	var pins []pin
	for _, part := range images {
		i := int(spot(at, rng) * float64(len(text)))
		for i < len(text) && !utf8.RuneStart(text[i]) {
			i++
		}
		n := len(pins)
		for n > 0 && pins[n-1].at > i {
			n--
		}
		pins = append(pins[:n], append([]pin{{i, part}}, pins[n:]...)...)
	}
	var parts []prompt.Part
	from := 0
	for _, p := range pins {
		if p.at > from {
			parts = append(parts, prompt.Part{Kind: prompt.Text, Text: text[from:p.at]})
			from = p.at
		}
		parts = append(parts, p.part)
	}
	if from < len(text) {
		parts = append(parts, prompt.Part{Kind: prompt.Text, Text: text[from:]})
	}
	return parts
}

// fine is how many places there are between the beginning and the end of a text.
const fine = 1 << 20

// spot draws a place: from 0, before the text, to 1, behind it. It is drawn as a length
// is, in fine steps.
func spot(s plan.Spot, rng *rand.Rand) float64 {
	if s.Dist == "" {
		return rng.Float64()
	}
	if s.Dist == plan.DistFixed {
		return clamp(s.Mean, 0, 1)
	}
	most := s.Max
	if most == 0 {
		most = 1
	}
	l := plan.Length{Dist: s.Dist, Mean: s.Mean * fine, Stddev: s.Stddev * fine, Min: int(s.Min * fine), Max: int(most * fine)}
	if s.Dist == plan.DistPoisson { // of whole numbers: before the text or behind it
		return clamp(float64(prompt.NewLengths(plan.Length{Dist: plan.DistPoisson, Mean: s.Mean}, rng.Uint64()).At(0)), s.Min, most)
	}
	return clamp(float64(prompt.NewLengths(l, rng.Uint64()).At(0))/fine, s.Min, most)
}

func clamp(x, least, most float64) float64 { return math.Min(math.Max(x, least), most) }
