package dialect

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// MediumKind says what a Medium is.
type MediumKind uint8

// The kinds of media.
const (
	Image MediumKind = iota
	Video
	Audio
)

// Medium is a picture, a video or a sound of a prompt.
type Medium struct {
	Kind          MediumKind
	Bytes         int64
	Width, Height int // of pictures and videos; 0: not known
	Frames        int // of videos
	Length        time.Duration
}

// media takes what a prompt shows besides text.
func (b *bucket) media(o *Options, rec *record.Record) {
	var list []Medium
	if o.Media != nil {
		list = o.Media(rec.Prompt)
	}
	var count [3]int64
	for i := range list {
		m := &list[i]
		count[m.Kind]++
		switch m.Kind {
		case Image:
			b.put(imageBytes, m.Bytes)
			b.shape(m, imagePixels, imageAspect)
		case Video:
			b.put(videoBytes, m.Bytes)
			b.put(videoFrames, int64(m.Frames))
			b.shape(m, videoPixels, videoAspect)
		case Audio:
			b.put(audioBytes, m.Bytes)
			b.put(audioLength, int64(m.Length))
		}
	}
	b.sum.Images += count[Image]
	b.sum.Videos += count[Video]
	b.sum.Audios += count[Audio]
	b.put(imageCount, count[Image])
	b.put(videoCount, count[Video])
	b.put(audioCount, count[Audio])
}

// shape takes the size of a picture where it is known.
func (b *bucket) shape(m *Medium, pixels, aspect quantity) {
	if m.Width > 0 && m.Height > 0 {
		b.put(pixels, int64(m.Width)*int64(m.Height))
		b.put(aspect, toInteger(float64(m.Width)/float64(m.Height), aspects))
	}
}
