package sessions

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenTraces(t *testing.T) {
	mutate.Try(t, mutate.Usual, []string{trace, bailian, `{"input_length": 6, "hash_ids": [1], "output_length": 2}`}, func(text string) {
		if s, err := payload(t, text, plan.Payload{}); err == nil {
			s.Schedule()
			s.Notes()
		}
	})
}
