package build

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// complete judges whether the run came to its end. What is left of one that was killed
// may be its best part: nothing tells what the rest would have been.
func (j *judge) complete() {
	if !j.facts.Incomplete {
		return
	}
	ended := 0
	for i := range j.plan.Stages {
		if record.FindStage(j.facts.Stages, i) != nil {
			ended++
		}
	}
	c := result.Check{Stage: wholeRun, Name: "complete", Value: float64(ended) / float64(max(len(j.plan.Stages), 1)), Budget: 1, Unit: metric.Share, Fix: "Let the run finish."}
	j.undecided(c, fmt.Sprintf("The run did not end properly (%d of %s did): it was killed, or is still going on.", ended, number.Plural(int64(len(j.plan.Stages)), "stage")))
}
