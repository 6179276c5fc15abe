package normalizer

import "testing"

// TestNewer has texts as Python 3.13 composes them.
func TestNewer(t *testing.T) {
	changed := 0
	older := nfc()
	for text, want := range map[string]string{
		"q\u0301\u0c3c":           "q\u0c3c\u0301",
		"e\u0c3c\u0301":           "\u00e9\u0c3c",
		"\u0898\u0323":            "\u0323\u0898",
		"e\u0898\u0323\u0301":     "\u1eb9\u0898\u0301",
		"e\u1ac1\u0323":           "\u1eb9\u1ac1",
		"\U00011935\U00011930":    "\U00011938",
		"\U00011938":              "\U00011938",
		"a\U0001e4ec\u0323\u0301": "\u1ea1\u0301\U0001e4ec",
		"a\u0301\U00010efd":       "\u00e1\U00010efd",
		"o\u0302\u1715":           "\u00f4\u1715",
		"\u0301\u0eba\u0323":      "\u0eba\u0323\u0301",
		"a\u1df6\u0301\u0323":     "\u1ea1\u0301\u1df6",
		"k\U00011f41\u0301":       "\u1e31\U00011f41",
		"\u00e9\U00016ff0":        "\u00e9\U00016ff0",
		"\u0e40\u0323\u0301":      "\u0e40\u0323\u0301",
	} {
		if got := Newer().Normalize(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
		if older.Normalize(text) != want {
			changed++
		}
	}
	if changed < 8 {
		t.Errorf("only %d texts are others by the older tables", changed)
	}
}
