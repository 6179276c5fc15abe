package prompt

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Medium is something that stands in a text.
type Medium struct {
	At    float64 // from 0, before the text, to 1, behind it
	Parts []Part  // the frames of a video may be several
}

// InsertMedia puts media where they stand in a text, in the order given at the same place.
func InsertMedia(text string, list []Medium) []Part {
	slices.SortStableFunc(list, func(a, b Medium) int { return cmp.Compare(a.At, b.At) })
	starts := make([]int, 0, len(text)+1) // of characters
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	var parts []Part
	from := 0
	for _, m := range list {
		to := starts[int(m.At*float64(len(starts)-1))]
		if to > from {
			parts = append(parts, Part{Kind: Text, Text: text[from:to]})
			from = to
		}
		parts = append(parts, m.Parts...)
	}
	if from < len(text) {
		parts = append(parts, Part{Kind: Text, Text: text[from:]})
	}
	return parts
}

// DrawSpot draws a place in a text, from 0 to 1.
func DrawSpot(s plan.Spot, rng *rand.Rand) float64 {
	most := s.Max
	if most == 0 {
		most = 1
	}
	x := s.Mean
	switch s.Dist {
	case "", plan.DistUniform:
		return s.Min + (most-s.Min)*rng.Float64()
	case plan.DistFixed:
	case plan.DistLognormal:
		if s.Mean > 0 {
			variance := math.Log1p(s.Stddev * s.Stddev / (s.Mean * s.Mean))
			x = s.Mean * math.Exp(math.Sqrt(variance)*rng.NormFloat64()-variance/2)
		}
	case plan.DistPoisson:
		x = 0
		for p := rng.Float64(); p > math.Exp(-s.Mean); p *= rng.Float64() {
			x++
		}
	default:
		x += s.Stddev * rng.NormFloat64()
	}
	return min(max(x, s.Min, 0), most, 1)
}

// PartKind says what a Part is.
type PartKind uint8

// The kinds of parts.
const (
	Text PartKind = iota
	Image
	Audio
	Video
)

// Part is a piece of a message that holds more than text.
type Part struct {
	Kind PartKind
	Text string // of a Text
	Type string // media type, such as image/png
	Data []byte // the bytes of a medium
	URL  string // in place of Data: where the server finds it

	// What is known of a medium beside its bytes; 0: nothing.
	Width, Height int
	Frames        int // of a video; an Image with a number here is the frame of that number, from 1
	Length        time.Duration
}

// Format is the last half of a media type: png of image/png.
func (p *Part) Format() string { return p.Type[strings.LastIndexByte(p.Type, '/')+1:] }
