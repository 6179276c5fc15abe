package access_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/access"
)

func TestCheckToken(t *testing.T) {
	for token, want := range map[string]string{
		"":                  "set a token of 16 characters or more",
		"a":                 "TOKEN has 1 characters: use 16 or more",
		"123456789012345":   "TOKEN has 15 characters: use 16 or more",
		"1234567890123456":  "",
		"12345678901234567": "",
	} {
		said := ""
		if err := access.CheckToken("TOKEN", token); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%q: %q, want %q", token, said, want)
		}
	}
}
