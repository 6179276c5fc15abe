// Package multimodal adds images, videos and sound to the prompts of another source.
package multimodal

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/media"
)

// Source gives the prompts of another source with media in the user's messages. What
// a message gets follows from its text and the seed alone: the same text has the same
// media whenever it comes, so a conversation's history stays what it was.
type Source struct {
	prompt.Around
	plan  plan.Media
	seed  uint64
	maker *media.Maker

	counts [3]*prompt.Lengths // of images, videos and sounds
	sizes  [2]*prompt.Lengths // widths and heights of images
}

// New adds media to the prompts of a source.
func New(s prompt.Source, m plan.Media, seed uint64) *Source {
	return &Source{
		Around: prompt.Around{Source: s}, plan: m, seed: seed, maker: media.NewMaker(),
		counts: [3]*prompt.Lengths{
			prompt.NewCounts(m.Image.Count, seed^'i'), prompt.NewCounts(m.Video.Count, seed^'v'), prompt.NewCounts(m.Audio.Count, seed^'a'),
		},
		sizes: [2]*prompt.Lengths{prompt.NewLengths(m.Image.Width, seed^'w'), prompt.NewLengths(m.Image.Height, seed^'h')},
	}
}

// At implements prompt.Source.
func (s *Source) At(ctx context.Context, at prompt.Place) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, s.Source, at, s)
}

// Change puts media into a prompt, and into those that follow it when they come.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.Follow(p, s)
	if p.Late != nil {
		return p, nil
	}
	switch {
	case p.Body != nil || p.Inputs != nil:
	case p.Parts != nil:
		p.Parts = s.complete(p.Parts, p.Text)
	case p.Texts != nil:
		p.Parts = slices.DeleteFunc(s.parts(p.Text), func(p prompt.Part) bool { return p.Kind == prompt.Text })
	case len(p.Messages) == 0:
		p.Parts = s.parts(p.Text)
	default:
		p.Messages = slices.Clone(p.Messages)
		for i := range p.Messages {
			if m := &p.Messages[i]; m.Role == "user" && m.Parts == nil {
				m.Parts = s.parts(m.Content)
			}
		}
	}
	return p, nil
}

// complete adds media of the kinds that a prompt's own parts lack, behind them.
func (s *Source) complete(own []prompt.Part, text string) []prompt.Part {
	out := slices.Clone(own)
	for _, p := range s.parts(text) {
		if p.Kind != prompt.Text && !slices.ContainsFunc(own, func(o prompt.Part) bool { return o.Kind == p.Kind }) {
			out = append(out, p)
		}
	}
	return out
}

// parts weaves media into a text. Nil: it gets none.
func (s *Source) parts(text string) []prompt.Part {
	hash := prompt.HashText(text)
	images, videos, sounds := s.counts[0].At(hash), s.counts[1].At(hash), s.counts[2].At(hash)
	if images+videos+sounds == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(s.seed, prompt.Mix(hash)))
	var list []prompt.Medium
	for range images {
		list = append(list, prompt.Medium{At: prompt.DrawSpot(s.plan.Image.At, rng), Parts: s.image(rng)})
	}
	for range videos {
		list = append(list, prompt.Medium{At: prompt.DrawSpot(s.plan.Video.At, rng), Parts: s.video(rng)})
	}
	for range sounds {
		list = append(list, prompt.Medium{At: prompt.DrawSpot(s.plan.Audio.At, rng), Parts: s.sound(rng)})
	}
	return prompt.Weave(text, list)
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

// usualSize is that of images and videos where the plan names none, mostSize the most
// that a wide distribution can draw.
const (
	usualSize = 512
	mostSize  = 8192
)

func (s *Source) image(rng *rand.Rand) []prompt.Part {
	if (s.plan.Image.Width != plan.Length{}) {
		number := rng.Uint64()
		width, height := s.sizes[0].At(number), s.sizes[1].At(number)
		return []prompt.Part{s.picture(min(width, mostSize), min(height, mostSize), s.plan.Image.Format == plan.ImageJPEG, rng)}
	}
	size := pick(s.plan.Image.Sizes, func(z *plan.Size) float64 { return z.Weight }, plan.Size{Width: usualSize, Height: usualSize}, rng)
	return []prompt.Part{s.picture(size.Width, size.Height, s.plan.Image.Format == plan.ImageJPEG, rng)}
}

func (s *Source) picture(width, height int, jpeg bool, rng *rand.Rand) prompt.Part {
	p := prompt.Part{Kind: prompt.Image, Type: "image/png", Width: width, Height: height}
	switch {
	case s.plan.Image.Noise:
		p.Data = media.Noise(width, height, jpeg, rng)
		if jpeg {
			p.Type = "image/jpeg"
		}
	case jpeg:
		p.Type, p.Data = "image/jpeg", s.maker.JPEG(width, height, colour(rng))
	default:
		p.Data = s.maker.PNG(width, height, colour(rng))
	}
	return p
}

func (s *Source) video(rng *rand.Rand) []prompt.Part {
	clip := pick(s.plan.Video.Clips, func(c *plan.Clip) float64 { return c.Weight }, plan.Clip{Width: usualSize, Height: usualSize, Frames: 10}, rng)
	if s.plan.Video.Format == "" || s.plan.Video.Format == plan.VideoMP4 {
		return []prompt.Part{{
			Kind: prompt.Video, Type: "video/mp4", Data: media.MP4(clip.Width, clip.Height, clip.Frames, colour(rng)),
			Width: clip.Width, Height: clip.Height, Frames: clip.Frames, Length: time.Duration(clip.Frames) * time.Second / media.FramesPerSecond,
		}}
	}
	frames := make([]prompt.Part, clip.Frames)
	for i := range frames {
		frames[i] = s.picture(clip.Width, clip.Height, s.plan.Video.Format == plan.VideoJPEGFrames, rng)
		frames[i].Frames = i + 1
	}
	return frames
}

func (s *Source) sound(rng *rand.Rand) []prompt.Part {
	clip := pick(s.plan.Audio.Clips, func(c *plan.Sound) float64 { return c.Weight }, plan.Sound{Length: plan.Duration(time.Second)}, rng)
	a := &s.plan.Audio
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
