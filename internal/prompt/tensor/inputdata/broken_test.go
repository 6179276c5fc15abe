package inputdata

import (
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenFiles(t *testing.T) {
	seeds := []string{
		`{"data": [{"A": [1, NaN], "B": {"content": ["x"], "shape": [1]}}]}`, `{"data": [[{"A": {"b64": "AA=="}}]], "validation_data": [[{"O": [1]}]]}`,
		`{"data": [{"payload": [{"model": "m"}], "delay": [1]}]}`,
	}
	mutate.Try(t, mutate.Usual, seeds, func(text string) {
		if data, err := parse("f", []byte(text)); err == nil && data.Steps() == 0 {
			t.Errorf("%q: no steps and no fault", text)
		}
	})
}
