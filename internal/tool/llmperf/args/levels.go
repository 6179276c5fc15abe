package args

import (
	"iter"
	"strconv"
	"strings"
)

// levelTexts are the values of --concurrency, of which the last holds: the original reads
// each of them, and ends at the first that is no list of numbers.
type levelTexts []string

func (l *levelTexts) Set(text string) error {
	*l = append(*l, text)
	return nil
}

func (*levelTexts) Type() string { return "string" }

func (l *levelTexts) String() string {
	if len(*l) == 0 {
		return ""
	}
	return (*l)[len(*l)-1]
}

// levels goes through the concurrencies, and notes what is none.
func (p *parser) levels() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, text := range p.concurrency {
			last := i == len(p.concurrency)-1
			for part := range strings.SplitSeq(text, ",") {
				c, err := strconv.Atoi(strings.TrimSpace(part))
				switch {
				case err != nil || last && c < 1:
					p.fault("--concurrency", strconv.Quote(shorten(part))+" is not a concurrency", "such as 1,4,8")
				case last && !yield(c):
					return
				}
			}
		}
	}
}
