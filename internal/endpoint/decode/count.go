package decode

import (
	"math"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// Count reads an integer that is not negative; -1 stands for anything else. One that
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

// Holds takes a value and reports whether there is anything in it: null, an empty string,
// list or object, and a list whose first element is such a one, hold nothing.
func Holds(s *jsonscan.Scanner) bool {
	holds := false
	switch s.Peek() {
	case '"':
		body, _ := s.String()
		holds = len(body) > 0
	case '[':
		s.Array()
		for first := true; s.More(); first = false {
			if first {
				holds = Holds(s)
			} else {
				s.Skip()
			}
		}
	case '{':
		s.Fields(func([]byte) { holds = true; s.Skip() })
	default:
		holds = s.Peek() != 'n'
		s.Skip()
	}
	return holds
}
