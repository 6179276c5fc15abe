package blocktext

import (
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// Spoken is one message of a chat, as pieces of text to be, and all that was said before
// it. Chats share what they have in common; nothing changes it.
type Spoken struct {
	before *Spoken // nil means it is the first
	Role   string
	pieces []lexicon.Piece
	end    int // tokens up to here
}

// begin is how many tokens were said before.
func (m *Spoken) begin() int {
	if m.before == nil {
		return 0
	}
	return m.before.end
}

// list are the messages up to this one, in order.
func (m *Spoken) list() []*Spoken {
	var out []*Spoken
	for ; m != nil; m = m.before {
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

// The roles of those who talk.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Talk is a conversation as it grows and is rewound from call to call.
type Talk struct{ Last *Spoken }

// Tokens is how long it is.
func (t *Talk) Tokens() int {
	if t.Last == nil {
		return 0
	}
	return t.Last.end
}

// Rewind keeps the first so many tokens.
func (t *Talk) Rewind(tokens int) {
	for t.Last != nil && t.Last.begin() >= tokens {
		t.Last = t.Last.before
	}
	m := t.Last
	if m == nil || m.end <= tokens {
		return
	}
	t.Last = m.before
	n, left := 0, tokens-m.begin()
	for ; n < len(m.pieces) && m.pieces[n].N <= left; n++ {
		left -= m.pieces[n].N
	}
	pieces := m.pieces[:n:n]
	if left > 0 {
		pieces = append(pieces, lexicon.Piece{Key: m.pieces[n].Key, N: left})
	}
	t.Append(m.Role, pieces)
}

// Append appends what someone says. Where the last message is of the same role, it goes on:
// there are templates that want the roles in turns.
func (t *Talk) Append(role string, pieces []lexicon.Piece) {
	if len(pieces) == 0 {
		return
	}
	m := &Spoken{before: t.Last, Role: role, pieces: pieces}
	if t.Last != nil && t.Last.Role == role {
		m.before, m.pieces = t.Last.before, slices.Concat(t.Last.pieces, pieces)
	}
	m.end = m.begin()
	for _, p := range m.pieces {
		m.end += p.N
	}
	t.Last = m
}

// EndWithUser gives the last piece to the user where a call ends within a response or the system
// prompt.
func (t *Talk) EndWithUser() {
	m := t.Last
	if m.Role == RoleUser {
		return
	}
	n := len(m.pieces) - 1
	t.Last = m.before
	t.Append(m.Role, m.pieces[:n:n])
	t.Append(RoleUser, m.pieces[n:])
}

// Speaker makes the texts of messages: the same key is the same tokens, and a message has as
// many tokens as its pieces. It is safe for concurrent use.
type Speaker struct {
	Lex *lexicon.Lexicon
	// TagUser: a tag stands in the first message of the user.
	TagUser bool
}

// Messages are those up to the last one, and their length in tokens. A tag takes the place of the
// first tokens of the first message that it stands in, so that lengths stay what they are and blocks where
// they are. Where that message is too short, the tag makes it longer.
func (s *Speaker) Messages(last *Spoken, tag string) ([]prompt.Message, int, error) {
	list := last.list()
	out := make([]prompt.Message, len(list))
	total, tagged := 0, 0
	if s.TagUser {
		tagged = slices.IndexFunc(list, func(m *Spoken) bool { return m.Role == RoleUser })
	}
	for i, m := range list {
		n, head, begin := m.end-m.begin(), 0, ""
		if i == tagged && tag != "" {
			begin, head = tag, s.Lex.Tokenizer().Count(tag)
		}
		pieces := m.pieces
		if head >= n {
			n += head
		} else {
			pieces = without(pieces, head)
		}
		text, err := s.Lex.Compose(begin, head, pieces, n)
		if err != nil {
			return nil, 0, err
		}
		out[i] = prompt.Message{Role: m.Role, Content: text}
		total += n
	}
	return out, total, nil
}

// without leaves out the first so many tokens of pieces that have more.
func without(pieces []lexicon.Piece, tokens int) []lexicon.Piece {
	for tokens > 0 && pieces[0].N <= tokens {
		tokens -= pieces[0].N
		pieces = pieces[1:]
	}
	if tokens == 0 {
		return pieces
	}
	return append([]lexicon.Piece{{Key: pieces[0].Key, N: pieces[0].N - tokens}}, pieces[1:]...)
}
