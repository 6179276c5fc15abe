package answer

import (
	"math"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// Count reads a whole number that is not negative; -1 stands for anything else. One that
// is too large for a number of tokens stays too large.
func Count(s *jsonscan.Scanner) int {
	if !s.IsNumber() {
		s.Skip()
		return -1
	}
	text := s.Number()
	n, err := strconv.Atoi(string(text))
	if err != nil {
		f, _ := strconv.ParseFloat(string(text), 64)
		if f != math.Trunc(f) {
			return -1
		}
		n = int(max(-1, min(f, tooMany)))
	}
	return max(-1, min(n, tooMany))
}
