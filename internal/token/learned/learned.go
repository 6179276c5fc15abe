// Package learned makes a tokenizer of what a server says of the words of one text: how many
// tokens each is. Texts that are cut out of that one have their exact length by the server's own
// tokenizer, which the client lacks.
//
// A word is taken with the white space before it. Tokenizers split text there, so that lengths of
// words add up; whether they do with this server is tried before it is relied on.
package learned

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/inferometer/inferometer/internal/token"
)

// Ask has a server tokenize a text, without tokens that do not stand for a part of it.
type Ask func(ctx context.Context, text string) ([]int32, error)

const (
	batch   = 400 // words that are asked for together
	trials  = 4   // texts on which the lengths are tried
	trial   = 300 // words in each
	starts  = 24  // words of which is asked how long they are where a text begins
	leading = 2   // kinds of white space that words of a text have before them: a space, a line feed
)

// markers are words that tell in a list of tokens where one word ends and the next begins. One is
// taken that no word of the text begins with.
var markers = []string{" video", " email", " laptop", " Tokyo", " Python", " bitcoin"}

// WordLengths is a tokenizer that counts the words of one text as a server does, and all others as another tokenizer.
type WordLengths struct {
	name   string
	counts map[string]int // of a word with the white space before it
	first  map[string]int // of a word that a text begins with
	other  token.Tokenizer
}

// New asks for the words of a text, in which there is one space or line feed between any two.
// What else is counted, is counted by other.
func New(ctx context.Context, name, text string, other token.Tokenizer, ask Ask) (*WordLengths, error) {
	t := &WordLengths{name: name, counts: map[string]int{}, first: map[string]int{}, other: other}
	words := distinct(text)
	mark, marker, err := findMarker(ctx, words, ask)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(words, batch) {
		if err := t.learn(ctx, part, mark, marker, ask); err != nil {
			return nil, err
		}
	}
	if err := t.begin(ctx, words, ask); err != nil {
		return nil, err
	}
	return t, t.try(ctx, text, ask)
}

// distinct are a text's words in order, each with what stands before it; the first as after a line
// feed. Each is among them with both kinds of white space.
func distinct(text string) []string {
	seen := make(map[string]bool)
	var list []string
	for word := range words(text) {
		bare := strings.TrimLeft(word, " \n")
		if bare == "" || seen[bare] {
			continue
		}
		seen[bare] = true
		list = append(list, " "+bare, "\n"+bare)
	}
	return append(list, "\n")
}

// words cuts a text in front of each white space.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := strings.IndexAny(text[1:], " \n") + 1
			if end == 0 {
				end = len(text)
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// errUneven: lengths of words do not add up to those of texts.
var errUneven = errors.New("the lengths of words do not add up to those of texts with this tokenizer")

func findMarker(ctx context.Context, list []string, ask Ask) (string, []int32, error) {
	for _, mark := range markers {
		if slices.ContainsFunc(list, func(w string) bool { return strings.HasPrefix(w, mark) }) {
			continue
		}
		one, err := ask(ctx, mark)
		if err != nil {
			return "", nil, err
		}
		three, err := ask(ctx, mark+mark+mark)
		if err != nil {
			return "", nil, err
		}
		// The first may be read in another way where nothing stands before it.
		n := (len(three) - len(one)) / 2
		if n < 1 || len(three) != len(one)+2*n || !slices.Equal(three[len(three)-n:], three[len(three)-2*n:len(three)-n]) {
			continue
		}
		return mark, three[len(three)-n:], nil
	}
	return "", nil, errUneven
}

// learn asks for the lengths of words, each between two markers.
func (t *WordLengths) learn(ctx context.Context, list []string, mark string, marker []int32, ask Ask) error {
	var text strings.Builder
	text.WriteString(mark + mark)
	for _, word := range list {
		text.WriteString(word + mark)
	}
	ids, err := ask(ctx, text.String())
	if err != nil {
		return err
	}
	gaps := between(ids, marker)
	// What the first marker became does not matter: the second ends what is in front.
	if n := len(gaps) - len(list); n < 1 {
		return errUneven
	} else {
		gaps = gaps[n:]
	}
	for i, word := range list {
		t.counts[word] = gaps[i]
	}
	return nil
}

// between is how many tokens stand in front of each marker, after the one before it.
func between(ids, marker []int32) []int {
	var gaps []int
	from := 0
	for i := 0; i+len(marker) <= len(ids); {
		if !slices.Equal(ids[i:i+len(marker)], marker) {
			i++
			continue
		}
		gaps = append(gaps, i-from)
		i += len(marker)
		from = i
	}
	return gaps
}

// begin finds out how long words are where a text begins: as after a space, or a line feed's token.
func (t *WordLengths) begin(ctx context.Context, list []string, ask Ask) error {
	var asked []string
	ways := [leading]func(word string) int{
		func(word string) int { return t.counts[" "+word] },
		func(word string) int { return t.counts["\n"+word] - t.counts["\n"] },
	}
	for _, word := range list {
		bare := word[1:]
		if word[0] == ' ' && ways[0](bare) != ways[1](bare) && len(asked) < starts {
			asked = append(asked, bare)
		}
	}
	right := [leading]int{}
	for _, word := range asked {
		ids, err := ask(ctx, word)
		if err != nil {
			return err
		}
		for i, way := range ways {
			if way(word) == len(ids) {
				right[i]++
			}
		}
	}
	way := ways[0]
	if right[1] > right[0] {
		way = ways[1]
	}
	for _, word := range list {
		if word[0] == ' ' {
			t.first[word[1:]] = way(word[1:])
		}
	}
	return nil
}

// try holds texts against what the server says of them.
func (t *WordLengths) try(ctx context.Context, text string, ask Ask) error {
	all := slices.Collect(words(text))
	rng := rand.New(rand.NewPCG(uint64(len(all)), trials))
	for range trials {
		from := rng.IntN(max(len(all)-trial, 1))
		part := strings.TrimLeft(strings.Join(all[from:min(from+trial, len(all))], ""), " \n")
		ids, err := ask(ctx, part)
		if err != nil {
			return err
		}
		if n := t.Count(part); n != len(ids) {
			return fmt.Errorf("%w: it has %d tokens where they add up to %d", errUneven, len(ids), n)
		}
	}
	return nil
}

// Name is what a plan and a report call it.
func (t *WordLengths) Name() string { return t.name }

// Count is the number of tokens in text.
func (t *WordLengths) Count(text string) int {
	n := 0
	begin := true
	for word := range words(text) {
		n += t.count(word, begin)
		begin = false
	}
	return n
}

func (t *WordLengths) count(word string, begin bool) int {
	known := t.counts
	if begin {
		known = t.first
	}
	if n, ok := known[word]; ok {
		return n
	}
	if n, ok := t.counts[word]; ok {
		return n
	}
	return t.other.Count(word)
}

// Cut returns the length in bytes of a beginning of text that has exactly n tokens and ends with a
// word; false where there is none.
func (t *WordLengths) Cut(text string, n int) (int, bool) {
	if n <= 0 {
		return 0, n == 0
	}
	have, end := 0, 0
	for word := range words(text) {
		have += t.count(word, end == 0)
		end += len(word)
		if have >= n {
			break
		}
	}
	return end, have == n
}

// Vocabulary gives the words of letters that are one token each.
func (t *WordLengths) Vocabulary() iter.Seq[string] {
	return func(yield func(string) bool) {
		var list []string
		for word, n := range t.counts {
			if n == 1 && word[0] == ' ' && t.first[word[1:]] == 1 && strings.IndexFunc(word[1:],
				func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
				list = append(list, word)
			}
		}
		slices.Sort(list) // a seed gives the same words each time
		for _, word := range list {
			if !yield(word) {
				return
			}
		}
	}
}
