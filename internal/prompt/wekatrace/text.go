package wekatrace

import (
	"math/rand/v2"
	"slices"

	"inferometer/internal/lexicon"
	"inferometer/internal/prompt"
)

// speaker makes texts of pieces: the same key is the same tokens, and a message has as
// many tokens as its pieces. It is safe for use from many goroutines.
type speaker struct{ lex *lexicon.Lexicon }

// messages are a call's messages, and their length in tokens. A tag takes the place of the
// first tokens of the first message, so that lengths stay what they are and blocks where
// they are. Where that message is too short, the tag makes it longer.
func (s *speaker) messages(list []*message, tag string) ([]prompt.Message, int, error) {
	out := make([]prompt.Message, len(list))
	total := 0
	for i, m := range list {
		n, head := m.end-m.begin(), 0
		if i > 0 {
			tag = ""
		} else if tag != "" {
			head = s.lex.Tokenizer().Count(tag)
		}
		pieces := m.pieces
		if head >= n {
			n += head
		} else {
			pieces = without(pieces, head)
		}
		text, err := s.text(tag, head, pieces, n)
		if err != nil {
			return nil, 0, err
		}
		out[i] = prompt.Message{Role: m.role, Content: text}
		total += n
	}
	return out, total, nil
}

// without leaves out the first so many tokens of pieces that have more.
func without(pieces []piece, tokens int) []piece {
	for tokens > 0 && pieces[0].n <= tokens {
		tokens -= pieces[0].n
		pieces = pieces[1:]
	}
	if tokens == 0 {
		return pieces
	}
	return append([]piece{{pieces[0].key, pieces[0].n - tokens}}, pieces[1:]...)
}

// text is a beginning of a known length and the pieces that follow it, so many tokens in all.
func (s *speaker) text(begin string, have int, pieces []piece, want int) (string, error) {
	text := append(make([]byte, 0, len(begin)+8*want), begin...)
	from, counted := 0, true
	for _, p := range pieces {
		at := len(text)
		if more, ok := s.lex.Append(text, voice(p), p.n); ok {
			text, from = more, at
			continue
		}
		// The piece before is all that can grow together with this one.
		counted = false
		before := string(text[from:])
		whole, err := s.extend(voice(p), before, s.lex.Tokenizer().Count(before), p.n)
		if err != nil {
			return "", err
		}
		text, from = append(text[:from], whole...), at
	}
	if counted || s.lex.Tokenizer().Count(string(text)) == want {
		return string(text), nil
	}
	return s.whole(begin, have, pieces)
}

// whole is text for tokenizers with tokens that reach over more than a piece: every piece
// is measured together with all that comes before it.
func (s *speaker) whole(text string, have int, pieces []piece) (string, error) {
	for _, p := range pieces {
		var err error
		if text, err = s.extend(voice(p), text, have, p.n); err != nil {
			return "", err
		}
		have += p.n
	}
	return text, nil
}

// tries is how often a piece is drawn that does not end as it should.
const tries = 32

// extend draws what follows a text. There are tokens that reach over the end of a word,
// and a piece that is the last of one message may stand within another: one is looked for
// that has the same tokens in both places.
func (s *speaker) extend(rng *rand.Rand, text string, have, n int) (string, error) {
	var whole string
	for range tries {
		var err error
		if whole, err = s.lex.Extend(rng, text, have, n); err != nil || s.closed(whole) {
			return whole, err
		}
	}
	return whole, nil
}

// placer is a tokenizer that knows where tokens end.
type placer interface {
	Ends(dst []int, text string) []int
}

// closed reports whether a text has the same tokens when words follow it.
func (s *speaker) closed(text string) bool {
	p, ok := s.lex.Tokenizer().(placer)
	if !ok {
		return true
	}
	ends := p.Ends(nil, text)
	for _, next := range []string{" a", " m", " s"} {
		if more := p.Ends(nil, text+next); len(more) < len(ends) || !slices.Equal(more[:len(ends)], ends) {
			return false
		}
	}
	return true
}

// voice draws the words of a piece.
func voice(p piece) *rand.Rand { return rand.New(rand.NewPCG(p.key, 0)) }
