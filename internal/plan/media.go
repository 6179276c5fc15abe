package plan

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

// Spot is where in a prompt's text something stands: from 0, before it, to 1, behind it; zero:
// anywhere.
type Spot struct {
	Dist   string
	Mean   float64
	Stddev float64
	Min    float64
	Max    float64
}

// Images of a prompt.
type Images struct {
	Count  Length
	At     Spot
	Sizes  []Size
	Width  Length
	Height Length
	Noise  bool
	Format string
}

// Size is a kind of image.
type Size struct {
	Width  int
	Height int
	Weight float64
}

// Videos of a prompt.
type Videos struct {
	Count  Length
	At     Spot
	Clips  []Clip
	Format string
}

// Clip is a kind of video.
type Clip struct {
	Width  int
	Height int
	Frames int
	Weight float64
}

// Sounds of a prompt.
type Sounds struct {
	Count    Length
	At       Spot
	Clips    []Sound
	Noise    bool
	Depths   []int
	Rates    []int
	Channels int
	Format   string
}

// Sound is a kind of audio.
type Sound struct {
	Length Duration
	Stddev Duration
	Weight float64
}
