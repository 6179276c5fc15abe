package sentencepiece

import (
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/trie"
)

// unknownPenalty is how much worse than the worst piece an unknown character is.
const unknownPenalty = 10

// unigram finds the most likely way to cut a text into pieces. It adds scores up as SentencePiece
// 0.2.2 does, in single precision: near ties fall alike.
type unigram struct {
	vocabulary
	trie *trie.Trie
	unk  float32
	room sync.Pool // of *[]step
}

// step is the best way to reach an offset of the text.
type step struct {
	score float32
	id    int32
	from  int32 // where its last piece begins; -1: not reached
}

func newUnigram(m *model) *unigram {
	u := &unigram{vocabulary: newVocabulary(m)}
	worst := float32(math.MaxFloat32)
	var keys []string
	var values []int32
	for id, p := range m.pieces {
		switch p.kind {
		case normalPiece:
			worst = min(worst, p.score)
			fallthrough
		case userPiece:
			keys, values = append(keys, p.text), append(values, int32(id))
		}
	}
	u.unk = worst - unknownPenalty
	u.trie = trie.New(keys, values)
	u.room.New = func() any { return new([]step) }
	return u
}

// Encode appends the ids of a normalized text.
func (u *unigram) Encode(dst []int32, text string) []int32 {
	room := u.room.Get().(*[]step)
	defer u.room.Put(room)
	best := (*room)[:0]
	for range len(text) + 1 {
		best = append(best, step{from: -1})
	}
	*room = best
	reached := 0
	for start := 0; start < len(text); {
		if till := best[start].score; till < -farScore || till > farScore {
			for i := start; i <= reached; i++ {
				if i == start || best[i].from >= 0 {
					best[i].score -= till
				}
			}
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		reached = max(reached, u.extend(best, text, start, size))
		start += size
	}
	return u.collect(dst, best, text)
}

// farScore is where scores are counted from 0 again: beyond it single precision tells too little.
const farScore = 100_000

// extend tries every piece at an offset, where a character is so long, and returns the longest's
// end.
func (u *unigram) extend(best []step, text string, start, size int) (reached int) {
	till := best[start].score
	single := false
	node := trie.Root
	for i := start; i < len(text); i++ {
		var id int32
		if node, id = u.trie.Next(node, text[i]); node < 0 {
			break
		}
		if id < 0 {
			continue
		}
		length := i + 1 - start
		score := u.pieces[id].score
		if u.pieces[id].kind == userPiece {
			// So much better than others that it is always taken.
			score = float32(0.1 * float64(length-1))
		}
		better(&best[i+1], score+till, id, start)
		reached = i + 1
		single = single || length == size
	}
	if !single {
		better(&best[start+size], u.unk+till, u.unknown, start)
		reached = max(reached, start+size)
	}
	return reached
}

func better(s *step, score float32, id int32, from int) {
	if s.from < 0 || score > s.score {
		*s = step{score: score, id: id, from: int32(from)}
	}
}

// collect walks back along the best way, and appends its ids in order. Neighbouring
// unknown characters are one piece, or the pieces of their bytes.
func (u *unigram) collect(dst []int32, best []step, text string) []int32 {
	first := len(dst)
	for at := len(text); at > 0; at = int(best[at].from) {
		id, from := best[at].id, int(best[at].from)
		switch {
		case id != u.unknown:
			dst = append(dst, id)
		case u.bytes != nil:
			for i := at - 1; i >= from; i-- {
				dst = append(dst, u.bytes[text[i]])
			}
		case len(dst) == first || dst[len(dst)-1] != u.unknown:
			dst = append(dst, id)
		}
	}
	slices.Reverse(dst[first:])
	return dst
}
