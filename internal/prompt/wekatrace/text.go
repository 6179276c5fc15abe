package wekatrace

import (
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// piece is a run of tokens: the first n of those that a key stands for.
type piece = lexicon.Piece

// speaker makes texts of pieces: the same key is the same tokens, and a message has as
// many tokens as its pieces. It is safe for concurrent use.
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
		text, err := s.lex.Compose(tag, head, pieces, n)
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
	for tokens > 0 && pieces[0].N <= tokens {
		tokens -= pieces[0].N
		pieces = pieces[1:]
	}
	if tokens == 0 {
		return pieces
	}
	return append([]piece{{Key: pieces[0].Key, N: pieces[0].N - tokens}}, pieces[1:]...)
}
