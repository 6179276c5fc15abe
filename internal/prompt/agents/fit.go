package agents

import (
	"math"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
)

// fitter makes texts of about so many tokens. It measures a few words and reckons how many
// are needed, so that a text of a hundred thousand tokens takes no longer than it must.
type fitter struct {
	tok   prompt.Tokenizer
	words []string
}

const (
	before = "<context>\nNotes, logs and figures that were gathered along the way, for reference. They are background only; the task itself is stated after this block; keep to that one.\n"
	after  = "\n</context>"
	more   = "\n\n## Operational notes\n"
)

// around is a text with words before it. One that is long enough stays as it is.
func (f *fitter) around(tokens int, text string) string {
	cost := f.tok.Count(before + after + " " + text)
	if tokens <= cost {
		return text
	}
	return f.fill(tokens-cost, cost, func(words string) string { return before + words + after + " " + text })
}

// head is a system prompt: cut, or with words behind it.
func (f *fitter) head(tokens int, text string) string {
	has := f.tok.Count(text)
	if has >= tokens {
		words := strings.Fields(text)
		keep := max(1, len(words)*tokens/max(1, has))
		for keep > 1 && f.tok.Count(strings.Join(words[:keep], " ")) > tokens {
			keep--
		}
		return strings.Join(words[:keep], " ")
	}
	cost := f.tok.Count(text + more)
	if tokens <= cost {
		return text
	}
	return f.fill(tokens-cost, cost, func(words string) string { return text + more + words })
}

// sampled is how many words are measured.
const sampled = 512

// fill puts words into a text that has cost tokens without them.
func (f *fitter) fill(tokens, cost int, put func(words string) string) string {
	some := cycle(f.words, min(sampled, len(f.words)), 0)
	each := float64(f.tok.Count(strings.Join(some, " "))) / float64(len(some))
	if each <= 0 {
		each = 1
	}
	n := needs(tokens, each)
	text := put(strings.Join(cycle(f.words, n, 0), " "))
	if got := f.tok.Count(text) - cost; got > 0 && got != tokens {
		if better := needs(tokens, float64(got)/float64(n)); better != n {
			text = put(strings.Join(cycle(f.words, better, 0), " "))
		}
	}
	return text
}

func needs(tokens int, each float64) int { return max(1, int(math.Ceil(float64(tokens)/each))) }
