package tiktoken

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/token/regex"
)

// Kimi sets runs of Chinese apart; the rest is split as by o200k_base. The pieces are
// those that tiktoken finds.
func TestKimi(t *testing.T) {
	re, err := regex.Compile(kimiPattern)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Hello世界world":          "Hello|世界|world",
		"价格是1234元, it's FINE":   "价格是|123|4|元|,| it's| FINE",
		"camelCase 中文abc\n\n x": "camel|Case| |中文|abc|\n\n| x",
		"한국어ひらがな漢字カナ":           "한국어ひらがな|漢字|カナ",
	} {
		var got []string
		for _, m := range re.MustFindAll(text) {
			got = append(got, text[m.Start:m.End])
		}
		if w := strings.Split(want, "|"); !slices.Equal(got, w) {
			t.Errorf("%q: %q, want %q", text, got, w)
		}
	}
	special := kimi()
	for name, id := range map[string]int32{"[BOS]": 163584, "<|im_middle|>": 163601, "<think>": 163606, "[PAD]": 163839, "<|reserved_token_163600|>": 163600} {
		if special[name] != id {
			t.Errorf("%s is %d, want %d", name, special[name], id)
		}
	}
	for name, id := range map[string]int32{"<|end_of_msg|>": 163586, "<|sep|>": 163589, "<osagent_mode>": 163649, "[UNK]": 163838, "<|reserved_token_163594|>": 163594} {
		if kimi3()[name] != id {
			t.Errorf("%s of K3 is %d, want %d", name, kimi3()[name], id)
		}
	}
	if len(special) != 256 || len(kimi3()) != 256 {
		t.Errorf("%d and %d special tokens", len(special), len(kimi3()))
	}
}

// What the model's own configuration calls an id counts.
func TestNamesOfTheModel(t *testing.T) {
	got := renamed(map[string]int32{"<|im_end|>": 163586, "<|im_user|>": 163587}, map[int32]string{163586: "<|end_of_msg|>", 0: "x", -1: "y", 163650: "<new>"}, []string{"a"})
	if want := (map[string]int32{"<|end_of_msg|>": 163586, "<|im_user|>": 163587, "<new>": 163650}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
