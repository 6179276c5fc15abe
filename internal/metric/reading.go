package metric

import (
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// reading is how much longer a server takes to the first token of a longer prompt. The prompts of
// sessions grow with every turn, and where all sessions began together they grow all along.
type reading struct {
	typical float64 // tokens of the prompt in the middle
	share   float64 // of the time to its first token that each further token adds
}

const (
	nearby       = 32   // requests that are compared with one that was sent before them
	leastPairs   = 30   // of requests, for a slope
	agreeingPair = 0.65 // share of pairs in which the longer prompt took longer, for one that is no chance
	leastApart   = 0.1  // by which share of the typical one the prompts of a pair differ
	leastReading = 0.1  // of the typical time, that any first token takes
)

// reading looks at pairs of requests that were sent soon after one another and whose prompts are
// not equally long: the slope is the one in the middle. A server that changed has done so in
// between for a few of the pairs alone.
func (s *Series) reading() reading {
	var known []*arrival
	var lengths, firsts []float64
	for i := range s.kept {
		if v := &s.kept[i]; v.in > 0 && v.first != record.Never && !v.open {
			known = append(known, v)
			lengths, firsts = append(lengths, float64(v.in)), append(firsts, float64(v.first-s.begin(v)))
		}
	}
	if len(known) < leastPairs {
		return reading{}
	}
	typical, first := medianOf(slices.Clone(lengths)), medianOf(slices.Clone(firsts))
	var slopes []float64
	longer := 0
	for i := range known {
		for k := i + 1; k < min(len(known), i+1+nearby); k++ {
			apart := lengths[k] - lengths[i]
			if max(apart, -apart) < leastApart*typical {
				continue
			}
			slope := (firsts[k] - firsts[i]) / apart
			if slopes = append(slopes, slope); slope > 0 {
				longer++
			}
		}
	}
	if len(slopes) < leastPairs || float64(longer) < agreeingPair*float64(len(slopes)) || first <= 0 {
		return reading{}
	}
	return reading{typical: typical, share: medianOf(slopes) / first}
}

// expected is how long the first token of a request is expected to take, of that of a typical one.
func (r reading) expected(v *arrival) float64 {
	if r.share <= 0 || v.in == 0 {
		return 1
	}
	return max(leastReading, 1+r.share*(float64(v.in)-r.typical))
}
