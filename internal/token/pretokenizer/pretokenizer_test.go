package pretokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/regex"
	"github.com/inferometer/inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) []string, error) {
		p, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return func(s string) []string {
			var out []string
			for _, piece := range p.Split(nil, Piece{Text: s, First: true}) {
				out = append(out, piece.Text)
			}
			return out
		}, nil
	})
}

func TestFirst(t *testing.T) {
	p, err := FromJSON([]byte(`{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Piece{{"▁a", true}, {"▁b", false}}
	if got := p.Split(nil, Piece{"a b", true}); !slices.Equal(got, want) {
		t.Errorf("the first piece gives %v, want %v", got, want)
	}
	want = []Piece{{"a", false}, {"▁b", false}}
	if got := p.Split(nil, Piece{"a b", false}); !slices.Equal(got, want) {
		t.Errorf("another piece gives %v, want %v", got, want)
	}
}

func TestLegacyMetaspace(t *testing.T) {
	for config, want := range map[string]string{
		`{"type":"Metaspace","replacement":"▁","add_prefix_space":true}`:                            "▁a",
		`{"type":"Metaspace","replacement":"▁","add_prefix_space":false}`:                           "a",
		`{"type":"Metaspace","replacement":"▁","add_prefix_space":false,"prepend_scheme":"never"}`:  "a",
		`{"type":"Metaspace","replacement":"▁","add_prefix_space":true,"prepend_scheme":"never"}`:   "a",
		`{"type":"Metaspace","replacement":"▁","str_rep":"▁","add_prefix_space":true,"split":null}`: "▁a",
	} {
		p, err := FromJSON([]byte(config))
		if err != nil {
			t.Errorf("%s: %v", config, err)
			continue
		}
		if got := p.Split(nil, Piece{"a", true}); len(got) != 1 || got[0].Text != want {
			t.Errorf("%s gives %v, want %q", config, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"Foo"}`: "Foo",
		`{}`:             "type",
		`{"type":"Sequence","pretokenizers":[{"type":"Bar"}]}`:                                 "Bar",
		`{"type":"Sequence","pretokenizers":[null]}`:                                           "null",
		`{"type":"Split","pattern":{"Regex":"\\p{Foo}"},"behavior":"Isolated","invert":false}`: "Foo",
		`{"type":"Split","pattern":{"String":" "},"behavior":"Sideways","invert":false}`:       "Sideways",
		`{"type":"Split"}`:                  "pattern",
		`{"type":"Metaspace"}`:              "replacement",
		`{"type":"ByteLevel"}`:              "add_prefix_space",
		`{"type":"FixedLength","length":0}`: "length",
		`{"type":"CharDelimiterSplit"}`:     "delimiter",
		`{"type":"Digits"}`:                 "individual_digits",
		`{"type":"Metaspace","replacement":"▁","add_prefix_space":false,"prepend_scheme":"always"}`: "contradicts",
	} {
		if _, err := FromJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%s) gives the error %v; it should name %q", raw, err, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}`, `{"type":"Metaspace","replacement":"▁"}`, `{"type":"UnicodeScripts"}`,
		`{"type":"Sequence","pretokenizers":[{"type":"BertPreTokenizer"},{"type":"Whitespace"},{"type":"FixedLength","length":2},{"type":"Digits","individual_digits":true}]}`,
		`{"type":"Split","pattern":{"Regex":"a*"},"behavior":"MergedWithNext","invert":true}`,
	} {
		f.Add(seed, "The  quick, naïve\xff 東京 12\n ")
	}
	mutate.Fuzz(f, func(t *testing.T, config, text string) {
		if len(text) > 200 {
			return
		}
		p, err := FromJSON([]byte(config))
		if p == nil || err != nil {
			return
		}
		defer func() {
			r := recover()
			if _, ok := r.(*regex.LimitError); r != nil && !ok {
				panic(r)
			}
		}()
		for _, piece := range p.Split(nil, Piece{text, true}) {
			if piece.Text == "" && text != "" {
				t.Errorf("%s of %q gives an empty piece", config, text)
			}
		}
	})
}

// Splitting at white space and putting signs before words at once gives what one after
// the other does.
func TestSigned(t *testing.T) {
	p, err := FromJSON([]byte(`{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	seq, ok := p.(sequence)
	if !ok || len(seq) != 1 {
		t.Fatalf("%#v", p)
	}
	one := seq[0].(signed)
	slow := sequence{one.spaces, one.signs}
	for _, text := range []string{"", " ", "a", "a b", "  a\t\u3000b\n", "é\u00a0中 ▁x y▁z", "▁", "\u2028x", "a\x1cb\u0085c"} {
		for _, first := range []bool{true, false} {
			piece := Piece{Text: text, First: first}
			if got, want := p.Split(nil, piece), slow.Split(nil, piece); !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
}
