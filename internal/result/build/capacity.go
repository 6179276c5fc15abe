package build

import (
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Capacity is what was seen in a search for the highest load that meets objectives.
type Capacity struct {
	Search  *capacity.Search
	Levels  []capacity.Trial
	Figures []Statistic // of the objectives, in their order
}

// Statistic is one of a metric: its id and the name of the statistic.
type Statistic struct{ Metric, Stat string }

// answer is what the search has found, with the figures that the stages have.
func (c *Capacity) answer(stages []result.Stage) *capacity.Result {
	levels := slices.Clone(c.Levels)
	for i := range levels {
		l := &levels[i]
		l.Seen = slices.Clone(l.Seen)
		for j := range l.Seen {
			if l.Stage >= len(stages) || l.Seen[j].Value == nil || l.Cut {
				continue
			}
			if st, ok := stages[l.Stage].Metrics[c.Figures[j].Metric]; ok {
				if v, ok := st.Named(c.Figures[j].Stat); ok {
					l.Seen[j].Value = &v
				}
			}
		}
		c.Search.Judge(l)
	}
	return c.Search.Answer(levels)
}

// ofServer are the checks of how a stage was served. In a search for the capacity some loads are
// meant to be too much, and the search itself says whether the server was steady.
func ofServer() []string {
	return []string{
		"achieved_requests", "achieved_rate", "requests", "failures", "unfinished", "throughput_drift", "latency_drift", "ttft_drift", "tpot_drift", "server_latency", "client_failures",
	}
}

// beyond is how far above the interval of the response levels still matter: those that are higher
// are too much however this client does there.
const beyond = 1.25

// capacity judges what the search for the capacity has found. Of its levels only the condition of
// this client counts, and only where it decides on the response.
func (j *judge) capacity(a *capacity.Result) {
	if a == nil {
		return
	}
	most := beyond * max(a.Hi, a.Value)
	if a.Misses != nil {
		most = max(most, a.Misses.Load)
	}
	j.checks = slices.DeleteFunc(j.checks, func(c result.Check) bool {
		if c.Stage < 0 {
			return false
		}
		at := slices.IndexFunc(a.Levels, func(l capacity.Trial) bool { return l.Stage == c.Stage })
		return slices.Contains(ofServer(), c.Name) || at < 0 || a.Levels[at].Load > most || !j.matters(&c, &a.Levels[at])
	})
	do := "Let the search finish, and check that the target answers."
	if len(a.Levels) > 0 {
		do = "Check that the target answers."
	}
	j.check(result.Check{Stage: wholeRun, Name: "capacity", Value: a.Value, Unit: loadUnit(a), OK: a.Outcome != capacity.Unknown, Fix: do}, a.Sentence)
	j.check(result.Check{Stage: wholeRun, Name: "capacity_steady", Unit: metric.Share, OK: a.Unsteady == "",
		Fix: "Find out what changed in the server, and search again."}, "The server was not steady: "+a.Unsteady+".")
	if a.Outcome != capacity.Found && a.Outcome != capacity.Always {
		return
	}
	longer := result.Check{Stage: wholeRun, Name: "capacity_interval", Unit: metric.Share, OK: a.Needs == 0, Fix: fmt.Sprintf("Let the search take about %s.", number.Duration(roundly(a.Needs)))}
	if longer.OK {
		j.check(longer, "")
	} else if a.Doubt != "" {
		j.undecided(longer, a.Doubt)
	} else {
		j.undecided(longer, fmt.Sprintf("The capacity is only known to lie between %s and %s %s: the interval is too wide.", number.Value(a.Lo, ""), number.Value(a.Hi, ""), a.Unit))
	}
	if search := j.facts.Capacity.Search; search.Hold > 0 && a.Value > 0 {
		held := result.Check{Stage: wholeRun, Name: "capacity_held", Value: 1000 * a.Held, Unit: metric.Milliseconds, OK: a.Held > 0,
			Fix: fmt.Sprintf("Let the search take about %s.", number.Duration(roundly(2*search.Seconds)))}
		if held.OK {
			j.check(held, "")
		} else {
			j.undecided(held, "The load that was found was not held before it was reported.")
		}
	}
}

func roundly(seconds float64) time.Duration {
	step := time.Minute
	if seconds > 3*3600 {
		step = time.Hour
	}
	d := time.Duration(seconds * float64(time.Second))
	return max((d + step - 1).Truncate(step), step)
}

// matters reports whether a check of this client at a level can change what the level says. One that
// was repeated says nothing. Where the objectives are met although requests went out late, they are met;
// and error bars that lie on one side of every bound change nothing.
func (j *judge) matters(c *result.Check, l *capacity.Trial) bool {
	switch {
	case l.Unused != "":
		return false
	case l.Meets() && c.Name != clientError && j.result.Capacity.By == capacity.Rate:
		return false // requests that went out late count from when they were due
	case c.Name == clientError:
		return j.straddles(l)
	case slices.Contains(ofDispatch(), c.Name) && j.result.Capacity.By == capacity.Rate:
		return !j.missedAnyway(l, c.Value)
	}
	return true
}

// missedAnyway reports whether a level misses an objective by more than requests can have that went out late by so
// many milliseconds: they count from when they were due, and those behind them may have waited for them as long.
func (j *judge) missedAnyway(l *capacity.Trial, late float64) bool {
	for k, o := range j.facts.Capacity.Search.Objectives {
		if k >= len(l.Seen) || l.Seen[k].Met != capacity.No || l.Seen[k].Value == nil {
			continue
		}
		by := *l.Seen[k].Value - o.Bound
		if o.Figure == "errors" || o.Unit == metric.Milliseconds && !o.Above && by > 2*late {
			return true
		}
	}
	return false
}

// straddles reports whether the bound of an objective lies within the error bar of its figure.
func (j *judge) straddles(l *capacity.Trial) bool {
	search := j.facts.Capacity
	for k := range search.Search.Objectives {
		o, f := &search.Search.Objectives[k], search.Figures[k]
		st, ok := j.result.Stages[l.Stage].Metrics[f.Metric]
		if !ok {
			continue
		}
		if bar, ok := st.Error[f.Stat]; ok && bar.Lo <= o.Bound && o.Bound <= bar.Hi {
			return true
		}
	}
	return false
}

func loadUnit(a *capacity.Result) string {
	if a.Requests > 0 { // of sessions, for which there is no unit of its own
		return "sessions/s"
	}
	if a.By == capacity.Concurrency {
		return metric.Requests
	}
	return metric.RequestRate
}
