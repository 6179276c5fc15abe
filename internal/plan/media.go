package plan

import (
	"fmt"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/message"
)

// The forms of media.
const (
	ImagePNG  = "png"
	ImageJPEG = "jpeg"

	VideoMP4        = "mp4"
	VideoPNGFrames  = "png_frames"
	VideoJPEGFrames = "jpeg_frames"

	AudioWAV = "wav"
	AudioMP3 = "mp3"
)

// MP3Rates are the samples per second that an MP3 can have.
func MP3Rates() []int {
	return []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000}
}

// Media says what prompts hold beside text. A count of zero Length is none.
type Media struct {
	Image Images
	Video Videos
	Audio Sounds
}

// None reports whether there is nothing beside text.
func (m *Media) None() bool {
	return m.Image.Count == Length{} && m.Video.Count == Length{} && m.Audio.Count == Length{}
}

// Spot is where in a prompt's text something stands: from 0, before it, to 1, behind
// it. The zero Spot is anywhere.
type Spot struct {
	Dist   string // "fixed", "normal", "uniform", … as of a Length; empty: uniform from 0 to 1
	Mean   float64
	Stddev float64
	Min    float64
	Max    float64
}

// Images of a prompt.
type Images struct {
	Count  Length
	At     Spot
	Sizes  []Size // one is drawn by weight; none: 512 × 512
	Width  Length // of each image, instead of Sizes
	Height Length
	Noise  bool   // bands of colour with noise on them, instead of one colour
	Format string // "png" (also when empty) or "jpeg"
}

// Size is a kind of image.
type Size struct {
	Width  int
	Height int
	Weight float64 // 0 is 1
}

// Videos of a prompt.
type Videos struct {
	Count  Length
	At     Spot
	Clips  []Clip // one is drawn by weight; none: 10 frames of 512 × 512
	Format string // "mp4" (also when empty), "png_frames" or "jpeg_frames"
}

// Clip is a kind of video.
type Clip struct {
	Width  int
	Height int
	Frames int
	Weight float64 // 0 is 1
}

// Sounds of a prompt.
type Sounds struct {
	Count    Length
	At       Spot
	Clips    []Sound // one is drawn by weight; none: 1 s
	Noise    bool    // instead of silence
	Depths   []int   // bits of a sample, to draw from: 8, 16, 24 or 32; none: 16
	Rates    []int   // samples per second, to draw from; none: 16000
	Channels int     // 0: 1
	Format   string  // "wav" (also when empty) or "mp3", whose samples have no depth
}

// Sound is a kind of audio.
type Sound struct {
	Length Duration
	Stddev Duration // of the length
	Weight float64  // 0 is 1
}

var mediaSpec = sync.OnceValue(func() codec[Media] {
	return object(
		fieldOf("image", imagesSpec(), func(m *Media) *Images { return &m.Image }, "Images, each of one random colour, or noise."),
		fieldOf("video", videosSpec(), func(m *Media) *Videos { return &m.Video }, "Videos."),
		fieldOf("audio", soundsSpec(), func(m *Media) *Sounds { return &m.Audio }, "Audio clips: silence or noise."),
	)
})

func spotSpec() codec[Spot] {
	c := object(
		fieldOf("dist", named("`fixed`, `normal`, `uniform`, `lognormal`, `skew_normal` or `poisson`", distNames()...), func(s *Spot) *string { return &s.Dist },
			"Distribution; left out: anywhere."),
		fieldOf("mean", number(), func(s *Spot) *float64 { return &s.Mean }, "Mean; for a fixed position, the position: 0 is before the text, 1 after it."),
		fieldOf("stddev", number(), func(s *Spot) *float64 { return &s.Stddev }, "Standard deviation."),
		fieldOf("min", number(), func(s *Spot) *float64 { return &s.Min }, "Minimum."),
		fieldOf("max", number(), func(s *Spot) *float64 { return &s.Max }, "Maximum; 0: 1."),
	)
	c.check = func(c *checker, path string, s *Spot) { c.spot(path, *s) }
	return c
}

func weightField[T any](get func(*T) *float64) field[T] {
	return fieldOf("weight", amount(mostWeight), get, "Relative weight; 0: 1.")
}

func imagesSpec() codec[Images] {
	size := object(
		fieldOf("width", integer[int](), func(s *Size) *int { return &s.Width }, "In pixels."),
		fieldOf("height", integer[int](), func(s *Size) *int { return &s.Height }, "In pixels."),
		weightField(func(s *Size) *float64 { return &s.Weight }),
	)
	return object(
		fieldOf("count", tallySpec(), func(m *Images) *Length { return &m.Count }, "How many a prompt has; the form is that of `data.input`."),
		fieldOf("at", spotSpec(), func(m *Images) *Spot { return &m.At }, "Where in the text they stand."),
		fieldOf("sizes", list("list of sizes", size), func(m *Images) *[]Size { return &m.Sizes }, "Sizes to draw from. None: 512 × 512."),
		fieldOf("width", lengthSpec(), func(m *Images) *Length { return &m.Width }, "Width of each, in pixels, instead of `sizes`."),
		fieldOf("height", lengthSpec(), func(m *Images) *Length { return &m.Height }, "Height of each, in pixels."),
		fieldOf("noise", boolean(), func(m *Images) *bool { return &m.Noise }, "Bands of colour with noise, which do not compress well."),
		fieldOf("format", word(ImagePNG, ImageJPEG), func(m *Images) *string { return &m.Format }, "Left out: `png`."),
	)
}

func videosSpec() codec[Videos] {
	clip := object(
		fieldOf("width", integer[int](), func(s *Clip) *int { return &s.Width }, "In pixels."),
		fieldOf("height", integer[int](), func(s *Clip) *int { return &s.Height }, "In pixels."),
		fieldOf("frames", integer[int](), func(s *Clip) *int { return &s.Frames }, "Frames, ten a second."),
		weightField(func(s *Clip) *float64 { return &s.Weight }),
	)
	return object(
		fieldOf("count", tallySpec(), func(m *Videos) *Length { return &m.Count }, "How many a prompt has."),
		fieldOf("at", spotSpec(), func(m *Videos) *Spot { return &m.At }, "Where in the text they stand."),
		fieldOf("clips", list("list of clips", clip), func(m *Videos) *[]Clip { return &m.Clips }, "Clips to draw from. None: 10 frames of 512 × 512."),
		fieldOf("format", word(VideoMP4, VideoPNGFrames, VideoJPEGFrames),
			func(m *Videos) *string { return &m.Format }, "Left out: `mp4`."),
	)
}

func soundsSpec() codec[Sounds] {
	length := duration()
	length.check = func(c *checker, path string, d *Duration) {
		if *d <= 0 || *d > mostSound {
			c.add(path, fmt.Sprintf("must be more than 0 and at most 1h, is %s", *d), "")
		}
	}
	sound := object(
		fieldOf("length", length, func(s *Sound) *Duration { return &s.Length }, "Duration."),
		fieldOf("stddev", duration(), func(s *Sound) *Duration { return &s.Stddev }, "Standard deviation of that."),
		weightField(func(s *Sound) *float64 { return &s.Weight }),
	)
	return object(
		fieldOf("count", tallySpec(), func(m *Sounds) *Length { return &m.Count }, "How many a prompt has."),
		fieldOf("at", spotSpec(), func(m *Sounds) *Spot { return &m.At }, "Where in the text they stand."),
		fieldOf("clips", list("list of sounds", sound), func(m *Sounds) *[]Sound { return &m.Clips }, "Sounds to draw from. None: 1s."),
		fieldOf("noise", boolean(), func(m *Sounds) *bool { return &m.Noise }, "Noise instead of silence."),
		fieldOf("depths", list("list of whole numbers", integer[int]()), func(m *Sounds) *[]int { return &m.Depths }, "Bits of a sample to draw from: 8, 16, 24 or 32. None: 16."),
		fieldOf("rates", list("list of whole numbers", integer[int]()), func(m *Sounds) *[]int { return &m.Rates }, "Samples per second to draw from. None: 16000."),
		fieldOf("channels", integer[int](), func(m *Sounds) *int { return &m.Channels }, "1 or 2; 0: 1."),
		fieldOf("format", word(AudioWAV, AudioMP3), func(m *Sounds) *string { return &m.Format }, "Left out: `wav`."),
	)
}

// Bounds of media: a request with more is a slip of the keyboard.
const (
	mostPixels = 16384
	mostArea   = 1 << 26
	mostFrames = 10_000
	mostWeight = 1e9
	mostSound  = Duration(3600e9)
	mostHertz  = 1_000_000
)

// media checks the media that stand at a path.
func (c *checker) media(path string, m *Media) {
	at := path + "."
	mediaSpec().check(c, path, m)
	for i, s := range m.Image.Sizes {
		c.pixels(fmt.Sprintf("%simage.sizes[%d]", at, i), s.Width, s.Height)
	}
	c.within(at+"image.width", m.Image.Width, mostPixels)
	c.within(at+"image.height", m.Image.Height, mostPixels)
	if (m.Image.Width == Length{}) != (m.Image.Height == Length{}) {
		c.add(at+"image", "an image needs a width and a height", "give both, or sizes")
	}
	if m.Image.Width.Mean*m.Image.Height.Mean > mostArea {
		c.add(at+"image", fmt.Sprintf("an image of %v by %v pixels is too large", m.Image.Width.Mean, m.Image.Height.Mean), "")
	}
	if (m.Image.Width != Length{}) && len(m.Image.Sizes) > 0 {
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
func (c *checker) within(path string, l Length, most int) {
	if l.Mean > float64(most) || l.Max > most {
		c.add(path, fmt.Sprintf("is more than %d", most), "")
	}
}

func (c *checker) sounds(at string, m *Sounds) {
	for i, n := range m.Depths {
		if n != 8 && n != 16 && n != 24 && n != 32 {
			c.add(fmt.Sprintf("%s.depths[%d]", at, i), fmt.Sprintf("must be 8, 16, 24 or 32, is %d", n), "")
		}
	}
	for i, n := range m.Rates {
		switch path := fmt.Sprintf("%s.rates[%d]", at, i); {
		case n < 1000 || n > mostHertz:
			c.add(path, fmt.Sprintf("must be from 1000 to %d samples per second, is %d", mostHertz, n), "")
		case m.Format == AudioMP3 && !slices.Contains(MP3Rates(), n):
			c.add(path, fmt.Sprintf("an MP3 cannot have %d samples per second", n), "one of "+fmt.Sprint(MP3Rates()))
		}
	}
	if m.Channels < 0 || m.Channels > 2 {
		c.add(at+".channels", fmt.Sprintf("must be 1 or 2, is %d", m.Channels), "")
	}
}

// mediaFor checks that what is asked can hold media.
func (c *checker) mediaFor(t *Target, path string, m *Media) {
	switch {
	case mediaSpec().zero(*m):
	case t.Protocol == ProtocolTriton || t.Endpoint == EndpointCompletions:
		c.lacks(path, "target.endpoint", "endpoint "+quote(t.Endpoint)+" takes text alone", "%v", message.UseChat)
	case t.Protocol == ProtocolAnthropic && m.Audio.Count != Length{}:
		c.lacks(path+".audio", "target.protocol", "messages of Anthropic's API hold no sound", "%v", message.New("%v, or leave it out", message.UseOpenAI).Or("leave it out"))
	case t.Protocol == ProtocolAnthropic && m.Video.Count != Length{} && (m.Video.Format == "" || m.Video.Format == VideoMP4):
		c.lacks(path+".video", "target.protocol", "messages of Anthropic's API hold no video", "set its %v to png_frames or jpeg_frames", message.VideoFormat)
	}
}

func (c *checker) pixels(path string, width, height int) {
	if width < 1 || width > mostPixels || height < 1 || height > mostPixels {
		c.add(path, fmt.Sprintf("width and height must be from 1 to %d, are %d and %d", mostPixels, width, height), "")
	}
}

// tallySpec is how many of something there are: a Length that may be 0.
func tallySpec() codec[Length] {
	c := lengthSpec()
	c.check = func(c *checker, path string, v *Length) {
		l := *v
		if l != (Length{}) && l.Mean < 1 && l.Mean >= 0 && l.Dist != DistUniform {
			l.Mean = max(1, float64(l.Min))
		}
		c.length(path, l)
	}
	return c
}

func (c *checker) spot(path string, s Spot) {
	if s == (Spot{}) {
		return
	}
	c.choice(path+".dist", s.Dist, distNames())
	c.share(path+".mean", s.Mean)
	c.share(path+".min", s.Min)
	c.share(path+".max", s.Max)
	c.amount(path+".stddev", s.Stddev, 1e6)
	if s.Max > 0 && s.Min > s.Max {
		c.add(path, "min is more than max", "")
	}
}
