package plan

import "fmt"

// Growth makes the load of a stage grow as answers come: its concurrency is how many
// requests are sent at once, and Step more follow each time every request of the last
// step has had so many responses, until there were To in all. No request is sent in
// place of one that has ended.
type Growth struct {
	To        int // requests in all; 0: the load does not grow
	Step      int
	Responses int
}

// On reports whether the load grows.
func (g Growth) On() bool { return g != Growth{} }

func growthSpec() codec[Growth] {
	return object(
		fieldOf("to", integer[int](), func(g *Growth) *int { return &g.To }, "Requests in all."),
		fieldOf("step", integer[int](), func(g *Growth) *int { return &g.Step }, "Requests added at a time."),
		fieldOf("responses", integer[int](), func(g *Growth) *int { return &g.Responses }, "Responses that each request of the last step must have had by then."),
	)
}

// growth checks a load that grows with the answers.
func (c *checker) growth(path string, p *Plan, s *Stage) {
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
		c.lacks(at, "target.streaming", "counts responses, and an answer that is not streamed has one", "set streaming to true")
	}
	if p.Levels.On() || p.Measurement.endless() {
		c.lacks(at, path, "cannot be combined with levels and windows, which need a load that goes on", "leave one of them out")
	}
	c.without(path+".", at, "cannot be combined with growth, which says how many requests there are and when", "leave one of them out",
		part{"ramp_to", s.RampTo != 0}, part{"duration", s.Duration != 0}, part{"requests", s.Requests != 0}, part{"warmup", s.Warmup != Warmup{}})
}
