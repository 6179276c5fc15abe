package args

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
)

// spot is where something stands in a prompt.
func (b *builder) spot(at string, v *value) plan.Spot {
	if v == nil {
		return plan.Spot{}
	}
	if v.kind != object {
		switch n := v.number(); {
		case n < 0:
			b.fault(at, fmt.Sprintf("must be 0 or more, is %v", n), "")
		case n > 1:
			b.fault(at, fmt.Sprintf("must be at most 1, is %v", n), "")
		}
		return plan.Spot{Dist: plan.DistFixed, Mean: v.number()}
	}
	// A distribution of places is written with integers, so only 0 and 1 can bound it.
	d := b.spread(at, v)
	if d.kind == plan.DistSkew && d.skew != 0 {
		b.warn("%s.skew has no effect: positions are drawn without skew", at)
	}
	s := plan.Spot{Dist: d.kind, Mean: d.mean, Stddev: d.stddev, Min: min(d.least, 1), Max: min(d.most, 1)}
	if !v.child("min").given() {
		s.Min = 0
	}
	if d.kind == plan.DistUniform && !v.child("mean").given() {
		s.Mean = (s.Min + s.Max) / 2 // it says nothing, and the usual one is no place
	}
	return s
}

// place is where media of a kind stand. Where there are none it may be anywhere.
func (b *builder) place(at string, v *value) plan.Spot {
	before := len(b.faults)
	s := b.spot(at+".insertion_point", v.child("insertion_point"))
	inside := func(n float64) bool { return n >= 0 && n <= 1 }
	if v.child("count") == nil && (len(b.faults) > before || !inside(s.Mean) || !inside(s.Min) || !inside(s.Max)) {
		b.faults = b.faults[:before]
		return plan.Spot{}
	}
	return s
}

func (b *builder) media(m *plan.Media, v *value, at string) {
	if i := v.child("image"); i != nil {
		m.Image = plan.Images{
			Count: b.count(at+".image.count", i), At: b.place(at+".image", i),
			Format: i.child("representation").text(),
		}
		weighted(i.child("resolutions"), "resolution", func(r *value, weight float64) {
			w, h := resolution(r)
			m.Image.Sizes = append(m.Image.Sizes, plan.Size{Width: w, Height: h, Weight: weight})
		})
	}
	if i := v.child("video"); i != nil {
		m.Video = plan.Videos{
			Count: b.count(at+".video.count", i), At: b.place(at+".video", i),
			Format: i.child("representation").text(),
		}
		weighted(i.child("profiles"), "profile", func(p *value, weight float64) {
			w, h := resolution(p.child("resolution"))
			m.Video.Clips = append(m.Video.Clips, plan.Clip{Width: w, Height: h, Frames: int(p.child("frames").integer()), Weight: weight})
		})
	}
	if i := v.child("audio"); i != nil {
		m.Audio = plan.Sounds{Count: b.count(at+".audio.count", i), At: b.place(at+".audio", i)}
		weighted(i.child("durations"), "duration", func(d *value, weight float64) {
			m.Audio.Clips = append(m.Audio.Clips, plan.Sound{Length: seconds(d.number()), Weight: weight})
		})
	}
}

// weighted gives what is drawn from: the only thing, or the elements of a list with a weight
// each, which have the thing under a name.
func weighted(v *value, name string, one func(v *value, weight float64)) {
	switch {
	case v == nil:
	case v.kind == list:
		for _, e := range v.list {
			one(e.child(name), e.child("weight").number())
		}
	default:
		one(v, 0)
	}
}

// count is how many of something a request has: none, as in the original, unless a section says so.
func (b *builder) count(at string, v *value) plan.Length {
	if v.child("count") == nil {
		b.warn("%s is missing: none are sent, as in the original; {type: fixed, mean: 1} sends one", at)
		return plan.Length{}
	}
	return b.length(at, v.child("count"), 1)
}

// resolution is width and height of a name or of both.
func resolution(v *value) (width, height int) {
	if v != nil && v.kind == object {
		return int(v.child("width").integer()), int(v.child("height").integer())
	}
	size := map[string][2]int{"4k": {3840, 2160}, "1080p": {1920, 1080}, "720p": {1280, 720}, "360p": {640, 360}}[v.text()]
	return size[0], size[1]
}
