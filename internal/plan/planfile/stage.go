package planfile

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/plan"
)

// stage checks one stage: one kind of load, and an end to it unless it is endless by
// itself.
func (c *checker) stage(path string, s *plan.Stage, endless bool) {
	if s.MinRequests != 0 && (s.Duration == 0 || s.Requests != 0 || s.Concurrency == 0 || s.RampTo != 0 || s.Growth.On()) {
		c.lacks(path+".min_requests", path+".duration", "needs a concurrency and a duration, and nothing else that ends the stage", "give duration, without requests and ramp_to")
	}
	if w := s.Warmup; w.Auto && (w.Duration != 0 || w.Requests != 0 || s.RampTo != 0) {
		c.add(path+".warmup.auto", "cannot be combined with a warm-up of a given length or with ramp_to", "give one of them")
	}
	if w := s.Warmup; w.Drain && (w.Requests == 0 || w.Duration != 0 || s.Arrival == plan.ArrivalTrace || s.Arrival == plan.ArrivalSessions) {
		c.add(path+".warmup.drain", "needs a warm-up of a number of requests, and has no place beside a trace or sessions", "give warmup.requests alone")
	}
	if s.Arrival != "" && s.Rate != 0 && s.Arrival != plan.ArrivalTrace && s.Arrival != plan.ArrivalIntervals && s.Arrival != plan.ArrivalSessions {
		c.choice(path+".arrival", s.Arrival, arrivalNames())
	}
	switch {
	case s.Arrival == plan.ArrivalSessions:
		c.sessionLoad(path, s)
	case s.Arrival == plan.ArrivalTrace:
		c.traced(path, s)
	case s.Arrival == plan.ArrivalIntervals || len(s.Intervals) > 0:
		c.intervals(path, s, endless)
	case s.Concurrency != 0 && s.Rate != 0:
		c.lacks(path+".rate", path+".concurrency", "cannot be combined with concurrency: a stage has one kind of load", "give concurrency or rate; max_in_flight caps a rate")
	case s.Rate != 0:
		c.open(path, s, endless)
	case s.Concurrency != 0:
		c.closed(path, s, endless)
	default:
		c.add(path, "has no load", "give concurrency or rate, more than 0")
	}
	if s.Draws != "" && s.Arrival != plan.ArrivalPoisson {
		c.lacks(path+".draws", path+".arrival", "only for arrival: poisson", "set arrival to poisson")
	}
	if s.Sessions != (plan.SessionLoad{}) && s.Arrival != plan.ArrivalSessions {
		c.lacks(path+".sessions", path+".arrival", "only for arrival: sessions", "set arrival to sessions")
	}
	c.ramp(path, s)
}

func (c *checker) open(path string, s *plan.Stage, endless bool) {
	switch {
	case s.Arrival == plan.ArrivalGamma && s.CV == 0:
		c.lacks(path+".cv", path+".arrival", "gamma arrivals need one, more than 0", "1 is Poisson, more is burstier")
	case s.Arrival != plan.ArrivalGamma && s.CV != 0:
		c.lacks(path+".cv", path+".arrival", "only for gamma arrivals", "set arrival to gamma")
	}
	if s.Duration == 0 && s.Requests == 0 && !endless {
		c.lacks(path+".rate", path, "the load has no end", "give duration or requests")
	}
	const least = 1e-6 // one request in twelve days
	if s.Rate > 0 && s.Rate < least {
		c.add(path+".rate", fmt.Sprintf("is %v, less than %v", s.Rate, least), "requests per second")
	}
}

// traced checks what belongs to arrivals that the data has.
func (c *checker) traced(path string, s *plan.Stage) {
	c.without(path+".", path+".arrival", "cannot be combined with arrivals of a trace: the data says when each request is due", "leave one of them out",
		part{"concurrency", s.Concurrency != 0}, part{"rate", s.Rate != 0}, part{"cv", s.CV != 0}, part{"ramp_to", s.RampTo != 0})
}

func (c *checker) closed(path string, s *plan.Stage, endless bool) {
	if s.Arrival != "" {
		c.lacks(path+".arrival", path+".rate", "only for a rate: in a closed loop a request goes when another ends", "give rate, or leave it out")
	}
	if s.CV != 0 {
		c.lacks(path+".cv", path+".rate", "only for a rate", "give rate, or leave it out")
	}
	if s.MaxInFlight != 0 {
		c.lacks(path+".max_in_flight", path+".rate", "only for a rate: concurrency says how many are in flight", "leave it out")
	}
	if s.Duration == 0 && s.Requests == 0 && !endless && !s.Growth.On() {
		c.lacks(path+".concurrency", path, "the load has no end", "give duration or requests")
	}
}

func (c *checker) ramp(path string, s *plan.Stage) {
	if s.RampTo == 0 {
		return
	}
	stage := path
	path += ".ramp_to"
	most := float64(mostRate)
	if s.Rate == 0 {
		most = mostInFlight
	}
	if !c.amount(path, s.RampTo, most) {
		return
	}
	if s.Rate == 0 && s.RampTo != math.Trunc(s.RampTo) {
		c.add(path, fmt.Sprintf("a concurrency is a whole number, this is %v", s.RampTo), "")
	}
	if s.Duration == 0 {
		c.lacks(path, stage, "a ramp needs a duration", "give duration: the time that the ramp takes")
	}
}

func arrivalNames() []string {
	return []string{plan.ArrivalConstant, plan.ArrivalPoisson, plan.ArrivalGamma}
}

// growth checks a load that grows with the responses.
func (c *checker) growth(path string, p *plan.Plan, s *plan.Stage) {
	if !s.Growth.On() {
		return
	}
	g, at := &s.Growth, path+".growth"
	for _, n := range []struct {
		name  string
		value int
	}{{"to", g.To}, {"step", g.Step}, {"responses", g.Responses}} {
		if n.value < 1 || n.value > mostInFlight {
			c.add(at+"."+n.name, fmt.Sprintf("must be from 1 to %d, is %d", mostInFlight, n.value), "")
		}
	}
	switch {
	case s.Concurrency < 1:
		c.lacks(at, path+".concurrency", "needs an initial concurrency", "give concurrency: the requests that are sent at once")
	case g.To < s.Concurrency:
		c.add(at+".to", fmt.Sprintf("is %d, less than the concurrency it begins with (%d)", g.To, s.Concurrency), "")
	case g.Step > 0 && (g.To-s.Concurrency)%g.Step != 0:
		c.add(at+".step", fmt.Sprintf("steps of %d do not lead from %d to %d", g.Step, s.Concurrency, g.To), "")
	}
	if !p.Target.Streaming {
		c.lacks(at, "target.streaming", "counts responses, and a request that is not streamed has one", "set streaming to true")
	}
	if p.Levels.On() || p.Measurement.Endless() {
		c.lacks(at, path, "cannot be combined with levels and windows, which need a load that goes on", "leave one of them out")
	}
	c.without(path+".", at, "cannot be combined with growth, which says how many requests there are and when", "leave one of them out",
		part{"ramp_to", s.RampTo != 0}, part{"duration", s.Duration != 0}, part{"requests", s.Requests != 0}, part{"warmup", s.Warmup != plan.Warmup{}})
}

// conditions checks the gates, where somebody can.
func (c *checker) conditions(p *plan.Plan) {
	if c.known.Gate == nil {
		return
	}
	for _, one := range p.Conditions.All() {
		if wrong, hint := c.known.Gate(one, p); wrong != "" {
			c.add(one.Path(), wrong, hint)
		}
	}
}

func (c *checker) breakers(breakers []plan.Breaker) {
	for i := range breakers {
		b, at := &breakers[i], fmt.Sprintf("breakers[%d]", i)
		if b.Name == "" {
			c.add(at+".name", "is missing", "needs a name")
		}
		if len(b.Matches) == 0 {
			c.add(at+".matches", "is missing", "say which requests count")
		}
		if len(b.Triggers) == 0 {
			c.add(at+".triggers", "is missing: it would never open", "give one")
		}
		for j := range b.Triggers {
			c.trigger(fmt.Sprintf("%s.triggers[%d]", at, j), &b.Triggers[j])
		}
	}
}

func (c *checker) trigger(at string, t *plan.Trigger) {
	c.choice(at+".kind", t.Kind, []string{plan.TriggerConsecutive, plan.TriggerRate})
	switch t.Kind {
	case plan.TriggerConsecutive:
		if !(t.Threshold >= 1) {
			c.add(at+".threshold", fmt.Sprintf("must be 1 or more, is %v", t.Threshold), "how many hits in a row")
		}
		if t.Window != 0 || t.MinSamples != 0 {
			c.add(at, "window and min_samples are only for rate_over_window", "leave them out")
		}
	case plan.TriggerRate:
		c.share(at+".threshold", t.Threshold)
		if t.Window == 0 {
			c.add(at+".window", "is missing", "such as 30s")
		}
	}
}
