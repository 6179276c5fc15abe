package pretoken

import (
	"testing"

	"inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) []string, error) {
		p, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return func(s string) []string {
			var out []string
			for _, piece := range p.Split(nil, Piece{Text: s, First: true}) {
				out = append(out, piece.Text)
			}
			return out
		}, nil
	})
}
