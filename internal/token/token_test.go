package token

import (
	"strings"
	"testing"
	"unicode"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestByName(t *testing.T) {
	tok, err := ByName("words")
	if err != nil || tok.Name() != "words" {
		t.Errorf("ByName(words) = %q, %v", tok.Name(), err)
	}
	_, err = ByName("gpt2")
	want := `unknown tokenizer "gpt2"; known: words, builtin:gpt2`
	if err == nil || err.Error() != want {
		t.Errorf("ByName(gpt2): %v\nwant %s", err, want)
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
		ok   bool
	}{
		{"one two three", 0, "", true},
		{"one two three", 1, "one", true},
		{"one two three", 2, "one two", true},
		{"one two three", 3, "one two three", true},
		{"one two three", 4, "", false},
		{"one two three", -1, "", false},
		{"  one\r\n two  ", 2, "  one\r\n two", true},
		{"é\u00a0ü\u2003", 2, "é\u00a0ü", true},
		{"", 1, "", false},
		{" ", 1, "", false},
	} {
		end, ok := Words{}.Cut(tc.text, tc.n)
		if ok != tc.ok || tc.text[:end] != tc.want {
			t.Errorf("Cut(%q, %d) = %q, %v; want %q, %v", tc.text, tc.n, tc.text[:end], ok, tc.want, tc.ok)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", " ", "one", "a b\tc\nd\ve\ff\rg", "\u0085x\u00a0y", "\xff \xc2", "日本 語", "\u1680\u2028z\u3000"} {
		f.Add(s, 2)
	}
	mutate.Fuzz(f, func(t *testing.T, text string, n int) {
		words := strings.Fields(text)
		if got := (Words{}).Count(text); got != len(words) {
			t.Fatalf("Count(%q) = %d, want %d", text, got, len(words))
		}
		end, ok := Words{}.Cut(text, n)
		if ok != (n >= 0 && n <= len(words)) {
			t.Fatalf("Cut(%q, %d) of %d words says %v", text, n, len(words), ok)
		}
		if ok {
			cut := strings.Fields(text[:end])
			if len(cut) != n || strings.TrimRightFunc(text[:end], unicode.IsSpace) != text[:end] {
				t.Fatalf("Cut(%q, %d) = %q", text, n, text[:end])
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("Reflexions and Refractions of Light ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Words{}.Count(text)
	}
}
