package planfile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

var mediaSpec = sync.OnceValue(func() codec[plan.Media] {
	return object(
		fieldOf("image", imagesSpec(), func(m *plan.Media) *plan.Images { return &m.Image }, "Images, each of one random colour, or noise."),
		fieldOf("video", videosSpec(), func(m *plan.Media) *plan.Videos { return &m.Video }, "Videos."),
		fieldOf("audio", soundsSpec(), func(m *plan.Media) *plan.Sounds { return &m.Audio }, "Audio clips: silence or noise."),
	)
})

func spotSpec() codec[plan.Spot] {
	c := object(
		fieldOf("dist", named("`fixed`, `normal`, `uniform`, `lognormal`, `skew_normal` or `poisson`", plan.Distributions()...), func(s *plan.Spot) *string { return &s.Dist },
			"Distribution; left out: anywhere."),
		fieldOf("mean", number(), func(s *plan.Spot) *float64 { return &s.Mean }, "Mean; for a fixed position, the position: 0 is before the text, 1 after it."),
		fieldOf("stddev", number(), func(s *plan.Spot) *float64 { return &s.Stddev }, "Standard deviation."),
		fieldOf("min", number(), func(s *plan.Spot) *float64 { return &s.Min }, "Minimum."),
		fieldOf("max", number(), func(s *plan.Spot) *float64 { return &s.Max }, "Maximum; 0: 1."),
	)
	c.check = func(c *checker, path string, s *plan.Spot) { c.spot(path, *s) }
	return c
}

func weightField[T any](get func(*T) *float64) field[T] {
	return fieldOf("weight", amount(mostWeight), get, "Relative weight; 0: 1.")
}

func imagesSpec() codec[plan.Images] {
	size := object(
		fieldOf("width", integer[int](), func(s *plan.Size) *int { return &s.Width }, "In pixels."),
		fieldOf("height", integer[int](), func(s *plan.Size) *int { return &s.Height }, "In pixels."),
		weightField(func(s *plan.Size) *float64 { return &s.Weight }),
	)
	return object(
		fieldOf("count", tallySpec(), func(m *plan.Images) *plan.Length { return &m.Count }, "How many a prompt has; the form is that of `data.input`."),
		fieldOf("at", spotSpec(), func(m *plan.Images) *plan.Spot { return &m.At }, "Where in the text they stand."),
		fieldOf("sizes", list("list of sizes", size), func(m *plan.Images) *[]plan.Size { return &m.Sizes }, "Sizes to draw from. None: 512 × 512."),
		fieldOf("width", lengthSpec(), func(m *plan.Images) *plan.Length { return &m.Width }, "Width of each, in pixels, instead of `sizes`."),
		fieldOf("height", lengthSpec(), func(m *plan.Images) *plan.Length { return &m.Height }, "Height of each, in pixels."),
		fieldOf("noise", boolean(), func(m *plan.Images) *bool { return &m.Noise }, "Bands of colour with noise, which do not compress well."),
		fieldOf("format", word(plan.ImagePNG, plan.ImageJPEG), func(m *plan.Images) *string { return &m.Format }, "Left out: `png`."),
	)
}

func videosSpec() codec[plan.Videos] {
	clip := object(
		fieldOf("width", integer[int](), func(s *plan.Clip) *int { return &s.Width }, "In pixels."),
		fieldOf("height", integer[int](), func(s *plan.Clip) *int { return &s.Height }, "In pixels."),
		fieldOf("frames", integer[int](), func(s *plan.Clip) *int { return &s.Frames }, "Frames, ten a second."),
		weightField(func(s *plan.Clip) *float64 { return &s.Weight }),
	)
	return object(
		fieldOf("count", tallySpec(), func(m *plan.Videos) *plan.Length { return &m.Count }, "How many a prompt has."),
		fieldOf("at", spotSpec(), func(m *plan.Videos) *plan.Spot { return &m.At }, "Where in the text they stand."),
		fieldOf("clips", list("list of clips", clip), func(m *plan.Videos) *[]plan.Clip { return &m.Clips }, "Clips to draw from. None: 10 frames of 512 × 512."),
		fieldOf("format", word(plan.VideoMP4, plan.VideoPNGFrames, plan.VideoJPEGFrames),
			func(m *plan.Videos) *string { return &m.Format }, "Left out: `mp4`."),
	)
}

func soundsSpec() codec[plan.Sounds] {
	length := duration()
	length.check = func(c *checker, path string, d *plan.Duration) {
		if *d <= 0 || *d > mostSound {
			c.add(path, fmt.Sprintf("must be more than 0 and at most 1h, is %s", *d), "")
		}
	}
	sound := object(
		fieldOf("length", length, func(s *plan.Sound) *plan.Duration { return &s.Length }, "Duration."),
		fieldOf("stddev", duration(), func(s *plan.Sound) *plan.Duration { return &s.Stddev }, "Standard deviation of that."),
		weightField(func(s *plan.Sound) *float64 { return &s.Weight }),
	)
	return object(
		fieldOf("count", tallySpec(), func(m *plan.Sounds) *plan.Length { return &m.Count }, "How many a prompt has."),
		fieldOf("at", spotSpec(), func(m *plan.Sounds) *plan.Spot { return &m.At }, "Where in the text they stand."),
		fieldOf("clips", list("list of sounds", sound), func(m *plan.Sounds) *[]plan.Sound { return &m.Clips }, "Sounds to draw from. None: 1s."),
		fieldOf("noise", boolean(), func(m *plan.Sounds) *bool { return &m.Noise }, "Noise instead of silence."),
		fieldOf("depths", list("list of whole numbers", integer[int]()), func(m *plan.Sounds) *[]int { return &m.Depths }, "Bits of a sample to draw from: 8, 16, 24 or 32. None: 16."),
		fieldOf("rates", list("list of whole numbers", integer[int]()), func(m *plan.Sounds) *[]int { return &m.Rates }, "Samples per second to draw from. None: 16000."),
		fieldOf("channels", integer[int](), func(m *plan.Sounds) *int { return &m.Channels }, "1 or 2; 0: 1."),
		fieldOf("format", word(plan.AudioWAV, plan.AudioMP3), func(m *plan.Sounds) *string { return &m.Format }, "Left out: `wav`."),
	)
}

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
	mediaSpec().check(c, path, m)
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
	case mediaSpec().zero(*m):
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

// tallySpec is how many of something there are: a Length that may be 0.
func tallySpec() codec[plan.Length] {
	c := lengthSpec()
	c.check = func(c *checker, path string, v *plan.Length) {
		l := *v
		if l != (plan.Length{}) && l.Mean < 1 && l.Mean >= 0 && l.Dist != plan.DistUniform {
			l.Mean = max(1, float64(l.Min))
		}
		c.length(path, l)
	}
	return c
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
