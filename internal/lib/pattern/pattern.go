// Package pattern has regular expressions that are compiled when they are first needed, not
// whenever the program starts.
package pattern

import (
	"regexp"
	"sync"
)

// New is a regular expression, as regexp.MustCompile makes it.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
