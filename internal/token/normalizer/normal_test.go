package normalizer

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/regex"
	"github.com/inferometer/inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) string, error) {
		n, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return n.Normalize, nil
	})
}

func TestFaults(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"Foo"}`: "Foo",
		`{}`:             "type",
		`[]`:             "normalizer",
		`{"type":"Sequence","normalizers":[{"type":"Bar"}]}`:       "Bar",
		`{"type":"Sequence"}`:                                      "normalizers",
		`{"type":"Strip"}`:                                         "strip_left",
		`{"type":"Prepend"}`:                                       "prepend",
		`{"type":"Replace","pattern":{"Regex":"("},"content":""}`:  "missing )",
		`{"type":"Replace","pattern":{},"content":""}`:             "String or a Regex",
		`{"type":"Precompiled","precompiled_charsmap":"AAAA"}`:     "precompiled_charsmap",
		`{"type":"Precompiled","precompiled_charsmap":"/////w=="}`: "precompiled_charsmap",
		`{"type":"BertNormalizer"}`:                                "clean_text",
		`{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"Regex":"^"},"content":"x"},{"type":"NFC"}]}`: "Replace",
	} {
		if _, err := FromJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%s) gives the error %v; it should name %q", raw, err, want)
		}
	}
	if n, err := FromJSON([]byte("null")); n != nil || err != nil {
		t.Errorf("FromJSON(null) = %v, %v", n, err)
	}
}

// TestLong shows that long runs of marks are neither cut nor slow.
func TestLong(t *testing.T) {
	for name, text := range map[string]string{
		"NFC":  "e" + strings.Repeat("\u0323\u0301", 100_000),
		"NFKD": strings.Repeat("\u0301\u0323", 100_000),
	} {
		n, err := FromJSON([]byte(`{"type":"` + name + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Normalize(text); strings.ContainsRune(got, 0x34f) || len(got) < len(text)-4 {
			t.Errorf("%s of %d bytes has %d", name, len(text), len(got))
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		`{"type":"NFKC"}`, `{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`,
		`{"type":"Replace","pattern":{"Regex":"a*"},"content":"b"}`, `{"type":"Precompiled","precompiled_charsmap":"CAAAAAAEAAAAAAAAYQA="}`,
		`{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"},{"type":"Nmt"},{"type":"ByteLevel"},{"type":"Lowercase"}]}`,
	} {
		f.Add(seed, "Ünï\u0301\xff\x00각가ﬁ日 ")
	}
	mutate.Fuzz(f, func(t *testing.T, config, text string) {
		if len(text) > 200 {
			return
		}
		n, err := FromJSON([]byte(config))
		if n == nil || err != nil {
			return
		}
		defer func() {
			r := recover()
			if _, ok := r.(*regex.LimitError); r != nil && !ok {
				panic(r)
			}
		}()
		got := n.Normalize(text)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%s of %q is %q, which is not valid UTF-8", config, text, got)
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	text := strings.Repeat("The quick Brown fox, naïve café 東京都 한국어 русский текст 1234. ", 100)
	for _, config := range []string{
		`{"type":"NFC"}`, `{"type":"NFD"}`, `{"type":"NFKC"}`, `{"type":"Lowercase"}`,
		`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`,
	} {
		n, err := FromJSON([]byte(config))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(config[9:13], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				n.Normalize(text)
			}
		})
	}
}

// TestBegins has the cases in which the reference's Metaspace does, or does not, put
// its sign first.
func TestBegins(t *testing.T) {
	for _, c := range []struct {
		config, text string
		want         bool
	}{
		{`{"type":"Strip","strip_left":true,"strip_right":true}`, "  a b", false},
		{`{"type":"Strip","strip_left":true,"strip_right":true}`, "a b ", true},
		{`{"type":"Strip","strip_left":false,"strip_right":true}`, " a", true},
		{`{"type":"Nmt"}`, "\x01a b", false},
		{`{"type":"Nmt"}`, "\ta b", true},
		{`{"type":"StripAccents"}`, "\u0301a", false},
		{`{"type":"StripAccents"}`, "a\u0301", true},
		{`{"type":"Replace","pattern":{"Regex":"x+"},"content":"y"}`, "xxa", false},
		{`{"type":"Replace","pattern":{"Regex":"x+"},"content":"y"}`, "xa", true},
		{`{"type":"Replace","pattern":{"Regex":"x+"},"content":"y"}`, "axx", true},
		{`{"type":"Replace","pattern":{"String":"x"},"content":""}`, "xa", false},
		{`{"type":"Replace","pattern":{"String":"x"},"content":"y"}`, "xa", true},
		{`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`, "\x01a", false},
		{`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`, "\u0301a", false},
		{`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`, "éa", true},
		{`{"type":"Prepend","prepend":"zz"}`, "a", true},
		{`{"type":"NFKC"}`, "ﬁ", true},
		{`{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Strip","strip_left":true,"strip_right":true}]}`, " a", false},
	} {
		n, err := FromJSON([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		if got := Begins(n, c.text); got != c.want {
			t.Errorf("Begins(%s, %q) = %v", c.config, c.text, got)
		}
	}
}

// A replacement is looked up without a copy of the table, and what stays is not copied.
func TestPrecompiledIsQuick(t *testing.T) {
	// One entry: a line feed becomes a space. The double array has units for the root,
	// the byte and the value.
	units := []uint32{4 << 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10 | 1<<8 | 4<<10, 0}
	units[14^4] = 1 << 31 // the value: the text at 0
	blob := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		blob = binary.LittleEndian.AppendUint32(blob, u)
	}
	blob = append(blob, " \x00"...)
	blob = append(blob, make([]byte, 1<<20)...)
	n, err := Precompiled(blob)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Normalize("a\nb\r\né\u0301"); got != "a b\r é\u0301" {
		t.Errorf("%q", got)
	}
	lines, plain := strings.Repeat("\n", 1000), strings.Repeat("plain ", 200)
	if got := testing.AllocsPerRun(1, func() { n.Normalize(lines) }); got > 2 {
		t.Errorf("%v allocations for %d line feeds", got, len(lines))
	}
	if got := testing.AllocsPerRun(1, func() { n.Normalize(plain) }); got > 0 {
		t.Errorf("%v allocations for a text that stays", got)
	}
}

// What can match nothing inserts before texts, as llm-jp has it; other replacements may
// follow.
func TestReplaceNothing(t *testing.T) {
	n, err := FromJSON([]byte(`{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"Regex":"(?<!\\n)^"},"content":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"a b\nc": "▁a▁b\nc", "\nab": "▁\nab", " a": "▁▁a", "é": "▁é", "": ""} {
		if got := n.Normalize(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
