package md_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// The response of a search stands in cells of its own, and what it does not have is empty.
func TestCapacity(t *testing.T) {
	for want, a := range map[string]capacity.Result{
		"| 38.2 | 36.9 | 39.5 | found |":     {Unit: "requests/s", Outcome: capacity.Found, Value: 38.2, Lo: 36.9, Hi: 39.5, Sentence: "38.2 requests/s."},
		"|  |  | 1 | missed at every load |": {Unit: "requests/s", Outcome: capacity.Never, Hi: 1, Sentence: "None."},
	} {
		var buf bytes.Buffer
		if err := md.Write(&buf, &result.Result{Capacity: &a}, md.Options{}); err != nil {
			t.Fatal(err)
		}
		if text := buf.String(); !strings.Contains(text, want) || !strings.Contains(text, "| Capacity, requests/s |") || strings.Count(text, a.Sentence) != 1 {
			t.Errorf("not %s, and %q once, in\n%s", want, a.Sentence, text)
		}
	}
}
