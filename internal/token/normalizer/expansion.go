package normalizer

import "strings"

// Expansion is how many times longer a normalizer can make a text, at the worst. What it
// adds once, whatever the text, does not count.
func Expansion(n Normalizer) float64 {
	switch n := n.(type) {
	case nil, lowercase, nmt, prepend:
		return 1
	case sequence:
		times := 1.0
		for _, part := range n {
			times *= Expansion(part)
		}
		return times
	case replaceString:
		return max(1, float64(len(n.new))/float64(len(n.old)))
	case *replace:
		if n.re.MatchesEmpty() {
			return float64(len(n.content)) + 1
		}
		return max(1, float64(len(n.content)))
	case interface{ longest() int }:
		return max(1, float64(n.longest()))
	}
	return 1
}

// longest is the length of the longest text that it puts in place of another.
func (p *precompiled) longest() int {
	longest := 0
	for text := range strings.SplitSeq(p.texts, "\x00") {
		longest = max(longest, len(text))
	}
	return longest
}
