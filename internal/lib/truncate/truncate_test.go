package truncate_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/truncate"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		text      string
		most      int
		want, fit string
	}{
		{"", 1, "", ""}, {"ab", 1, "a…", "…"}, {"abc", 3, "abc", "abc"}, {"abcd", 3, "abc…", "ab…"}, {"äöü", 3, "äöü", "äöü"}, {"äöüß", 3, "äöü…", "äö…"},
		{"a\xff\xfeb", 4, "a\xff\xfeb", "a\xff\xfeb"}, {"a\xffbcd", 3, "ab…", "a…"},
	} {
		if got := truncate.Text(c.text, c.most); got != c.want {
			t.Errorf("%q cut to %d is %q, want %q", c.text, c.most, got, c.want)
		}
		if got := truncate.Fit(c.text, c.most); got != c.fit {
			t.Errorf("%q fitted to %d is %q, want %q", c.text, c.most, got, c.fit)
		}
	}
}
