package cli

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
)

// What is neither a topic nor a command is searched for.
func TestHelpSearches(t *testing.T) {
	for _, c := range []struct {
		typed string
		code  int
		want  string
	}{
		{"mooncake", tool.ExitOK, "The whole page: inferometer help traces"},
		{"moncake traces", tool.ExitOK, `searched for "mooncake traces" instead`},
		{"how do I use tls", tool.ExitOK, "--ca FILE"},
		{"capcity", tool.ExitOK, "The whole page: inferometer help capacity"},
		{"lora", tool.ExitOK, "LoRA adapters\n"},
		{"qqxyzzy", tool.ExitUsage, `no page has "qqxyzzy"`},
	} {
		code, out := call(append([]string{"help"}, strings.Fields(c.typed)...)...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("help %s: exit %d, want %d with %q\n%.800s", c.typed, code, c.code, c.want, out)
		}
	}
}
