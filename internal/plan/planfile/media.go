package planfile

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// Bounds of media: a request with more is a slip of the keyboard.
const (
	mostPixels = 16384
	mostArea   = 1 << 26
	mostFrames = 10_000
	mostWeight = 1e9
	mostSound  = plan.Duration(3600e9)
	mostHertz  = 1_000_000
)

func (c *checker) media(path string, m *plan.Media) {
	at := path + "."
	for i, s := range m.Image.Sizes {
		c.pixels(fmt.Sprintf("%simage.sizes[%d]", at, i), s.Width, s.Height)
	}
	c.within(at+"image.width", m.Image.Width, mostPixels)
	c.within(at+"image.height", m.Image.Height, mostPixels)
	if (m.Image.Width == plan.Length{}) != (m.Image.Height == plan.Length{}) {
		c.add(at+"image", "an image needs a width and a height", "give both, or sizes")
	}
	if m.Image.Width.Mean*m.Image.Height.Mean > mostArea {
		c.add(at+"image", fmt.Sprintf("an image of %v by %v pixels is too large", m.Image.Width.Mean, m.Image.Height.Mean), "")
	}
	if (m.Image.Width != plan.Length{}) && len(m.Image.Sizes) > 0 {
		c.add(at+"image.sizes", "cannot be combined with width and height", "leave one of them out")
	}
	for i, s := range m.Video.Clips {
		path := fmt.Sprintf("%svideo.clips[%d]", at, i)
		c.pixels(path, s.Width, s.Height)
		if s.Frames < 1 || s.Frames > mostFrames {
			c.add(path+".frames", fmt.Sprintf("must be from 1 to %d, is %d", mostFrames, s.Frames), "")
		}
	}
	c.sounds(at+"audio", &m.Audio)
}

// within checks the bound of a length that has its own.
func (c *checker) within(path string, l plan.Length, most int) {
	if l.Mean > float64(most) || l.Max > most {
		c.add(path, fmt.Sprintf("is more than %d", most), "")
	}
}

func (c *checker) sounds(at string, m *plan.Sounds) {
	for i, n := range m.Depths {
		if n != 8 && n != 16 && n != 24 && n != 32 {
			c.add(fmt.Sprintf("%s.depths[%d]", at, i), fmt.Sprintf("must be 8, 16, 24 or 32, is %d", n), "")
		}
	}
	for i, n := range m.Rates {
		switch path := fmt.Sprintf("%s.rates[%d]", at, i); {
		case n < 1000 || n > mostHertz:
			c.add(path, fmt.Sprintf("must be from 1000 to %d samples per second, is %d", mostHertz, n), "")
		case m.Format == plan.AudioMP3 && !slices.Contains(plan.MP3Rates(), n):
			c.add(path, fmt.Sprintf("an MP3 cannot have %d samples per second", n), "one of "+fmt.Sprint(plan.MP3Rates()))
		}
	}
	if m.Channels < 0 || m.Channels > 2 {
		c.add(at+".channels", fmt.Sprintf("must be 1 or 2, is %d", m.Channels), "")
	}
}

// mediaFor checks that what is asked can hold media.
func (c *checker) mediaFor(t *plan.Target, path string, m *plan.Media) {
	switch {
	case unset(m):
	case t.Protocol == plan.ProtocolTriton || t.Endpoint == plan.EndpointCompletions:
		c.lacks(path, "target.endpoint", "endpoint "+truncate.Quote(t.Endpoint)+" takes text alone", "%v", message.UseChat)
	case t.Protocol == plan.ProtocolAnthropic && m.Audio.Count != plan.Length{}:
		c.lacks(path+".audio", "target.protocol", "messages of Anthropic's API hold no sound", "%v", message.New("%v, or leave it out", message.UseOpenAI).Or("leave it out"))
	case t.Protocol == plan.ProtocolAnthropic && m.Video.Count != plan.Length{} && (m.Video.Format == "" || m.Video.Format == plan.VideoMP4):
		c.lacks(path+".video", "target.protocol", "messages of Anthropic's API hold no video", "set its %v to png_frames or jpeg_frames", message.VideoFormat)
	}
}

func (c *checker) pixels(path string, width, height int) {
	if width < 1 || width > mostPixels || height < 1 || height > mostPixels {
		c.add(path, fmt.Sprintf("width and height must be from 1 to %d, are %d and %d", mostPixels, width, height), "")
	}
}

// checkSound checks the length of a sound.
func checkSound(c *checker, path string, v any) {
	if d := *v.(*plan.Duration); d <= 0 || d > mostSound {
		c.add(path, fmt.Sprintf("must be more than 0 and at most 1h, is %s", d), "")
	}
}

func (c *checker) spot(path string, s plan.Spot) {
	if s == (plan.Spot{}) {
		return
	}
	c.choice(path+".dist", s.Dist, plan.Distributions())
	c.share(path+".mean", s.Mean)
	c.share(path+".min", s.Min)
	c.share(path+".max", s.Max)
	c.amount(path+".stddev", s.Stddev, 1e6)
	if s.Max > 0 && s.Min > s.Max {
		c.add(path, "min is more than max", "")
	}
}
