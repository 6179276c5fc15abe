package token

import (
	"slices"
	"testing"
)

// The ids are those of the reference.
func TestBuiltin(t *testing.T) {
	e, err := GPT2()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text string
		ids  []int32
	}{
		{"Hello world", []int32{15496, 995}},
		{" the<|endoftext|>x", []int32{262, 50256, 87}},
		{"it's 2024\n\n  é中😀", []int32{270, 338, 48609, 628, 220, 38251, 40792, 47249, 222}},
	} {
		got := e.Encode(tc.text, false)
		if !slices.Equal(got, tc.ids) {
			t.Errorf("Encode(%q) = %v, want %v", tc.text, got, tc.ids)
		}
		if back := e.Decode(got, false); back != tc.text {
			t.Errorf("Decode(Encode(%q)) = %q", tc.text, back)
		}
	}
}
