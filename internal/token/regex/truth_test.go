package regex

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/token/tokentest"
)

// unsupported are patterns that the reference takes and this package refuses, and what
// its error names.
var unsupported = map[string]string{
	`\101`:         "reference",
	`a{2,1}`:       "lower bound",
	`\p`:           `\p`,
	`\pL`:          `\p`,
	`\x`:           `\x`,
	`\x{`:          `\x`,
	`\x{110000}`:   `\x`,
	`\K`:           `\K`,
	`t\Kh`:         `\K`,
	`\X`:           `\X`,
	`(a)\1`:        "reference",
	`(?<x>a)\k<x>`: "reference",
	`(?~ab)`:       "(?~",
	`\y`:           `\y`,
	`\cA`:          `\c`,
	`\C-a`:         `\C`,
}

func TestUnsupported(t *testing.T) {
	for pattern, want := range unsupported {
		if _, err := Compile(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%q) gives the error %v; it should name %q", pattern, err, want)
		}
	}
}

// TestTruth replaces matches by the character 1, as the reference was made to.
func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) string, error) {
		var pattern string
		if err := json.Unmarshal(config, &pattern); err != nil {
			return nil, err
		}
		if unsupported[pattern] != "" {
			return nil, tokentest.ErrSkip
		}
		re, err := Compile(pattern)
		if err != nil {
			return nil, err
		}
		return func(s string) string {
			if s == "" {
				return s // the reference does not look
			}
			spans, err := re.FindAll(nil, s)
			if err != nil {
				t.Errorf("%q on %q: %v", pattern, s, err)
			}
			var b strings.Builder
			at := 0
			for _, m := range spans {
				b.WriteString(s[at:m.Start])
				b.WriteByte(1)
				at = m.End
			}
			b.WriteString(s[at:])
			return b.String()
		}, nil
	})
}
