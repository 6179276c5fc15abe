package reader

import (
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenReports(t *testing.T) {
	seeds := []string{`{"load_summary":{"achieved_rate":2,"concurrency":1},"successes":{"latency":{"a":{"mean":1}},"throughput":{"x":1}}}`}
	mutate.Try(t, mutate.Usual, seeds, func(text string) {
		if s, err := Parse([]byte(text)); (s == nil) == (err == nil) {
			t.Errorf("%q: %v and %v", text, s, err)
		}
	})
}
