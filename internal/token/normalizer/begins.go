package normalizer

import (
	"strings"
	"unicode/utf8"
)

// Begins reports whether what s becomes begins with what its first character becomes,
// and not with what stands behind it: the pre-tokenizer Metaspace puts its sign only
// before such a beginning when it is told to put it first.
func Begins(n Normalizer, s string) bool {
	if s == "" {
		return true
	}
	r, size := utf8.DecodeRuneInString(s)
	switch n := n.(type) {
	case sequence:
		for _, each := range n {
			if !Begins(each, s) {
				return false
			}
			s = each.Normalize(s)
		}
	case strip:
		return !n.left || !n.space.Has(r)
	case stripAccents:
		return !n.marks.Has(r)
	case nmt:
		return n.Normalize(s[:size]) != ""
	case *bert:
		if n.clean && n.dropped.Has(r) {
			return false
		}
		first, _ := utf8.DecodeRuneInString(n.nfd.Normalize(s))
		return !n.accents || !n.accent.Has(first)
	case replaceString:
		return !strings.HasPrefix(s, n.old) || n.new != "" && len(n.old) == size
	case *replace:
		spans := n.re.MustFindAll(s)
		if len(spans) == 0 || spans[0].Start > 0 || spans[0].End == 0 {
			return true
		}
		return n.content != "" && spans[0].End == size
	}
	return true
}
