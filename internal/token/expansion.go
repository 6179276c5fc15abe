package token

import "github.com/inferometer/inferometer/internal/token/normalizer"

// Expansion is how many times longer the normalizer can make a text, at the worst.
func (e *Pipeline) Expansion() float64 {
	if n := e.parts.Normalizer; n != nil {
		return normalizer.Expansion(n)
	}
	return 1
}
