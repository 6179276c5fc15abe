package regex

import (
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// TestSteps runs patterns that backtrack a lot on texts that make them do so.
func TestSteps(t *testing.T) {
	re, err := Compile(`(?:x+x+)+y`)
	if err != nil {
		t.Fatal(err)
	}
	if spans, err := re.FindAll(nil, strings.Repeat("x", 400)); err != nil || len(spans) != 0 {
		t.Errorf("(?:x+x+)+y on 400 x gives %v, %v; it should remember where it failed and find nothing", spans, err)
	}
	// Within a look-ahead nothing is remembered, so this one ends with an error.
	re, err = Compile(`(?=(?:x+x+)+y)x`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := re.FindAll(nil, strings.Repeat("x", 400)); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("the bound on the steps gives the error %v; it should name the steps", err)
	}
}

func TestTooLarge(t *testing.T) {
	for _, pattern := range []string{
		`(?:(?:(?:ab){1000}){1000}){1000}`,
		strings.Repeat("(", 1000) + strings.Repeat(")", 1000),
		strings.Repeat("[", 1000),
		`a{100001}`,
	} {
		if _, err := Compile(pattern); err == nil {
			t.Errorf("Compile(%.30q...) gives no error", pattern)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`'s| ?\p{L}+|\s+(?!\S)`, `(?i:ß[^a-z&&\w])`, `(?<=a|bc)x{2,3}?`, `(?:a*)*+\b$`, `[[:alpha:]\]-]`, `\x{41}\u0041\101`} {
		f.Add(seed, "the Straße ss  x\n9")
	}
	mutate.Fuzz(f, func(t *testing.T, pattern, text string) {
		if len(pattern) > 60 || len(text) > 60 {
			return
		}
		re, err := Compile(pattern)
		if err != nil {
			return
		}
		spans, err := re.FindAll(nil, text)
		if err != nil {
			return
		}
		at := 0
		for i, s := range spans {
			if s.Start < at || s.End < s.Start || s.End > len(text) || i > 0 && s.Start == s.End && s.End == spans[i-1].End {
				t.Fatalf("%q on %q gives %v", pattern, text, spans)
			}
			at = s.End
		}
	})
}

// BenchmarkFindAll splits prose by expressions of well-known tokenizers, here and with the standard library. That has no
// look-ahead, so what it runs lacks the one that they have, and what that takes to make up for is not in its time.
func BenchmarkFindAll(b *testing.B) {
	text := strings.Repeat("The quick brown fox, 1234 jumps over\n  the lazy dog's naïve café 東京都. ", 100)
	for name, pattern := range map[string]string{
		"gpt2":   `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
		"cl100k": `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
		"o200k": `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
			`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
			`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
	} {
		b.Run(name+"/here", func(b *testing.B) {
			re, err := Compile(pattern)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			var spans []Span
			for b.Loop() {
				spans, _ = re.FindAll(spans[:0], text)
			}
		})
		b.Run(name+"/standard", func(b *testing.B) {
			re := regexp.MustCompile(strings.Replace(pattern, `|\s+(?!\S)`, "", 1))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				re.FindAllStringIndex(text, -1)
			}
		})
	}
}
