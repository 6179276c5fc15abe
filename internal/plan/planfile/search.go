package planfile

import (
	"cmp"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

func (d *Draft) inferCapacity() {
	p := &d.Plan
	c := &p.Capacity
	if !c.On() {
		return
	}
	def := plan.DefaultCapacity()
	c.Precision, c.MaxTime = cmp.Or(c.Precision, def.Precision), cmp.Or(c.MaxTime, def.MaxTime)
	if !d.Given("capacity.hold") {
		c.Hold = def.Hold
	}
	if !d.Given("stages") {
		p.Stages = []plan.Stage{{Rate: 1}}
	}
	if !d.Given("data.salt") && !p.Data.Pool && (p.Data.Source == plan.SourceFile || p.Data.Source == plan.SourceSynthetic && p.Data.Prompts > 0) {
		p.Data.Salt = plan.SaltStage // no level finds in a cache what another has asked
	}
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Rate != 0 && s.Arrival == "" {
			s.Arrival = plan.ArrivalPoisson // as users come
		}
	}
}

// capacity checks the search and the one stage that it makes others of.
func (c *checker) capacity(p *plan.Plan) {
	const at = "capacity."
	s := &p.Capacity
	if !s.On() {
		c.add(at+"objectives", "there are none", "give one, such as ttft.p99 < 200ms")
	}
	if s.On() && (s.Precision < 0.005 || s.Precision > 0.5) {
		c.add(at+"precision", fmt.Sprintf("must be from 0.5%% to 50%%, is %v", s.Precision), "such as 5%")
	}
	if s.On() && s.MaxTime < plan.Duration(5*time.Second) && s.MaxTime >= 0 {
		c.add(at+"max_time", fmt.Sprintf("must be 5s or more, is %s", s.MaxTime), "such as 15m")
	}
	if s.Max > 0 && len(p.Stages) == 1 && s.Max < p.Stages[0].Level() {
		c.add(at+"max", fmt.Sprintf("is %v, below the load %v that the search begins with", s.Max, p.Stages[0].Level()), "raise it, or begin lower")
	}
	if p.Levels.On() || p.Saturation.On() || p.Measurement.On() {
		c.add("capacity", "cannot be combined with levels, saturation or measurement", "leave the others out")
	}
	if len(p.Stages) != 1 {
		c.add("stages", fmt.Sprintf("a search for the capacity makes stages of one, and there are %d", len(p.Stages)), "give one")
		return
	}
	st := &p.Stages[0]
	c.stage("stages[0]", st, true)
	switch {
	case st.Duration != 0 || st.Requests != 0:
		c.add("stages[0]", "a search for the capacity finds out how long its levels last", "leave duration and requests out; capacity.max_time limits the search")
	case st.RampTo != 0 || st.Growth.On() || st.Warmup.Auto || st.Arrival == plan.ArrivalTrace || st.Arrival == plan.ArrivalSessions ||
		len(st.Intervals) > 0:
		c.add("stages[0]", "a search for the capacity needs one load at a time", "give a concurrency or a rate, without ramp_to, growth, warmup.auto, a trace, sessions or intervals")
	}
}

func (d *Draft) inferSaturation() {
	s := &d.Plan.Saturation
	if !s.On() {
		return
	}
	def := plan.DefaultSaturation()
	s.Requests, s.Timeout, s.Stages = cmp.Or(s.Requests, def.Requests), cmp.Or(s.Timeout, def.Timeout), cmp.Or(s.Stages, def.Stages)
	s.Duration, s.Percentile = cmp.Or(s.Duration, def.Duration), cmp.Or(s.Percentile, def.Percentile)
	if !d.Given("stages") {
		d.Plan.Stages = []plan.Stage{{Arrival: plan.ArrivalConstant}}
	}
}

// saturation checks the sweep and the one stage that it makes others of.
func (c *checker) saturation(p *plan.Plan) {
	const at = "saturation."
	s := &p.Saturation
	if s.Kind == "" {
		c.choice(at+"kind", "", []string{plan.SweepLinear, plan.SweepGeometric})
	}
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
	}
}
