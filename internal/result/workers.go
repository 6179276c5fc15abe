package result

import (
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// workers says who sent the requests, and whether one of them was lost.
func (j *judge) workers() {
	list := j.facts.Header.Workers
	if len(list) == 0 {
		return
	}
	var names []string
	var bound time.Duration
	for _, w := range list {
		names, bound = append(names, w.Name), max(bound, w.ClockBound)
	}
	j.note(wholeRun, "%s sent the requests: %s. Their clocks agree within %s; no latency is taken across them.", number.Things(int64(len(list)), "worker"), strings.Join(names, ", "), number.Span(2*bound))
	lost := 0
	for i := range j.facts.Stages {
		lost = max(lost, j.facts.Stages[i].Lost)
	}
	if lost > 0 {
		j.check(Check{Stage: wholeRun, Name: "workers", Value: float64(lost), Unit: "workers", Do: "Look at its machine and at the network to it, and run again."},
			number.Things(int64(lost), "worker")+" of "+number.Count(int64(len(list)))+" ended or was cut off before the run did: the rest of its share was never sent.")
	}
}
