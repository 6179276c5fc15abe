// Package suggest finds the known name that a mistyped one was probably meant to
// be, so that a message about an unknown flag or field can say which one exists.
package suggest

import (
	"fmt"
	"strings"
)

// maxLen is the longest name that is compared; nothing that people type is longer.
const maxLen = 64

// Name returns the first name in known that is closest to want, or "" when none is close. Case,
// dashes and underscores make no difference.
func Name(want string, known []string) string {
	w := fold(want)
	if w == "" || len(w) > maxLen {
		return ""
	}
	best, bestDist := "", len(w)/3+1 // one mistake in three letters is the most
	for _, k := range known {
		f := fold(k)
		if f == "" || len(f) > maxLen {
			continue
		}
		d := distance(w, f)
		// A name cut short, or with something added, is meant more often than
		// its distance says.
		if d > 1 && min(len(w), len(f)) >= 3 && (strings.HasPrefix(f, w) || strings.HasPrefix(w, f)) {
			d = 1
		}
		if d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// Hint says which of the known names was probably meant, or which there are.
func Hint(want string, known []string) string {
	if n := Name(want, known); n != "" {
		return "did you mean " + n + "?"
	}
	return "one of " + strings.Join(known, ", ")
}

// DidYouMean is `; did you mean "x"?`, or nothing.
func DidYouMean(want string, known []string) string {
	if name := Name(want, known); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ""
}

func fold(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
}

// distance is how many bytes to insert, delete, replace or swap with a neighbour turn a into b.
func distance(a, b string) int {
	before := make([]int, len(b)+1) // the row before last
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
