package sharedprefix

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// coder is a tokenizer that can decode its tokens.
type coder interface {
	// Ordinary are the ids of its own tokens that are not special.
	Ordinary() []int32
	Encode(text string, special bool) []int32
	Decode(ids []int32, skipSpecial bool) string
}

const (
	mostDrawn  = 1 << 21 // tokens that are drawn for an order
	mostRounds = 20      // of drawing until a text has its length
)

// shuffler draws what programs with numpy draw between the lengths of prompts and their order:
// texts of random tokens, until each has its length in tokens when it is read again. The texts
// are of no use here, but the order depends on how many numbers they took.
type shuffler struct {
	coder
	*numpy.Generator
	all    []int32
	starts []int32 // those that begin with white space; all where there are none
}

// shuffle orders the prompts of all groups as such programs do, with the generator that the
// lengths were drawn from. Where nobody has named a seed for that, the tokenizer cannot decode, or
// there is too much to draw, the order is another one that the seed fixes.
func (s *Source) shuffle(seed uint64, g *numpy.Generator, prefixes func(group int) int, groups int) []uint32 {
	n := groups * int(s.each)
	c, ok := s.lex.Tokenizer().(coder)
	named := s.data.SharedPrefix.Seed != 0 || seed == 0
	if !named || !ok || !s.few(prefixes, groups) {
		return g.Permutation(n)
	}
	d := shuffler{coder: c, Generator: g, all: c.Ordinary()}
	if len(d.all) == 0 {
		return g.Permutation(n)
	}
	d.findStarts()
	for group := range groups {
		d.text(prefixes(group), false)
		d.media(&s.data.SharedPrefix.Media)
		for i := range int(s.each) {
			d.text(s.question[group].At(uint64(i)), true)
		}
	}
	return g.Permutation(n)
}

// few reports whether all texts together are short enough to be drawn for their order.
func (s *Source) few(prefixes func(group int) int, groups int) bool {
	left := mostDrawn
	for group := range groups {
		left -= prefixes(group)
		for i := range int(s.each) {
			if left -= s.question[group].At(uint64(i)); left < 0 {
				return false
			}
		}
	}
	return left >= 0
}

func (d *shuffler) findStarts() {
	for _, id := range d.all {
		first, _ := utf8.DecodeRuneInString(d.Decode([]int32{id}, true))
		if unicode.IsSpace(first) || first >= 0x1c && first <= 0x1f { // as in Python
			d.starts = append(d.starts, id)
		}
	}
	if d.starts == nil {
		d.starts = d.all
	}
}

// text draws a text of n tokens, special ones counted; behind another it begins with white space.
func (d *shuffler) text(n int, follows bool) {
	if n <= 0 {
		return
	}
	ids, kept := make([]int32, 0, 2*n), 0
	if follows {
		ids, kept = append(ids, d.starts[d.Below(len(d.starts))]), 1
	}
	for len(ids) < n {
		ids = append(ids, d.all[d.Below(len(d.all))])
	}
	for range mostRounds {
		have := 0
		if text := d.Decode(ids, true); text != "" {
			have = len(d.Encode(text, true))
		}
		switch {
		case have == n:
			return
		case have < n:
			for range n - have {
				ids = append(ids, d.all[d.Below(len(d.all))])
			}
		default:
			ids = ids[:max(len(ids)-(have-n), kept)]
		}
	}
}

// media draws what stands in the prefix of a group: how many there are and, of each, which kind
// where there are several, and its place.
func (d *shuffler) media(m *plan.Media) {
	image := slices.ContainsFunc(m.Image.Sizes, func(s plan.Size) bool { return s.Weight > 0 })
	video := slices.ContainsFunc(m.Video.Clips, func(c plan.Clip) bool { return c.Weight > 0 })
	audio := slices.ContainsFunc(m.Audio.Clips, func(c plan.Sound) bool { return c.Weight > 0 })
	for _, kind := range []struct {
		count  plan.Length
		choice bool
		at     plan.Spot
	}{{m.Image.Count, image, m.Image.At}, {m.Video.Count, video, m.Video.At}, {m.Audio.Count, audio, m.Audio.At}} {
		if kind.count == (plan.Length{}) {
			continue
		}
		for range prompt.DrawLengths(kind.count, 1, 1, d.Generator).At(0) {
			if kind.choice {
				d.Float()
			}
			d.place(kind.at)
		}
	}
}

// place draws where a medium stands.
func (d *shuffler) place(at plan.Spot) {
	switch at.Dist {
	case plan.DistFixed:
	case "", plan.DistUniform:
		d.Float()
	case plan.DistPoisson:
		d.Poisson(max(at.Mean, 0))
	case plan.DistSkew:
		d.Normal()
		d.Normal()
	default:
		if at.Dist == plan.DistNormal || at.Stddev > 0 {
			d.Normal()
		}
	}
}
