package clidoc

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The page that is about what was typed comes first, with typing errors too, as in the search of the site.
func TestSearch(t *testing.T) {
	text, err := os.ReadFile("../../scripts/docs/testdata/searches.json")
	if err != nil {
		t.Fatal(err)
	}
	var searches map[string]string
	if err := json.Unmarshal(text, &searches); err != nil {
		t.Fatal(err)
	}
	x := NewIndex()
	for query, want := range searches {
		f := x.Search(query)
		if len(f.Places) == 0 || f.Places[0].Topic != want {
			var titles []string
			for _, p := range f.Places[:min(4, len(f.Places))] {
				titles = append(titles, p.Title)
			}
			t.Errorf("%q finds %q, want %s first", query, titles, want)
		}
		for _, p := range f.Places {
			if p.Text(80, false) == "" {
				t.Errorf("%q finds %s, which has no text", query, p.Title)
			}
		}
	}
	for _, query := range []string{"", "   ", "qqxyzzy", "[unclosed(", strings.Repeat("x", 5000), "\xff\xfe"} {
		if f := x.Search(query); len(f.Places) > 0 || f.Meant != "" {
			t.Errorf("%.20q finds %s, meant %q", query, f.Places[0].Title, f.Meant)
		}
	}
	if f := x.Search("moncake trace"); f.Meant != "mooncake trace" {
		t.Errorf("meant %q", f.Meant)
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"capacity", "capacity", true}, {"capcity", "capacity", true}, {"capaccity", "capacity", true}, {"capasity", "capacity", true}, {"cpaacity", "capacity", true},
		{"cpacityy", "capacity", false}, {"cap", "capacity", false}, {"", "a", true}, {"ab", "ba", true}, {"abc", "cba", false}, {"", "", true},
	} {
		if got := near(c.a, c.b); got != c.want {
			t.Errorf("near(%q, %q) is %t", c.a, c.b, got)
		}
	}
}
