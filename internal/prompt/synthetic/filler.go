package synthetic

import (
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// filler gives a text its exact length where no beginning of it has that many tokens: what
// is cut off in the middle of a word may be read in another way. The text ends with a
// word, and a few words that are one token each make up for the rest.
type filler struct {
	tok  Cutter
	seed uint64
	lex  func() (*lexicon.Lexicon, error) // made when it is needed
}

func newFiller(tok Cutter, seed uint64) filler {
	return filler{tok, seed, sync.OnceValues(func() (*lexicon.Lexicon, error) { return lexicon.New(tok) })}
}

// steps is by how many words a text is shortened, in turn, where what follows does not come out.
const steps = 8

// fill makes a text of exactly n tokens, most of them the given one's. The number is the prompt's.
func (f *filler) fill(text string, n int, number uint64) (string, error) {
	lex, err := f.lex()
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(f.seed, prompt.Mix(number)))
	end := f.longest(text, n)
	for range steps {
		if end <= 0 {
			break
		}
		have := f.tok.Count(text[:end])
		if whole, err := lex.Extend(rng, text[:end], have, n-have); have < n && err == nil && f.tok.Count(whole) == n {
			return whole, nil
		}
		end = strings.LastIndexAny(text[:end], " \n")
	}
	return lex.Text(rng, n)
}

// longest is the end of the last word up to which a text has fewer than n tokens.
func (f *filler) longest(text string, n int) int {
	low, high := 0, len(text)
	for low < high {
		middle := (low + high + 1) / 2
		end := strings.LastIndexAny(text[:middle], " \n")
		if end <= low {
			// There is no word between: look behind the middle.
			next := strings.IndexAny(text[middle:], " \n")
			if next < 0 || middle+next >= high {
				return low
			}
			end = middle + next
		}
		if f.tok.Count(text[:end]) < n {
			low = end
		} else {
			high = end
		}
	}
	return low
}
