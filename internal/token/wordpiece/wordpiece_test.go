package wordpiece

import (
	"testing"

	"inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) []int32, error) {
		m, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return func(s string) []int32 { return m.Encode(nil, s) }, nil
	})
}
