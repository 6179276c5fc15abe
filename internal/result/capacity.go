package result

import (
	"slices"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Capacity is what was seen in a search for the highest load that meets objectives.
type Capacity struct {
	Search  *capacity.Search
	Levels  []capacity.Level
	Figures []Statistic // of the objectives, in their order
}

// CapacityLevel is a level of a search for the capacity.
type CapacityLevel = capacity.Level

// Statistic is one of a metric: its id and the name of the statistic.
type Statistic struct{ Metric, Stat string }

// answer is what the search has found, with the figures that the stages have.
func (c *Capacity) answer(stages []Stage) *capacity.Answer {
	levels := slices.Clone(c.Levels)
	for i := range levels {
		l := &levels[i]
		l.Seen = slices.Clone(l.Seen)
		for j := range l.Seen {
			if l.Stage >= len(stages) || l.Seen[j].Value == nil || l.Cut {
				continue
			}
			if st, ok := stages[l.Stage].Metrics[c.Figures[j].Metric]; ok {
				if v, ok := st.named(c.Figures[j].Stat); ok {
					l.Seen[j].Value = &v
				}
			}
		}
		c.Search.Judge(l)
	}
	return c.Search.Answer(levels)
}

// named is a statistic of a metric by its name; false: it does not have it.
func (s *Stat) named(name string) (float64, bool) {
	switch {
	case name == "avg":
		return s.Avg, true
	case s.Spread == nil:
		return 0, false
	}
	return s.At(name), true
}

// ofServer are the checks of how a stage was served. In a search for the capacity some loads are
// meant to be too much, and the search itself says whether the server was steady.
func ofServer() []string {
	return []string{
		"achieved", "rate", "requests", "failures", "unfinished", "flow_drift", "latency_drift", "ttft_drift", "tpot_drift", "unended", "server_latency", "client_failures", "cut_off",
	}
}

// beyond is how far above the interval of the answer levels still matter: those that are higher
// are too much however this client does there.
const beyond = 1.25

// capacity judges what the search for the capacity has found. Of its levels only the condition of
// this client counts, and only where it decides on the answer.
func (j *judge) capacity(a *capacity.Answer) {
	if a == nil {
		return
	}
	most := beyond * max(a.Hi, a.Value)
	if a.Misses != nil {
		most = max(most, a.Misses.Load)
	}
	j.checks = slices.DeleteFunc(j.checks, func(c Check) bool {
		if c.Stage < 0 {
			return false
		}
		at := slices.IndexFunc(a.Levels, func(l capacity.Level) bool { return l.Stage == c.Stage })
		return slices.Contains(ofServer(), c.Name) || at < 0 || a.Levels[at].Load > most
	})
	j.check(Check{Stage: wholeRun, Name: "capacity", Value: a.Value, Unit: loadUnit(a), OK: a.Outcome != capacity.Unknown,
		Do: "Let the search finish, and check that the target answers."}, a.Sentence)
	j.check(Check{Stage: wholeRun, Name: "capacity_steady", Unit: metric.Share, OK: a.Unsteady == "",
		Do: "Find out what changed in the server, and search again."}, "The server was not steady: "+a.Unsteady+".")
}

func loadUnit(a *capacity.Answer) string {
	if a.By == capacity.Concurrency {
		return metric.Requests
	}
	return metric.RequestRate
}
