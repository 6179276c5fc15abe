package detoken

import (
	"strings"
	"testing"

	"inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func([]string) string, error) {
		d, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return func(tokens []string) string { return strings.Join(d.Decode(tokens), "") }, nil
	})
}
