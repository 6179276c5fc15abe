package result

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/inferometer/inferometer/internal/plan"
)

// StageName is the plan's name of a stage, else its number.
func StageName(p *plan.Plan, i int) string {
	return cmp.Or(p.Stages[i].Name, "stage "+strconv.Itoa(i+1))
}

// Load says in words what load a stage makes.
func Load(s *plan.Stage) string {
	switch g := s.Growth; {
	case s.Concurrency > 0 && g.On():
		return fmt.Sprintf("%d to %d in flight, %d more after every %d responses", s.Concurrency, g.To, g.Step, g.Responses)
	case s.Concurrency > 0 && s.RampTo > 0:
		return fmt.Sprintf("%d to %s in flight", s.Concurrency, plain(s.RampTo))
	case s.Concurrency > 0:
		return fmt.Sprintf("%d in flight", s.Concurrency)
	case s.Arrival == plan.ArrivalTrace:
		return "arrivals of a trace"
	case s.Arrival == plan.ArrivalSessions:
		return sessions(&s.Sessions)
	}
	text := plain(s.PerSecond())
	if s.RampTo > 0 {
		text += " to " + plain(s.RampTo)
	}
	text += "/s"
	if s.Arrival != "" {
		text += " " + s.Arrival
	}
	if s.Arrival == plan.ArrivalGamma {
		text += " (cv " + plain(s.CV) + ")"
	}
	if s.MaxInFlight > 0 {
		text += fmt.Sprintf(", at most %d in flight", s.MaxInFlight)
	}
	return text
}

// sessions says in words what load of sessions a stage makes.
func sessions(s *plan.SessionLoad) string {
	text := "sessions"
	if s.Rate > 0 {
		text += " at " + plain(s.Rate) + "/s"
	}
	switch {
	case s.Concurrent > 0:
		text += fmt.Sprintf(", %d under way", s.Concurrent)
	case s.Rate == 0:
		text += ", all at once"
	}
	return text
}

// plain writes a number with no more digits than it has.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
