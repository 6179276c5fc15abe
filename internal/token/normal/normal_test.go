package normal

import (
	"testing"

	"inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) string, error) {
		n, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return n.Normalize, nil
	})
}
