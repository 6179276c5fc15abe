package plan_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]plan.Bytes{
		"0": 0, "4096": 4096, "64MiB": 64 << 20, "64 mib": 64 << 20, "1.5GB": 1_500_000_000, "2kB": 2000, "2KiB": 2048, "7B": 7, "1TiB": 1 << 40,
	} {
		if got, err := plan.ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "much", "1e30", "NaN", "1XB"} {
		if got, err := plan.ParseBytes(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
	for b, want := range map[plan.Bytes]string{0: "0", 1 << 20: "1MiB", 3 << 29: "1536MiB", 1500: "1500"} {
		if got := b.String(); got != want {
			t.Errorf("%d: %s, want %s", int64(b), got, want)
		}
	}
}
