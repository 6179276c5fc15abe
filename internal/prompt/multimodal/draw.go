package multimodal

import (
	"math/rand/v2"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/media"
)

// Drawer draws media, by a number and the seed alone. It is safe for concurrent use.
type Drawer struct {
	plan  plan.Media
	seed  uint64
	maker *media.Maker

	counts [3]*prompt.Lengths // of images, videos and sounds
	sizes  [2]*prompt.Lengths // widths and heights of images
}

// NewDrawer draws media as a plan has them.
func NewDrawer(m plan.Media, seed uint64) *Drawer {
	return &Drawer{
		plan: m, seed: seed, maker: media.NewMaker(),
		counts: [3]*prompt.Lengths{
			prompt.NewCounts(m.Image.Count, seed^'i'), prompt.NewCounts(m.Video.Count, seed^'v'), prompt.NewCounts(m.Audio.Count, seed^'a'),
		},
		sizes: [2]*prompt.Lengths{prompt.NewLengths(m.Image.Width, seed^'w'), prompt.NewLengths(m.Image.Height, seed^'h')},
	}
}

// Draw is the media of a number, each with its place in a text. Nil: there are none.
func (d *Drawer) Draw(number uint64) []prompt.Medium {
	images, videos, sounds := d.counts[0].At(number), d.counts[1].At(number), d.counts[2].At(number)
	if images+videos+sounds == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(d.seed, prompt.Mix(number)))
	var list []prompt.Medium
	for range images {
		list = append(list, prompt.Medium{At: prompt.DrawSpot(d.plan.Image.At, rng), Parts: d.image(rng)})
	}
	for range videos {
		list = append(list, prompt.Medium{At: prompt.DrawSpot(d.plan.Video.At, rng), Parts: d.video(rng)})
	}
	for range sounds {
		list = append(list, prompt.Medium{At: prompt.DrawSpot(d.plan.Audio.At, rng), Parts: d.sound(rng)})
	}
	return list
}

// pick draws one of a list by weight, of which 0 is 1.
func pick[T any](list []T, weight func(*T) float64, usual T, rng *rand.Rand) T {
	if len(list) == 0 {
		return usual
	}
	of := func(i int) float64 {
		if w := weight(&list[i]); w > 0 {
			return w
		}
		return 1
	}
	sum := 0.0
	for i := range list {
		sum += of(i)
	}
	x := rng.Float64() * sum
	for i := range list {
		if x -= of(i); x < 0 {
			return list[i]
		}
	}
	return list[len(list)-1]
}

func colour(rng *rand.Rand) media.Colour {
	v := rng.Uint32()
	return media.Colour{R: uint8(v), G: uint8(v >> 8), B: uint8(v >> 16)}
}

// usualSize is that of images and videos if the plan names none, mostSize the most that is drawn.
const (
	usualSize = 512
	mostSize  = 8192
)

func (d *Drawer) image(rng *rand.Rand) []prompt.Part {
	if (d.plan.Image.Width != plan.Length{}) {
		number := rng.Uint64()
		width, height := d.sizes[0].At(number), d.sizes[1].At(number)
		return []prompt.Part{d.picture(min(width, mostSize), min(height, mostSize), d.plan.Image.Format == plan.ImageJPEG, rng)}
	}
	size := pick(d.plan.Image.Sizes, func(z *plan.Size) float64 { return z.Weight }, plan.Size{Width: usualSize, Height: usualSize}, rng)
	return []prompt.Part{d.picture(size.Width, size.Height, d.plan.Image.Format == plan.ImageJPEG, rng)}
}

func (d *Drawer) picture(width, height int, jpeg bool, rng *rand.Rand) prompt.Part {
	p := prompt.Part{Kind: prompt.Image, Type: "image/png", Width: width, Height: height}
	switch {
	case d.plan.Image.Noise:
		p.Data = media.Noise(width, height, jpeg, rng)
		if jpeg {
			p.Type = "image/jpeg"
		}
	case jpeg:
		p.Type, p.Data = "image/jpeg", d.maker.JPEG(width, height, colour(rng))
	default:
		p.Data = d.maker.PNG(width, height, colour(rng))
	}
	return p
}

func (d *Drawer) video(rng *rand.Rand) []prompt.Part {
	clip := pick(d.plan.Video.Clips, func(c *plan.Clip) float64 { return c.Weight },
		plan.Clip{Width: usualSize, Height: usualSize, Frames: 10}, rng)
	if d.plan.Video.Format == "" || d.plan.Video.Format == plan.VideoMP4 {
		return []prompt.Part{{
			Kind: prompt.Video, Type: "video/mp4", Data: media.MP4(clip.Width, clip.Height, clip.Frames, colour(rng)),
			Width: clip.Width, Height: clip.Height, Frames: clip.Frames, Length: time.Duration(clip.Frames) * time.Second / media.FramesPerSecond,
		}}
	}
	frames := make([]prompt.Part, clip.Frames)
	for i := range frames {
		frames[i] = d.picture(clip.Width, clip.Height, d.plan.Video.Format == plan.VideoJPEGFrames, rng)
		frames[i].Frames = i + 1
	}
	return frames
}

func (d *Drawer) sound(rng *rand.Rand) []prompt.Part {
	clip := pick(d.plan.Audio.Clips, func(c *plan.Sound) float64 { return c.Weight }, plan.Sound{Length: plan.Duration(time.Second)}, rng)
	a := &d.plan.Audio
	sound := media.Sound{Length: time.Duration(clip.Length), Channels: a.Channels}
	if clip.Stddev > 0 {
		sound.Length = max(sound.Length+time.Duration(rng.NormFloat64()*float64(clip.Stddev)), shortest)
	}
	if len(a.Depths) > 0 {
		sound.Depth = a.Depths[rng.IntN(len(a.Depths))]
	}
	if len(a.Rates) > 0 {
		sound.Rate = a.Rates[rng.IntN(len(a.Rates))]
	}
	var noise *rand.Rand
	if a.Noise {
		noise = rng
	}
	part := prompt.Part{Kind: prompt.Audio, Type: "audio/wav", Length: sound.Length}
	if a.Format == plan.AudioMP3 {
		part.Type, part.Data = "audio/mp3", media.MP3(sound, noise)
	} else {
		part.Data = media.WAV(sound, noise)
	}
	return []prompt.Part{part}
}

// shortest is the least length of a sound that is drawn.
const shortest = 10 * time.Millisecond
