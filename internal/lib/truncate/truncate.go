// Package truncate cuts texts to what a message or a table has room for.
package truncate

import (
	"strconv"
	"strings"
)

// Text is a text of at most so many characters, and an ellipsis behind them where something
// is missing. What is cut is valid UTF-8.
func Text(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return strings.ToValidUTF8(text[:i], "") + "…"
		}
		n++
	}
	return text
}

// Fit is the same with the ellipsis among those characters.
func Fit(text string, most int) string {
	if Text(text, most) == text {
		return text
	}
	return Text(text, most-1)
}

// Input is a piece of a user's input, cut to what fits a line.
func Input(text string) string { return Text(text, 40) }

// Quote is the same in quotes.
func Quote(text string) string { return strconv.Quote(Input(text)) }
