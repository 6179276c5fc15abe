// Package mutate tries readers of files and command lines on broken versions of good
// input. The versions follow from the seeds alone, so that an ordinary test tries the
// same ones every time; go's own fuzzing goes on from there.
package mutate

import (
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// Usual is how many versions an ordinary test tries: enough to meet every token of a small
// file, and quick.
const Usual = 400

// Try calls read with each seed as it is, and then with n broken versions of them. A panic
// is a failure that shows the input.
func Try(t testing.TB, n int, seeds []string, read func(text string)) {
	t.Helper()
	if len(seeds) == 0 {
		t.Fatal("there are no seeds")
	}
	m := mutator{rand: rand.New(rand.NewPCG(1, uint64(len(seeds)))), seeds: seeds}
	for i := range len(seeds) + n {
		text := ""
		if i < len(seeds) {
			text = seeds[i]
		} else {
			text = m.version()
		}
		if !survives(t, text, read) {
			return
		}
	}
}

// Lines is Try for readers of command lines: a seed is one with its words, and so is what
// read gets.
func Lines(t testing.TB, n int, seeds [][]string, read func(args []string)) {
	t.Helper()
	const between = "\n"
	joined := make([]string, len(seeds))
	for i, words := range seeds {
		joined[i] = strings.Join(words, between)
	}
	Try(t, n, joined, func(text string) { read(strings.Split(text, between)) })
}

func survives(t testing.TB, text string, read func(string)) (ok bool) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panics: %v\ninput: %q\n%s", p, text, debug.Stack())
			ok = false
		}
	}()
	read(text)
	return true
}

type mutator struct {
	rand  *rand.Rand
	seeds []string
}

// odd are tokens that are none of what a reader wants: other kinds of value, bounds of
// numbers, and bytes that no text has.
var odd = []string{
	"null", "true", "[]", "{}", "[[]]", "{a: 1}", `{"a":{}}`, `""`, `"x"`, "x", "-", "--", "=", ",", ":", "#", "'", "\"", "\\",
	"0", "-1", "5", "0.5", "-0", "1e999", "-1e999", "1e-999", "NaN", "Inf", "0x10", "1_000", "007",
	"9223372036854775807", "9223372036854775808", "18446744073709551616", "1000000000000000000000000",
	"\x00", "\x1b[31m", "\xff\xfe", "é", "\u2028", "\r\n", "\t", " ", "%s%n", "&a [*a]", "*a", "<<", "!!binary x", "---\n", "{{", "}}", "${x}", "~",
}

// token is a word, a number, or a single other sign.
var token = regexp.MustCompile(`[\pL\pN_.+-]+|[^\s]`)

// version is a broken version of one seed, with one to four things wrong.
func (m *mutator) version() string {
	text := m.seeds[m.rand.IntN(len(m.seeds))]
	for range 1 + m.rand.IntN(4) {
		text = m.break1(text)
	}
	return text
}

func (m *mutator) break1(text string) string {
	if text == "" {
		return m.oddOne()
	}
	switch m.rand.IntN(9) {
	case 0, 1, 2: // another token
		if at := token.FindAllStringIndex(text, -1); at != nil {
			i := at[m.rand.IntN(len(at))]
			return text[:i[0]] + m.oddOne() + text[i[1]:]
		}
		return m.oddOne()
	case 3: // one more
		i := m.rand.IntN(len(text) + 1)
		return text[:i] + m.oddOne() + text[i:]
	case 4: // a cut
		return text[:m.rand.IntN(len(text))]
	case 5: // a hole
		i := m.rand.IntN(len(text))
		return text[:i] + text[min(i+1+m.rand.IntN(12), len(text)):]
	case 6: // a byte
		b := []byte(text)
		b[m.rand.IntN(len(b))] = byte(m.rand.IntN(256))
		return string(b)
	case 7: // a line twice, or none of it
		lines := strings.SplitAfter(text, "\n")
		i := m.rand.IntN(len(lines))
		if m.rand.IntN(2) == 0 {
			lines[i] = ""
		} else {
			lines[i] += lines[m.rand.IntN(len(lines))]
		}
		return strings.Join(lines, "")
	default: // the rest of another seed
		other := m.seeds[m.rand.IntN(len(m.seeds))]
		return text[:m.rand.IntN(len(text))] + other[m.rand.IntN(len(other)+1):]
	}
}

func (m *mutator) oddOne() string { return odd[m.rand.IntN(len(odd))] }
