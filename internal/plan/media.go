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
