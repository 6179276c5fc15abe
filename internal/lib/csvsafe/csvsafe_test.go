package csvsafe_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/csvsafe"
)

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a=b": "a=b", "two\nlines": "two lines", "\x00x": " x", "é": "é", "\xff": "\xff",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "' =1", "\r\n=1": "'  =1", "＝1": "'＝1", "  -1": "'  -1", "\u00a0@x": "'\u00a0@x",
	} {
		if got := csvsafe.Safe(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
