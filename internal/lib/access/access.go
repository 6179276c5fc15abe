// Package access is what a server asks of the token that lets clients in.
package access

import "fmt"

// leastToken is how many characters a token has that cannot be guessed.
const leastToken = 16

// TokenError is that there is no token, or one that can be guessed.
type TokenError struct {
	name string
	has  int
}

// Error implements error.
func (e *TokenError) Error() string {
	if e.has == 0 {
		return fmt.Sprintf("set a token of %d characters or more", leastToken)
	}
	return fmt.Sprintf("%s has %d characters: use %d or more", e.name, e.has, leastToken)
}

// CheckToken refuses a token that a stranger could guess. The name is that of where it comes from.
func CheckToken(name, token string) error {
	if len(token) < leastToken {
		return &TokenError{name, len(token)}
	}
	return nil
}
