package multimodal

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
)

// texts gives numbered prompts; every third is a chat that goes on.
type texts struct{}

func (texts) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	p := prompt.Prompt{Text: fmt.Sprintf("prompt número %d of them", at.I+1)}
	if at.I%3 == 2 {
		p = prompt.Prompt{Messages: []prompt.Message{{Role: "system", Content: "s"}, {Role: "user", Content: p.Text}}}
		p.Rest = &talk{p.Messages}
	}
	return p, nil
}

type talk struct{ said []prompt.Message }

func (c *talk) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	c.said = append(c.said, prompt.Message{Role: "assistant", Content: a.Text}, prompt.Message{Role: "user", Content: "and then?"})
	return prompt.Prompt{Messages: c.said, Rest: c}, 0, nil
}

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

func joined(parts []prompt.Part) string {
	text := ""
	for _, p := range parts {
		text += p.Text
	}
	return text
}

func kinds(parts []prompt.Part) string {
	var list []string
	for _, p := range parts {
		list = append(list, [...]string{"text", "image", "audio", "video"}[p.Kind])
	}
	return strings.Join(list, " ")
}

func TestKinds(t *testing.T) {
	everything := plan.Media{
		Image: plan.Images{Count: fixed(2), At: plan.Spot{Dist: plan.DistFixed, Mean: 0}, Sizes: []plan.Size{{Width: 40, Height: 20}},
			Format: plan.ImageJPEG},
		Video: plan.Videos{Count: fixed(1), At: plan.Spot{Dist: plan.DistFixed, Mean: 0.5},
			Clips: []plan.Clip{{Width: 32, Height: 16, Frames: 3}}},
		Audio: plan.Sounds{Count: fixed(1), At: plan.Spot{Dist: plan.DistFixed, Mean: 1},
			Clips: []plan.Sound{{Length: plan.Duration(time.Second / 2)}}},
	}
	s := New(texts{}, everything, 1)
	p, err := s.Prompt(context.Background(), prompt.Position{})
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(p.Parts); got != "image image text video text audio" || joined(p.Parts) != p.Text {
		t.Errorf("%s, %q", got, joined(p.Parts))
	}
	for _, part := range p.Parts {
		switch part.Kind {
		case prompt.Image:
			c, format, err := image.DecodeConfig(bytes.NewReader(part.Data))
			if err != nil || "image/"+format != part.Type || c.Width != 40 || c.Height != 20 || part.Width != 40 {
				t.Errorf("image: %v %s %+v", err, format, c)
			}
		case prompt.Video:
			if part.Frames != 3 || part.Length != 300*time.Millisecond || string(part.Data[4:8]) != "ftyp" {
				t.Errorf("video: %+v", part)
			}
		case prompt.Audio:
			if part.Length != time.Second/2 || len(part.Data) != 44+16000 {
				t.Errorf("sound: %d bytes", len(part.Data))
			}
		}
	}
	everything.Video.Format = plan.VideoPNGFrames
	p, _ = New(texts{}, everything, 1).Prompt(context.Background(), prompt.Position{})
	if got := kinds(p.Parts); got != "image image text image image image text audio" {
		t.Errorf("frames: %s", got)
	}
}

// The same seed gives the same media, another one others, and the counts, sizes and
// places are those of the plan.
func TestDraws(t *testing.T) {
	m := plan.Media{Image: plan.Images{
		Count: plan.Length{Dist: plan.DistUniform, Max: 3},
		Sizes: []plan.Size{{Width: 8, Height: 8, Weight: 3}, {Width: 16, Height: 8}},
	}}
	const n = 400
	a, b, c := New(texts{}, m, 1), prompttest.TakeShared(t, New(texts{}, m, 1), n), New(texts{}, m, 2)
	counts, wide, images, differ := map[int]int{}, 0, 0, 0
	for i, y := range b {
		at := prompt.Position{I: uint64(i)}
		x, _ := a.Prompt(context.Background(), at)
		z, _ := c.Prompt(context.Background(), at)
		x.Rest, y.Rest, z.Rest = nil, nil, nil
		if !reflect.DeepEqual(x, y) {
			t.Fatal(cmp.Diff(x, y))
		}
		if !reflect.DeepEqual(x, z) {
			differ++
		}
		parts := x.Parts
		if len(x.Messages) > 0 {
			parts = x.Messages[1].Parts
		}
		n := 0
		for _, p := range parts {
			if p.Kind == prompt.Image {
				n++
				images++
				if p.Width == 16 {
					wide++
				}
			}
		}
		counts[n]++
	}
	for n := range 4 {
		if counts[n] < 60 || counts[n] > 140 {
			t.Errorf("%d prompts of 400 have %d images", counts[n], n)
		}
	}
	if share := float64(wide) / float64(images); share < 0.18 || share > 0.32 {
		t.Errorf("%v of the images are wide, want a quarter", share)
	}
	if differ < 250 {
		t.Errorf("only %d prompts differ between seeds", differ)
	}
}

// A conversation's history keeps the media that it had.
func TestConversations(t *testing.T) {
	s := New(texts{}, plan.Media{Image: plan.Images{Count: fixed(1), Sizes: []plan.Size{{Width: 4, Height: 4}}}}, 7)
	first, _ := s.Prompt(context.Background(), prompt.Position{I: 2})
	second, _, err := first.Rest.Next(prompt.Response{Text: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	third, _, _ := second.Rest.Next(prompt.Response{Text: "no"})
	if len(third.Messages) != 6 || third.Messages[0].Parts != nil || third.Messages[2].Parts != nil || third.Messages[5].Parts == nil {
		t.Fatalf("%+v", third.Messages)
	}
	if d := cmp.Diff(first.Messages[1], third.Messages[1]); d != "" {
		t.Error(d)
	}
	if third.Rest == nil || joined(third.Messages[5].Parts) != "and then?" {
		t.Errorf("%T %q", third.Rest, joined(third.Messages[5].Parts))
	}
}

func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tt := range []struct {
		spot      plan.Spot
		low, high float64
		mean      float64
	}{
		{plan.Spot{}, 0, 1, 0.5},
		{plan.Spot{Dist: plan.DistFixed, Mean: 0.25}, 0.25, 0.25, 0.25},
		{plan.Spot{Dist: plan.DistUniform, Min: 0.5}, 0.5, 1, 0.75},
		{plan.Spot{Dist: plan.DistNormal, Mean: 0.5, Stddev: 0.1, Min: 0.2, Max: 0.8}, 0.2, 0.8, 0.5},
		{plan.Spot{Dist: plan.DistLognormal, Mean: 0.2, Stddev: 0.05}, 0, 1, 0.2},
		{plan.Spot{Dist: plan.DistPoisson, Mean: 0.5}, 0, 1, 0.393},
	} {
		sum := 0.0
		for range 4000 {
			x := prompt.DrawSpot(tt.spot, rng)
			if x < tt.low || x > tt.high {
				t.Fatalf("%+v: %v", tt.spot, x)
			}
			sum += x
		}
		if mean := sum / 4000; mean < tt.mean-0.03 || mean > tt.mean+0.03 {
			t.Errorf("%+v: mean %v, want %v", tt.spot, mean, tt.mean)
		}
	}
	for at, want := range map[float64]string{0: "image text", 0.5: "text image text", 1: "text image"} {
		if got := kinds(prompt.InsertMedia("añb", []prompt.Medium{{At: at, Parts: []prompt.Part{{Kind: prompt.Image}}}})); got != want {
			t.Errorf("at %v: %s", at, got)
		}
	}
	if got := kinds(prompt.InsertMedia("", []prompt.Medium{{At: 1, Parts: []prompt.Part{{Kind: prompt.Image}}}})); got != "image" {
		t.Errorf("without text: %s", got)
	}
}

// Noise has the sizes that are drawn, and is as large as a photograph.
// differs: genai-drawn-media
func TestNoise(t *testing.T) {
	wide := plan.Length{Dist: plan.DistNormal, Mean: 40, Stddev: 10}
	m := plan.Media{
		Image: plan.Images{Count: fixed(1), Width: wide, Height: fixed(30), Noise: true, At: plan.Spot{Dist: plan.DistFixed, Mean: 1}},
		Audio: plan.Sounds{Count: fixed(1), Noise: true, Depths: []int{8, 24}, Rates: []int{8000, 16000}, Channels: 2,
			Clips: []plan.Sound{{Length: plan.Duration(50 * time.Millisecond), Stddev: plan.Duration(10 * time.Millisecond)}},
			At:    plan.Spot{Dist: plan.DistFixed, Mean: 1}},
	}
	for _, format := range []string{plan.ImagePNG, plan.ImageJPEG} {
		m.Image.Format = format
		s := New(texts{}, m, 1)
		widths, sounds := map[int]bool{}, map[int]bool{}
		for i, p := range prompttest.FirstPrompts(t, s, 12) {
			if i%3 == 2 {
				continue // a chat
			}
			if got := kinds(p.Parts); got != "text image audio" {
				t.Fatalf("parts %s", got)
			}
			config, kind, err := image.DecodeConfig(bytes.NewReader(p.Parts[1].Data))
			if err != nil || kind != format || config.Height != 30 || config.Width != p.Parts[1].Width || p.Parts[1].Type != "image/"+format || len(p.Parts[1].Data) < 600 {
				t.Errorf("%s %+v, %d bytes, %v", kind, config, len(p.Parts[1].Data), err)
			}
			widths[config.Width], sounds[len(p.Parts[2].Data)] = true, true
			if bytes.Count(p.Parts[2].Data[44:], []byte{0}) > len(p.Parts[2].Data)/4 {
				t.Error("there is no noise")
			}
		}
		if len(widths) < 3 || len(sounds) < 3 {
			t.Errorf("%d widths, %d sounds", len(widths), len(sounds))
		}
	}
}

// Sound is of the format asked for, and says so.
func TestFormatsOfSound(t *testing.T) {
	for format, want := range map[string]struct{ kind, head string }{
		"": {"audio/wav", "RIFF"}, plan.AudioWAV: {"audio/wav", "RIFF"}, plan.AudioMP3: {"audio/mp3", "\xff\xf3"},
	} {
		s := New(texts{}, plan.Media{Audio: plan.Sounds{Count: fixed(1), Noise: true, Format: format,
			At: plan.Spot{Dist: plan.DistFixed, Mean: 1}}}, 1)
		p, err := s.Prompt(t.Context(), prompt.Position{})
		if err != nil || len(p.Parts) != 2 {
			t.Fatalf("%q: %d parts, %v", format, len(p.Parts), err)
		}
		if part := p.Parts[1]; part.Type != want.kind || !bytes.HasPrefix(part.Data, []byte(want.head)) || part.Length != time.Second {
			t.Errorf("%q: %s of %v begins with %x", format, part.Type, part.Length, part.Data[:4])
		}
	}
}

// given is a source of one prompt.
type given struct{ prompt prompt.Prompt }

func (g given) Prompt(context.Context, prompt.Position) (prompt.Prompt, error) { return g.prompt, nil }

// What a prompt has by itself stays, and it gets what it lacks.
func TestPromptsWithMediaOfTheirOwn(t *testing.T) {
	m := plan.Media{Image: plan.Images{Count: fixed(2)}, Audio: plan.Sounds{Count: fixed(1)}}
	own := prompt.Prompt{Text: "t", Parts: []prompt.Part{{Text: "t"}, {Kind: prompt.Image, URL: "http://x"}}}
	for _, tt := range []struct {
		prompt prompt.Prompt
		want   string
	}{
		{own, "text image audio"},
		{prompt.Prompt{Text: "t", Texts: []string{"t", "u"}}, "image image audio"},
	} {
		p, err := New(given{tt.prompt}, m, 1).Prompt(t.Context(), prompt.Position{})
		if err != nil || len(kinds(p.Parts)) != len(tt.want) || strings.Contains(kinds(p.Parts), "text") != strings.Contains(tt.want, "text") {
			t.Errorf("%s, %v, want %s", kinds(p.Parts), err, tt.want)
		}
	}
}
