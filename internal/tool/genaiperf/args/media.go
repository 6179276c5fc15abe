package args

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/plan"
)

// media settles the images and the audio of requests.
func (b *builder) media() {
	s := &b.a.Settings
	s.ImageWidthMean, s.ImageWidthStddev = b.integer("image-width-mean", 0), b.integer("image-width-stddev", 0)
	s.ImageHeightMean, s.ImageHeightStddev = b.integer("image-height-mean", 0), b.integer("image-height-stddev", 0)
	s.ImageFormat = b.text("image-format", "png")
	s.BatchImage, s.BatchAudio = b.integer("batch-image", 1), b.integer("batch-audio", 1)
	s.AudioLengthMean, s.AudioLengthStddev = b.number("audio-length-mean", 0), b.number("audio-length-stddev", 0)
	s.AudioChannels = b.integer("audio-num-channels", 1)
	s.AudioDepths, s.AudioRates = []int{16}, []float64{16}
	if u, ok := b.last("audio-depths"); ok {
		s.AudioDepths = nil
		for _, text := range u.text {
			n, err := strconv.Atoi(text)
			b.faultIf(b.heard() && (err != nil || !slices.Contains([]int{8, 16, 24, 32}, n)), u.as, fmt.Sprintf("%q is not a bit depth", shorten(text)), "8, 16, 24 or 32")
			s.AudioDepths = append(s.AudioDepths, n)
		}
	}
	if u, ok := b.last("audio-sample-rates"); ok {
		s.AudioRates, s.AudioRatesGiven = nil, true
		for _, text := range u.text {
			v, err := strconv.ParseFloat(text, 64)
			b.faultIf(b.heard() && (err != nil || !(v >= 1 && v <= 1000)), u.as, fmt.Sprintf("%q is not a sample rate in kHz", shorten(text)), "such as 16 or 44.1")
			s.AudioRates = append(s.AudioRates, v)
		}
	}
	s.AudioFormat = b.text("audio-format", "wav")
	if s.AudioFormat == "mp3" && b.heard() {
		for _, r := range s.AudioRates {
			b.faultIf(!slices.Contains(plan.MP3Rates(), int(math.Round(r*1000))), "--audio-sample-rates", fmt.Sprintf("an MP3 cannot have %v kHz", r), "8, 11.025, 12, 16, 22.05, 24, 32, 44.1 or 48; or use --audio-format wav")
		}
	}
	for _, key := range []string{"image-width-mean", "image-height-mean", "audio-length-mean"} {
		if b.given(key) && (!s.Pictures() || key == "audio-length-mean" && !s.Media()) {
			b.warn("%s has no effect with --endpoint-type %s: use --endpoint-type multimodal", b.as(key), s.EndpointType)
		}
	}
	if (s.ImageWidthMean > 0) != (s.ImageHeightMean > 0) {
		b.warn("no images are made, which need both --image-width-mean and --image-height-mean")
	}
}

// heard reports whether requests have audio that is made up.
func (b *builder) heard() bool {
	s := &b.a.Settings
	return s.AudioLengthMean > 0 && s.Media() && !b.given("input-file")
}

// Drawn reports whether images are made up.
func (s *Settings) Drawn() bool { return s.ImageWidthMean > 0 && s.ImageHeightMean > 0 }
