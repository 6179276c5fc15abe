package pyhash

import "testing"

// What CPython 3.11 says.
func TestText(t *testing.T) {
	texts := []string{"a", "46:512", "123456789:16", "abcdefgh"}
	for seed, want := range map[string][]uint64{
		"0":          {4644417185603328019, 15680617855214856305, 12901425106601656746, 4574395652268504554},
		"7":          {6412522626967419924, 8275533980348928249, 9996620451402122798, 7786118111102688414},
		"4294967295": {12457060260671711367, 284704461972669806, 10338748921154174194, 3424456984880118976},
	} {
		for i, text := range texts {
			if got := Text(text, seed); got != want[i] {
				t.Errorf("hash(%q) with seed %s is %d, not %d", text, seed, got, want[i])
			}
		}
	}
	if Text("a", "") != Text("a", "0") || Text("a", "random") != Text("a", "0") {
		t.Error("without a seed it is not that of seed 0")
	}
}
