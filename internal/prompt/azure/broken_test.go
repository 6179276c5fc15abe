package azure

import (
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenTraces(t *testing.T) {
	seeds := []string{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"}
	mutate.Try(t, mutate.Usual, seeds, func(text string) {
		if rows, err := Parse("trace.csv", "data.trace.lengths", []byte(text)); (err == nil) != (len(rows) > 0) {
			t.Errorf("%q: %d rows and %v", text, len(rows), err)
		}
	})
}
