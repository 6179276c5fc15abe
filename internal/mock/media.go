package mock

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"

	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// This file is OpenAI's endpoints for sound and images: what was said in one, and others that are made of a text.

// transcriptDelta sends n tokens from the at-th on, as OpenAI does.
func (c *call) transcriptDelta(at, n int) bool {
	c.str(`data: {"type":"transcript.text.delta","delta":"`)
	c.words(0, at, n)
	c.str("\"}\n\n")
	return c.event(truthfile.KindContent, n, false)
}

// endTranscript sends what such a stream has after its last token.
func (c *call) endTranscript() bool {
	c.str(`data: {"type":"transcript.text.done","text":"`)
	c.words(0, 0, c.tokens)
	c.str(`",`)
	c.soundUsage()
	c.str("}\n\n")
	return c.event(truthfile.KindFinish, 0, true)
}

func (c *call) soundUsage() {
	c.put(`"usage":{"type":"tokens","input_tokens":`, c.seq.Prompt, `,"output_tokens":`, c.tokens, `,"total_tokens":`, c.seq.Prompt+c.tokens, `}`)
}

// transcript writes what was said in one piece.
func (c *call) transcript() {
	c.str(`{"text":"`)
	c.words(0, 0, c.tokens)
	c.str(`",`)
	if c.p.Form.Verbose {
		c.str(`"task":"transcribe","language":"english","duration":`)
		c.float(c.p.Form.Seconds)
		c.str(`,"segments":[],`)
	}
	c.soundUsage()
	c.str(`}`)
}

// usualSide is that of images whose size is not asked for.
const usualSide = 256

// images writes images of one colour each.
func (c *call) images() {
	width, height := c.p.Width, c.p.Height
	if width == 0 {
		width, height = usualSide, usualSide
	}
	c.put(`{"created":`, int(c.req.read.Unix()), `,"data":[`)
	for i := range c.p.N {
		c.comma(i)
		if c.p.URLs {
			c.put(`{"url":"http://127.0.0.1/`, c.id, `-`, i, `.png"}`)
			continue
		}
		c.str(`{"b64_json":"`)
		c.buf = base64.StdEncoding.AppendEncode(c.buf, onePicture(width, height, i))
		c.str(`"}`)
	}
	c.put(`],"usage":{"input_tokens":`, c.seq.Prompt, `,"output_tokens":0,"total_tokens":`, c.seq.Prompt,
		`,"input_tokens_details":{"text_tokens":`, c.seq.Prompt, `,"image_tokens":0}}}`)
}

// onePicture is a PNG of one colour, the i-th.
func onePicture(width, height, i int) []byte {
	colours := color.Palette{color.RGBA{uint8(40 * i), 120, 200, 255}}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), colours)); err != nil {
		return nil // a buffer takes all
	}
	return b.Bytes()
}
