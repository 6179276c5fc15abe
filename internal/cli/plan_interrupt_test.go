package cli

import (
	"io"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
)

// Commands that do not watch for Ctrl-C leave it its usual meaning.
func TestInterruptsKill(t *testing.T) {
	for _, args := range [][]string{{"plan", "schema"}, {"tokens", "--help"}} {
		restored := false
		Main(tool.Env{Args: args, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, Restore: func() { restored = true }})
		if !restored {
			t.Errorf("%v: an interrupt has no effect", args)
		}
	}
}
