package screen_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                        "plain",
		"  two\t\n words ":             "two words",
		"\x1b[31mred\x1b[0m":           "[31mred [0m",
		"bell\a, null\x00, C1\u009b2J": "bell , null , C1 2J",
		"turn\u202Earound":             "turnaround",
		"broken\xff":                   "broken\uFFFD",
		"":                             "",
	} {
		if got := screen.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for in, want := range map[string]int{
		"":                              0,
		"abc":                           3,
		"µs ≤":                          4,
		"日本":                            4,
		"e\u0301":                       1,
		screen.Style(true).Bad("over"):  4,
		screen.Style(false).Bad("over"): 4,
	} {
		if got := screen.Width(in); got != want {
			t.Errorf("Width(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"longer text", 7, "longer…"},
		{"longer text", 8, "longer…"},
		{"longer text", 1, "…"},
		{"longer text", 0, ""},
		{"longer text", -3, ""},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
	} {
		if got := screen.Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 100, []string{"one two three"}},
		{"a-very-long-word", 6, []string{"a-very", "-long-", "word"}},
		{"go a-very-long-word on", 6, []string{"go", "a-very", "-long-", "word", "on"}},
		{"lag of 12 ms, over 1 %.", 9, []string{"lag of", "12 ms,", "over 1 %."}},
		{"lag of 12 ms, over 1 %.", 8, []string{"lag of", "12 ms,", "over", "1 %."}},
		{"stage ms", 6, []string{"stage", "ms"}},
		{"日本語", 1, []string{"日", "本", "語"}},
	} {
		if diff := cmp.Diff(c.want, screen.Wrap(c.in, c.n)); diff != "" {
			t.Errorf("Wrap(%q, %d) (-want +got):\n%s", c.in, c.n, diff)
		}
	}
}

func TestPad(t *testing.T) {
	if got := screen.Left("µs", 4) + "|" + screen.Right("µs", 4) + "|" + screen.Right("long", 2); got != "µs  |  µs|long" {
		t.Errorf("got %q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("one two three", 7)
	f.Add("日本語 e\u0301 \x1b[31m", 3)
	f.Add("\xff\xfe\u200d", 0)
	mutate.Fuzz(f, func(t *testing.T, s string, n int) {
		n = n % 200
		clean := screen.Clean(s)
		if strings.ContainsAny(clean, "\x1b\n\r\t\x00") {
			t.Errorf("Clean(%q) = %q has control characters", s, clean)
		}
		if w := screen.Width(screen.Clip(clean, n)); w > max(n, 0) {
			t.Errorf("Clip(%q, %d) is %d wide", clean, n, w)
		}
		lines := screen.Wrap(clean, n)
		for _, l := range lines {
			if w := screen.Width(l); w > max(n, 2) {
				t.Errorf("Wrap(%q, %d) has a line of width %d: %q", clean, n, w, l)
			}
		}
		if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(clean, " ", ""); got != want {
			t.Errorf("Wrap(%q, %d) = %q lost text", clean, n, lines)
		}
	})
}
