package repeat

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// judged are the figures by which runs are said to differ: averages, whose errors within a run
// are known best.
func judged() []struct{ metric, name string } {
	return []struct{ metric, name string }{
		{"time_to_first_token", "time to first token"}, {"inter_token_latency", "inter-token latency"}, {"request_latency", "request latency"},
	}
}

// How much further runs must be apart than their requests explain before it is said: by chance
// alone, fewer than one figure in a thousand is.
const (
	driftTail  = 3.09  // the normal deviate of one in a thousand
	driftLeast = 1.5   // times as far
	driftShare = 0.005 // of the figure: less is of no importance
)

// normal is the normal deviate of the intervals within runs.
const normal = 1.96

// drift says that runs differ more than the requests of one run do, where that is so of any
// figure: the one that is furthest beyond.
func (d *Document) drift() string {
	worst, text := 0.0, ""
	for i := range d.Stages {
		s := &d.Stages[i]
		for _, j := range judged() {
			f, ok := s.Metrics[j.metric].Stats[average]
			if !ok || f.Within == nil || f.CV == nil || *f.Within <= 0 || *f.CV < driftShare {
				continue
			}
			df := float64(len(f.Runs) - 1)
			expected := *f.Within / normal
			// The bound of chi squared over its degrees of freedom, by Wilson and Hilferty.
			bound := math.Pow(1-2/(9*df)+driftTail*math.Sqrt(2/(9*df)), 3)
			if ratio := f.Std / expected; df >= 2 && ratio > max(driftLeast, math.Sqrt(bound)) && ratio > worst {
				worst = ratio
				text = fmt.Sprintf("Runs differ more than requests do: %s (%s) varies by %s between runs, where its requests explain %s. "+
					"The host or the server drifts, and the interval of a single run is too narrow: rely on the one over runs.",
					j.name, s.Load, number.Share(*f.CV), number.Share(expected/math.Abs(f.Mean)))
			}
		}
	}
	return text
}
