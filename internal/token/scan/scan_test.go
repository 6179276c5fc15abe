package scan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/regex"
)

// expressions are the ones that Find knows.
var expressions = map[string]string{
	"gpt2": GPT2, "gpt2 ranks": gpt2Tik, "gpt2 ranks new": GPT2Ranks, "cl100k": CL100K, "cl100k ranks": cl100kTik, "cl100k ranks new": CL100KRanks,
	"qwen2": Qwen2, "qwen35": Qwen35, "o200k": O200K, "tekken": Tekken,
}

// inJSON writes an expression of a rank file so that it means the same in a
// tokenizer.json.
var inJSON = strings.NewReplacer(`\p{N}{1,3}+`, `(?>\p{N}{1,3})`, `$`, `\z`)

// pieces splits s by a scanner.
func pieces(t testing.TB, sc *Scanner, s string) []string {
	t.Helper()
	var list []string
	for whole := s; len(s) > 0; {
		n := sc.Next(s)
		if n <= 0 || n > len(s) {
			t.Fatalf("a piece of %d bytes at %q of %q", n, s, whole)
		}
		list = append(list, s[:n])
		s = s[n:]
	}
	return list
}

// matches splits s by an expression; what lies between matches are pieces too.
func matches(t testing.TB, re *regex.Regexp, s string) []string {
	t.Helper()
	spans, err := re.FindAll(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	at := 0
	for _, m := range spans {
		if m.Start > at {
			list = append(list, s[at:m.Start])
		}
		if m.End > m.Start {
			list = append(list, s[m.Start:m.End])
		}
		at = m.End
	}
	if at < len(s) {
		list = append(list, s[at:])
	}
	return list
}

func compile(t testing.TB, pattern string) *regex.Regexp {
	t.Helper()
	re, err := regex.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// alphabet has characters of all classes, the more often the more they matter.
var alphabet = []rune("aabBcé Éǅʰªאक中中ひカ12٣½Ⅷ   \t\n\n\r\u00a0\u3000\u2028\u0085''sStTreVEllMdſ.,!-/_$+<=^`|~©€\u0301\u0301\u0903\u20e3\x00\x1f\u200b\u200d\ue000\U000e0100😀\u0378")

func sample(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(24) {
		b.WriteRune(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

// Every scanner splits as the backtracking engine does by the expression itself.
func TestScannersAgreeWithExpressions(t *testing.T) {
	for name, pattern := range expressions {
		t.Run(name, func(t *testing.T) {
			sc, ok := FindRanks(pattern)
			if !ok {
				t.Fatal("not known")
			}
			re := compile(t, inJSON.Replace(pattern))
			rng := rand.New(rand.NewPCG(1, 2))
			for range 3000 {
				s := sample(rng)
				if got, want := pieces(t, sc, s), matches(t, re, s); !slices.Equal(got, want) {
					t.Fatalf("%q\n got %q\nwant %q", s, got, want)
				}
			}
		})
	}
}

func TestSequencesAgreeWithExpressions(t *testing.T) {
	for _, tc := range []struct {
		name     string
		sc       func() (*Scanner, bool)
		patterns []string
	}{
		{"deepseek", func() (*Scanner, bool) { return FindSequence([]string{DeepSeekDigits, DeepSeekHan, DeepSeek}) }, []string{DeepSeekDigits, DeepSeekHan, DeepSeek}},
		{"digits each", func() (*Scanner, bool) { return Digits(true), true }, []string{`\p{N}`, GPT2}},
		{"digits", func() (*Scanner, bool) { return Digits(false), true }, []string{`\p{N}+`, GPT2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sc, ok := tc.sc()
			if !ok {
				t.Fatal("not known")
			}
			var list []*regex.Regexp
			for _, p := range tc.patterns {
				list = append(list, compile(t, p))
			}
			rng := rand.New(rand.NewPCG(3, 4))
			for range 3000 {
				s := sample(rng)
				want := []string{s}
				for _, re := range list {
					var next []string
					for _, p := range want {
						next = append(next, matches(t, re, p)...)
					}
					want = next
				}
				if got := pieces(t, sc, s); !slices.Equal(got, want) {
					t.Fatalf("%q\n got %q\nwant %q", s, got, want)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	if _, ok := Find(`\w+`); ok {
		t.Error(`\w+ is known`)
	}
	if _, ok := Find(CL100KRanks); ok {
		t.Error("an expression that means something else in a tokenizer.json is known there")
	}
	if _, ok := FindSequence([]string{GPT2, CL100K}); ok {
		t.Error("a sequence of GPT2 and CL100K is known")
	}
	if _, ok := Find(strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(CL100K)); !ok {
		t.Error("line ends themselves in an expression are not known")
	}
	if n := Digits(true).Next("\U00011de0\U00011de1"); n != 4 { // digits since Unicode 17
		t.Errorf("a new digit takes %d of 4 bytes", n)
	}
	if n := NoSplit().Next("a b"); n != 3 {
		t.Errorf("Whole takes %d of 3 bytes", n)
	}
}

func FuzzScanners(f *testing.F) {
	f.Add("it's 12345  \r\n x\u0301 中文!\n")
	compiled := map[string]*regex.Regexp{}
	for name, pattern := range expressions {
		compiled[name] = compile(f, inJSON.Replace(pattern))
	}
	mutate.Fuzz(f, func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 200 {
			return
		}
		for name, pattern := range expressions {
			sc, _ := FindRanks(pattern)
			if got, want := pieces(t, sc, s), matches(t, compiled[name], s); !slices.Equal(got, want) {
				t.Fatalf("%s: %q\n got %q\nwant %q", name, s, got, want)
			}
		}
		sc, _ := FindSequence([]string{DeepSeekDigits, DeepSeekHan, DeepSeek})
		pieces(t, sc, s)
		pieces(t, Digits(true), s)
	})
}
