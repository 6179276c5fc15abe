// Package synthetic makes prompts of an exact length in tokens out of a bundled text, or the user's
// own.
package synthetic

import (
	"bytes"
	"compress/flate"
	"context"
	_ "embed" // for the text
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// packed is opticks.txt, deflated.
//
//go:embed opticks.flate
var packed []byte

// Book is the text that prompts are cut out of, if no other is named: prose whose words are separated by
// exactly one space or line feed, with one line feed at the end.
func Book() string { return book() }

// book is unpacked once: that takes some milliseconds.
var book = sync.OnceValue(func() string {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic("synthetic: the text of the prompts, which is in the program: " + err.Error())
	}
	return string(text)
})

// Cutter is a tokenizer that can end a text after exactly n tokens. Every word has one at least.
type Cutter interface {
	prompt.Tokenizer
	// Cut is the length in bytes of a beginning of text of exactly n tokens; false: there is none.
	Cut(text string, n int) (int, bool)
}

// opening is how many words set the prompts of one round through the book apart from others.
const opening = 4

// Source makes prompts out of the book. Every prompt begins at another word, in an order that the
// seed fixes. When all were used, and in every stage but the first, a few words from elsewhere go
// in front, to begin unlike earlier ones.
type Source struct {
	prompt.RestartPerStage
	tok    Cutter
	book   string   // words with one space or line feed between them, and one at the end
	starts []uint32 // of each word in the book, and the end of the book
	sizes  prompt.Sizes
	salt   prompt.Salt
	seed   uint64
	first  uint64 // word that prompt 0 begins with
	step   uint64 // words from one prompt to the next; has no divisor in common with their number
	pool   uint64 // distinct prompts; 0: no bound
	kept   prompt.Cache
	ruler  ruler
	front  front
	filler filler
	whole  bool                              // input is the length of what the model is given
	around func(text string) (string, error) // puts the chat template around a text, or nil
	added  int                               // tokens that the server puts around a text; counted where whole is true
}

// New makes a source of prompts of the lengths that d asks for, by tok, which must be a Cutter.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64) (*Source, error) {
	cutter, ok := tok.(Cutter)
	if !ok {
		return nil, fmt.Errorf("synthetic prompts: the tokenizer %q cannot cut text to a number of tokens; use %q", tok.Name(), plan.TokenizerWords)
	}
	text, err := readBook(d)
	if err != nil {
		return nil, err
	}
	s := &Source{
		tok:    cutter,
		book:   text,
		starts: wordStarts(text),
		sizes:  prompt.NewSizes(d, seed),
		salt:   prompt.NewSalt(d.Salt, seed),
		seed:   prompt.Mix(seed),
		pool:   uint64(max(d.Prompts, 0)),
		filler: newFiller(cutter, prompt.Mix(seed^'w')),
		whole:  d.Counted == plan.CountPrompt,
	}
	s.kept = prompt.NewKept(s.pool, s.salt)
	words := s.words()
	s.first = prompt.Mix(s.seed) % words
	s.step = s.seed % words
	for gcd(s.step, words) != 1 {
		s.step++
	}
	return s, s.prepare(d, seed)
}

// mostCorpus bounds a text of the user's own; places in it have 32 bits.
const mostCorpus = 1 << 30

// readBook is the text that prompts are taken from: the bundled one where no other is
// named.
func readBook(d plan.Data) (string, error) {
	name := d.Corpus
	if name == "" {
		return Book(), nil
	}
	fault := func(text, hint string) error { return plan.Faults{{Path: "data.corpus", Text: text, Hint: hint}} }
	data, err := prompt.Files(d).ReadFile(name)
	if err != nil {
		return "", fault(err.Error(), "it must be a readable text file")
	}
	if len(data) > mostCorpus {
		return "", fault(fmt.Sprintf("%s has %d bytes, more than %d", name, len(data), mostCorpus), "take a part of it")
	}
	words := strings.Fields(strings.ToValidUTF8(string(data), "\uFFFD"))
	if len(words) == 0 {
		return "", fault(name+" has no words in it", "")
	}
	return strings.Join(words, " ") + "\n", nil
}

func (s *Source) words() uint64 { return uint64(len(s.starts) - 1) }

// Open implements prompt.Opener. It makes a prompt: a tokenizer that cannot shows before the run.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	if s.whole {
		if err := s.surround(u); err != nil {
			return err
		}
	}
	_, err := s.make(0, prompt.Position{})
	return err
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, place prompt.Position) (prompt.Prompt, error) {
	number := place.Number()
	if s.pool > 0 {
		number = place.I % s.pool
	}
	p, err := s.make(number, place)
	p.Output = s.sizes.Output(place)
	return p, err
}

// make makes the prompt of a number, or takes it from those that are kept.
func (s *Source) make(number uint64, place prompt.Position) (prompt.Prompt, error) {
	if p := s.kept.Get(number); p != nil {
		return *p, nil
	}
	text, n, err := s.compose(number, s.sizes.Input(number, place), place)
	if err != nil {
		return prompt.Prompt{}, fmt.Errorf("synthetic prompt %d of stage %d: %w", place.I, place.Stage, err)
	}
	p := prompt.Prompt{Text: text, Tokens: n, Hash: prompt.HashText(text)}
	s.kept.Put(number, p)
	return p, nil
}

// text makes the prompt of a number with n tokens. Most are a piece of the book and
// need no copy.
func (s *Source) text(number uint64, n int, place prompt.Position) (string, error) {
	words := s.words()
	begin := (s.first + number%words*s.step) % words
	lap := number / words
	text, head := "", 0
	if lap == 0 && s.salt.None() && begin+uint64(n) <= words {
		text = s.book[s.starts[begin] : s.starts[begin+uint64(n)]-1]
	} else {
		text, head = s.assemble(lap, begin, n, place)
	}
	end, ok := 0, false
	if cut := s.ruler.cutter(s); cut != nil && begin+uint64(n) <= words {
		end, ok = cut(text, head, int(s.starts[begin]), n)
	} else {
		end, ok = s.tok.Cut(text, n)
	}
	if ok {
		return text[:end], nil
	}
	return s.filler.fill(text, n, number)
}

// assemble joins the salt, the lap's opening words and n words of the book, and says where these
// begin.
func (s *Source) assemble(lap, begin uint64, n int, place prompt.Position) (text string, head int) {
	var b strings.Builder
	b.Grow(16 + 6*(n+opening)) // a little more than the book's average word
	if !s.salt.None() {
		var buf [16]byte
		b.Write(s.salt.Append(buf[:0], place))
	}
	if lap > 0 {
		s.pour(&b, prompt.Mix(s.seed^lap)%s.words(), uint64(min(opening, n/2)))
	}
	head = b.Len()
	s.pour(&b, begin, uint64(n))
	return b.String(), head
}

// pour adds n words of the book, each with the separator behind it, from a word on and around its
// end.
func (s *Source) pour(b *strings.Builder, from, n uint64) {
	for n > 0 {
		to := min(from+n, s.words())
		b.WriteString(s.book[s.starts[from]:s.starts[to]])
		n -= to - from
		from = 0
	}
}

// wordStarts is where each word of text begins, and the length of text.
func wordStarts(text string) []uint32 {
	starts := make([]uint32, 1, 1+len(text)/5)
	for i := range len(text) {
		if text[i] == ' ' || text[i] == '\n' {
			starts = append(starts, uint32(i+1))
		}
	}
	return starts
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
