package genaiperf

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"

	frontend "inferometer/internal/frontend/genaiperf"
	"inferometer/internal/prompt"
)

// media makes the images and the audio of requests.
type media struct {
	set  *frontend.Settings
	draw *rand.Rand
}

func newMedia(s *frontend.Settings) *media {
	return &media{set: s, draw: rand.New(rand.NewPCG(uint64(s.Seed), 'i'))}
}

// size is a length drawn around a mean, at least 1.
func (m *media) size(mean, stddev int) int {
	return max(int(math.Round(m.draw.NormFloat64()*float64(stddev)+float64(mean))), 1)
}

// images are the images of a request: those of the prompt, or made up.
func (m *media) images(p *prompt.Prompt) ([]string, error) {
	var list []string
	for i := range p.Parts {
		list = append(list, p.Parts[i].URL)
	}
	if list != nil || m.set.ImageWidthMean == 0 || m.set.ImageHeightMean == 0 {
		return list, nil
	}
	for range m.set.BatchImage {
		url, err := m.image()
		if err != nil {
			return nil, err
		}
		list = append(list, url)
	}
	return list, nil
}

// content is the content of a message with a text and what goes with it.
func (m *media) content(text string, images []string) []object {
	var parts []object
	if text != "" {
		parts = append(parts, object{{"type", "text"}, {"text", text}})
	}
	for _, url := range images {
		parts = append(parts, object{{"type", "image_url"}, {"image_url", object{{"url", url}}}})
	}
	if m.set.AudioLengthMean > 0 {
		for range m.set.BatchAudio {
			clip := base64.StdEncoding.EncodeToString(m.audio())
			parts = append(parts, object{{"type", "input_audio"}, {"input_audio", object{{"data", clip}, {"format", "wav"}}}})
		}
	}
	return parts
}

// image is a picture as a data URI: bands of colour with noise on them, so that it
// does not shrink to nothing.
func (m *media) image() (string, error) {
	width, height := m.size(m.set.ImageWidthMean, m.set.ImageWidthStddev), m.size(m.set.ImageHeightMean, m.set.ImageHeightStddev)
	const most = 1 << 26
	if width*height > most {
		return "", fmt.Errorf("an image of %d by %d pixels is too large", width, height)
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			noise := uint8(m.draw.UintN(32))
			picture.SetRGBA(x, y, color.RGBA{uint8(x*224/width) + noise, uint8(y*224/height) + noise, 128 + noise, 255})
		}
	}
	var b bytes.Buffer
	var err error
	if m.set.ImageFormat == "jpeg" {
		err = jpeg.Encode(&b, picture, nil)
	} else {
		err = png.Encode(&b, picture)
	}
	return "data:image/" + m.set.ImageFormat + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// audio is a WAV file of noise.
func (m *media) audio() []byte {
	seconds := math.Max(m.draw.NormFloat64()*m.set.AudioLengthStddev+m.set.AudioLengthMean, 0.01)
	depth := m.set.AudioDepths[m.draw.IntN(len(m.set.AudioDepths))]
	rate := int(m.set.AudioRates[m.draw.IntN(len(m.set.AudioRates))] * 1000)
	frame := m.set.AudioChannels * depth / 8
	samples := int(seconds * float64(rate))
	size := samples * frame
	b := make([]byte, 0, 44+size)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+size))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // plain samples
	b = binary.LittleEndian.AppendUint16(b, uint16(m.set.AudioChannels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(depth))
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	loud := math.Ldexp(1, depth-1) - 1
	for range samples * m.set.AudioChannels {
		v := int64(math.Max(-1, math.Min(1, m.draw.NormFloat64()*0.3)) * loud)
		if depth == 8 {
			v += 128 // samples of eight bits have no sign
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(v))
		b = append(b, word[:depth/8]...)
	}
	return b
}

// rankings is a request of passages to be ranked by a query.
func (t *tool) rankings(query string, passages []string, model string) object {
	for _, x := range t.set.Extra {
		if x.Name == "rankings" && x.Value == "tei" {
			return object{{"query", query}, {"texts", passages}}
		}
	}
	var list []object
	for _, p := range passages {
		list = append(list, object{{"text", p}})
	}
	return object{{"query", object{{"text", query}}}, {"passages", list}, {"model", model}}
}
