package plan

import (
	"cmp"
	"fmt"
	"sync"
	"time"
)

// How rates are laid out below the saturation.
const (
	SweepLinear    = "linear"
	SweepGeometric = "geometric" // dense near the saturation
)

// Saturation finds the rate that the server can keep up with and makes the stages of
// rates up to it. The plan's only stage says all but the rate. The zero Saturation is
// none.
type Saturation struct {
	Kind       string   // SweepLinear or SweepGeometric
	Requests   int64    // of the search
	Timeout    Duration // of the search
	Stages     int
	Duration   Duration // of a stage
	Percentile float64  // of the drain rates that is taken, in the original's way of finding it
}

// On reports whether there is a sweep to saturation.
func (s Saturation) On() bool { return s.Kind != "" }

// DefaultSaturation is what a plan that says no more than `kind` means.
func DefaultSaturation() Saturation {
	return Saturation{
		Kind: SweepLinear, Requests: 2000, Timeout: Duration(time.Minute), Stages: 5,
		Duration: Duration(3 * time.Minute), Percentile: 95,
	}
}

var saturationSpec = sync.OnceValue(func() codec[Saturation] {
	return object(
		fieldOf("kind", word(SweepLinear, SweepGeometric), func(s *Saturation) *string { return &s.Kind },
			"How rates are spaced below saturation: evenly, or denser near it."),
		fieldOf("requests", integer[int64](), func(s *Saturation) *int64 { return &s.Requests }, "Requests per search step; 0: 2000."),
		fieldOf("timeout", duration(), func(s *Saturation) *Duration { return &s.Timeout }, "Time limit of a search step; 0: 1m."),
		fieldOf("stages", integer[int](), func(s *Saturation) *int { return &s.Stages }, "Number of stages; 0: 5."),
		fieldOf("duration", duration(), func(s *Saturation) *Duration { return &s.Duration }, "Length of each stage; 0: 3m."),
		fieldOf("percentile", number(), func(s *Saturation) *float64 { return &s.Percentile },
			"Percentile of the rates at which a burst drains that bounds the search from above; 0: 95."),
	)
})

func (d *Draft) inferSaturation() {
	s := &d.Plan.Saturation
	if !s.On() {
		return
	}
	def := DefaultSaturation()
	s.Requests, s.Timeout, s.Stages = cmp.Or(s.Requests, def.Requests), cmp.Or(s.Timeout, def.Timeout), cmp.Or(s.Stages, def.Stages)
	s.Duration, s.Percentile = cmp.Or(s.Duration, def.Duration), cmp.Or(s.Percentile, def.Percentile)
	if !d.Given("stages") {
		d.Plan.Stages = []Stage{{Arrival: ArrivalConstant}}
	}
}

// saturation checks the sweep and the one stage that it makes others of.
func (c *checker) saturation(p *Plan) {
	const at = "saturation."
	s := &p.Saturation
	if s.Kind == "" {
		c.choice(at+"kind", "", []string{SweepLinear, SweepGeometric})
	}
	saturationSpec().check(c, "saturation", s)
	if s.Requests < 2 || s.Requests > mostRequests {
		c.add(at+"requests", fmt.Sprintf("must be from 2, is %d", s.Requests), "such as 2000")
	}
	if s.Stages < 1 || s.Stages > mostStages {
		c.add(at+"stages", fmt.Sprintf("must be from 1 to %d, is %d", mostStages, s.Stages), "such as 5")
	}
	if !(s.Percentile >= 0 && s.Percentile <= 100) {
		c.add(at+"percentile", fmt.Sprintf("must be from 0 to 100, is %v", s.Percentile), "such as 95")
	}
	if p.Levels.On() {
		c.add("levels", "cannot be combined with a sweep to saturation", "leave one of them out")
	}
	if len(p.Stages) != 1 {
		c.add("stages", fmt.Sprintf("a sweep to saturation makes stages of one, and there are %d", len(p.Stages)), "give one, without a rate")
	}
	for i, st := range p.Stages {
		path := fmt.Sprintf("stages[%d]", i)
		if st.Concurrency != 0 || st.Rate != 0 || st.RampTo != 0 || st.Duration != 0 || st.Requests != 0 {
			c.add(path, "a sweep to saturation finds the rates itself", "leave concurrency, rate, duration and requests out")
		}
		if st.Arrival != "" {
			c.choice(path+".arrival", st.Arrival, arrivalNames())
		}
		c.time(path+".gap", st.Gap)
	}
}
