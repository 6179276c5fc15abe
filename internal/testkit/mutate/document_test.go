package mutate

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Every number gets its turn, and every way of breaking lines, and nothing else changes.
func TestDocument(t *testing.T) {
	const text = "{\"kind\":\"a 5\",\"n\":5,\"list\":[1,2,3]}\n{\"other\": -7.5e3}\nplain: 3\n"
	random := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 400 {
		what, broken := Document(random, text)
		if broken == text && !strings.Contains(what, " for ") {
			t.Errorf("%s changes nothing", what)
		}
		if !strings.Contains(broken, "a 5") && !strings.HasPrefix(what, "no line") {
			t.Errorf("%s: %q: a text is no number", what, broken)
		}
		for _, key := range []string{": n ", ": list ", ": other ", ": plain ", " twice", "no line", "swapped"} {
			seen[key] = seen[key] || strings.Contains(what, key)
		}
	}
	for key, was := range seen {
		if !was {
			t.Errorf("never %q", key)
		}
	}
}

func TestFrames(t *testing.T) {
	frame := "\x28\xb5\x2f\xfdabcdefgh"
	packed := []byte(frame + frame + frame)
	random := rand.New(rand.NewPCG(1, 1))
	ended, followed := false, false
	for range 100 {
		what, broken := Frames(random, packed)
		if len(broken) >= len(packed) {
			t.Errorf("%s: %q", what, broken)
		}
		ended = ended || strings.HasPrefix(what, "the end")
		followed = followed || strings.HasPrefix(what, "frame 1 cut")
	}
	if !ended || !followed {
		t.Error("one way of cutting is missing")
	}
}
