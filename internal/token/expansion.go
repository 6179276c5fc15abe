package token

import "github.com/inferometer/inferometer/internal/token/normal"

// Expansion is how many times longer the normalizer can make a text, at the worst.
func (e *Engine) Expansion() float64 {
	if n, ok := e.parts.Normalizer.(normal.Normalizer); ok {
		return normal.Expansion(n)
	}
	return 1
}
