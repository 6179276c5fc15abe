package planfile

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// mostTrials and mostWindows are beyond what anyone waits for.
const (
	mostTrials    = 1_000_000
	mostWindows   = 1000
	mostStability = 1e6
)

func (c *checker) measurement(m *plan.Measurement) {
	if *m == (plan.Measurement{}) {
		return
	}
	const at = "measurement."
	c.choice(at+"mode", m.Mode, []string{plan.WindowTime, plan.WindowCount, plan.WindowStage})
	if m.Mode == plan.WindowTime && m.Interval == 0 {
		c.add(at+"interval", "a window by time needs one, more than 0", "such as 5s")
	}
	if m.Mode == plan.WindowCount && m.Requests == 0 {
		c.add(at+"requests", "a window by count needs one, more than 0", "such as 50")
	}
	if m.Percentile < 0 || m.Percentile > 99 {
		c.add(at+"percentile", fmt.Sprintf("must be from 1 to 99, is %d", m.Percentile), "left out, the average is compared")
	}
	if m.Windows < 1 || m.Windows > mostWindows {
		c.add(at+"windows", fmt.Sprintf("must be from 1 to %d, is %d", mostWindows, m.Windows), "3 is usual")
	}
	if m.MaxTrials < 1 || m.MaxTrials > mostTrials {
		c.add(at+"max_trials", fmt.Sprintf("must be from 1 to %d, is %d", mostTrials, m.MaxTrials), "such as 10")
	}
}

// levels checks what the only stage's load goes through.
func (c *checker) levels(p *plan.Plan) {
	l := &p.Levels
	if !l.On() {
		if l.Search != "" {
			c.add("levels.search", "there are no levels to search in", "give %v", message.Levels)
		}
		return
	}
	if len(p.Stages) != 1 {
		c.add("levels", fmt.Sprintf("make stages of one, and there are %d", len(p.Stages)), "give one stage")
	}
	rate := len(p.Stages) > 0 && p.Stages[0].Rate > 0
	for i, v := range l.List {
		c.level(fmt.Sprintf("levels.list[%d]", i), v, rate)
	}
	if len(l.List) > mostStages {
		c.add("levels.list", fmt.Sprintf("has %d, more than %d", len(l.List), mostStages), "")
	}
	if len(l.List) > 0 {
		if l.Start != 0 || l.End != 0 || l.Step != 0 || l.Search == plan.SearchBinary {
			c.add("levels", "a list and a range cannot be combined", "give one of them")
		}
		return
	}
	c.levelRange(p, rate)
}

func (c *checker) level(path string, v float64, rate bool) {
	most := float64(mostInFlight)
	if rate {
		most = mostRate
	}
	if !c.amount(path, v, most) {
		return
	}
	switch {
	case v == 0:
		c.add(path, "must be more than 0", "")
	case !rate && v != math.Trunc(v):
		c.add(path, fmt.Sprintf("a concurrency is a whole number, this is %v", v), "")
	}
}

func (c *checker) levelRange(p *plan.Plan, rate bool) {
	l := &p.Levels
	c.level("levels.start", l.Start, rate)
	c.level("levels.step", l.Step, rate)
	limit := p.Measurement.LatencyThreshold > 0
	switch {
	case l.End != 0:
		c.level("levels.end", l.End, rate)
		if l.End < l.Start {
			c.add("levels.end", fmt.Sprintf("%v is below the start, %v", l.End, l.Start), "")
		} else if l.Step > 0 && l.Search != plan.SearchBinary && (l.End-l.Start)/l.Step >= mostStages {
			c.add("levels.step", fmt.Sprintf("makes more than %d levels", mostStages), "")
		}
		if l.Search == plan.SearchBinary && !limit {
			c.lacks("levels.search", "measurement", "a binary search needs a latency threshold", "give %v", message.Threshold)
		}
	case l.Search == plan.SearchBinary:
		c.add("levels.end", "a binary search needs one", "give the highest level")
	case !limit:
		c.lacks("levels.end", "measurement", "open-ended levels need a latency threshold", "give %v or %v", message.LevelsEnd, message.Threshold)
	}
}

// mostIntervals bounds a list of intervals.
const mostIntervals = 1_000_000

// intervals checks arrivals that have a list of their own.
func (c *checker) intervals(path string, s *plan.Stage, endless bool) {
	var sum plan.Duration
	for _, d := range s.Intervals {
		sum += max(d, 0)
	}
	switch {
	case s.Arrival != plan.ArrivalIntervals:
		c.lacks(path+".intervals", path+".arrival", "only for arrival: intervals", "set arrival to intervals")
	case len(s.Intervals) == 0:
		c.add(path+".intervals", "are missing", "give the times between requests")
	case len(s.Intervals) > mostIntervals:
		c.add(path+".intervals", fmt.Sprintf("are %d, more than %d", len(s.Intervals), mostIntervals), "")
	case sum == 0:
		c.add(path+".intervals", "add up to 0: all requests would be due at once", "")
	case s.Concurrency != 0 || s.Rate != 0 || s.CV != 0 || s.RampTo != 0:
		c.lacks(path+".intervals", path, "cannot be combined with concurrency, rate, cv and ramp_to", "leave one of them out")
	case s.Duration == 0 && s.Requests == 0 && !endless:
		c.lacks(path+".intervals", path, "the load has no end", "give duration or requests")
	}
}
