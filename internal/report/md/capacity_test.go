package md

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// The response of a search stands in cells of its own, and what it does not have is empty.
func TestCapacity(t *testing.T) {
	for want, a := range map[string]capacity.Result{
		"| 38.2 | 36.9 | 39.5 | found |":     {Unit: "requests/s", Outcome: capacity.Found, Value: 38.2, Lo: 36.9, Hi: 39.5, Sentence: "38.2 requests/s."},
		"|  |  | 1 | missed at every load |": {Unit: "requests/s", Outcome: capacity.Never, Hi: 1, Sentence: "None."},
	} {
		p := &printer{}
		p.capacity(&result.Result{Capacity: &a})
		if text := p.String(); !strings.Contains(text, want) || !strings.Contains(text, "| Capacity, requests/s |") || !strings.Contains(text, a.Sentence) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
