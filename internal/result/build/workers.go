package build

import (
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// workers says who sent the requests, and whether one of them was gone before the end.
func (j *judge) workers() {
	list := j.facts.Header.Workers
	if len(list) == 0 {
		return
	}
	var names, jumped []string
	var bound time.Duration
	for _, w := range list {
		if names, bound = append(names, w.Name), max(bound, w.ClockBound); w.ClockJumped {
			jumped = append(jumped, w.Name)
		}
	}
	j.addNote(wholeRun, "%s sent the requests: %s. Their clocks agreed within %s throughout; no latency is taken across them.", number.Plural(int64(len(list)), "worker"), strings.Join(names, ", "), number.Span(2*bound))
	if len(jumped) > 0 {
		j.addNote(wholeRun, "The clock of %s jumped during the run, or the coordinator's did.", strings.Join(jumped, ", "))
	}
	if n := len(j.facts.Missing); n > 0 {
		j.check(result.Check{Stage: wholeRun, Name: "workers", Value: float64(n), Unit: "workers", Fix: "Give the directories of all workers to inferometer report."},
			"The records of "+number.Plural(int64(n), "worker")+" of "+number.Count(int64(len(list)))+" are missing: "+strings.Join(j.facts.Missing, ", ")+".")
	}
	var lost, left, cut []string
	known := map[int]bool{}
	for i := range j.facts.Stages {
		for _, g := range j.facts.Stages[i].Gone {
			if known[g.Worker] {
				continue
			}
			known[g.Worker] = true
			switch text := nameOf(list, g.Worker) + " at " + number.Duration(g.At); {
			case g.Cut:
				cut = append(cut, text)
			case g.Told:
				left = append(left, text)
			default:
				lost = append(lost, text)
			}
		}
	}
	if len(known) == 0 {
		return
	}
	text, do := "", "Find out who stopped it, and run again."
	of := " of " + number.Count(int64(len(list)))
	if n := len(lost); n > 0 {
		do = "Look at its machine and at the network to it, and run again."
		text = number.Plural(int64(n), "worker") + of + " ended or " + pick(n, "was", "were") + " cut off before the run did (last heard: " + strings.Join(lost, ", ") + "). "
	}
	if n := len(left); n > 0 {
		text += number.Plural(int64(n), "worker") + of + " left before the run ended, told to stop (" + strings.Join(left, ", ") + "); in-flight requests are counted. "
	}
	if n := len(cut); n > 0 {
		do = "Look at the network between the workers, NATS and the coordinator, and run again."
		text += number.Plural(int64(n), "worker") + of + " did not hear the coordinator and stopped (" + strings.Join(cut, ", ") + "); in-flight requests are counted. "
	}
	if n := len(lost); n > 0 {
		text += "What " + pick(n, "it", "they") + " sent last may not be recorded. "
	}
	text += "The rest of " + pick(len(known), "its", "their") + " share was never sent."
	j.check(result.Check{Stage: wholeRun, Name: "workers", Value: float64(len(known)), Unit: "workers", Fix: do}, text)
}

// unheard is how many workers had a share of a stage of which not all records came here: those that
// were lost, and those whose directories are missing.
func (j *judge) unheard(stage int) int {
	n := len(j.facts.Missing)
	if mark := record.FindStage(j.facts.Stages, stage); mark != nil {
		for _, g := range mark.Gone {
			if !g.Told {
				n++
			}
		}
	}
	return n
}

// sent is how many requests were sent in a stage, of which so many are recorded.
func (j *judge) sent(stage int, recorded int64) string {
	text := number.Plural(recorded, "request")
	if j.unheard(stage) > 0 {
		return "at least " + text
	}
	return text
}

// pick is the word for one thing, or for several.
func pick(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// nameOf is the name of a worker, by its number from 1.
func nameOf(list []record.WorkerInfo, worker int) string {
	if worker < 1 || worker > len(list) { // a record file may have been altered
		return number.Count(int64(worker))
	}
	return list[worker-1].Name
}

// apart is by how much the clocks of two workers can have differed, each of which was off by so much at
// most; 0: one process sent all requests.
func apart(list []record.WorkerInfo) (most time.Duration) {
	if len(list) < 2 {
		return 0
	}
	for i := range list {
		most = max(most, 2*list[i].ClockBound)
	}
	return most
}

// together judges whether workers sent one load: each its share from the agreed time on, by like
// clocks.
func (j *judge) together(i int, mark *record.StageSummary, sum *metric.StageStats) {
	if len(j.facts.Header.Workers) < 2 {
		return
	}
	t := &sum.Whole.Totals
	if mark != nil {
		late := mark.StartDelay
		most := max(time.Duration(j.plan.Budgets.StartSkew), meanGap(t)/2)
		j.check(result.Check{Stage: i, Name: "start_skew", Value: result.Millis(late), Budget: result.Millis(most), Unit: metric.Milliseconds, OK: late <= most,
			Fix: "Give the workers more cores, keep other work off their machines, or bring them nearer to NATS, and run again."},
			fmt.Sprintf("The last worker began %s after the agreed moment (budget %s): until then only a part of the load was there, and what was due by then went at once.", number.Span(late), number.Span(most)))
	}
	differ := apart(j.facts.Header.Workers)
	most := min(time.Duration(j.plan.Budgets.ClockBound), time.Duration(j.plan.Budgets.Error*float64(t.End-t.Begin)))
	j.check(result.Check{Stage: i, Name: "clock_bound", Value: result.Millis(differ), Budget: result.Millis(most), Unit: metric.Milliseconds, OK: differ <= most,
		Fix: "Bring the workers and the coordinator nearer to NATS, or keep other work off their machines, and run again."},
		fmt.Sprintf("The clocks of two workers can have differed by %s (budget %s): requests of one can have gone so much earlier or later than those of another, and rates span both.", number.Span(differ), number.Span(most)))
}

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
