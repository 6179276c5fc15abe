package plan

import (
	"cmp"
	"fmt"
	"sync"
	"time"
)

// Capacity looks for the highest load that meets objectives. The plan's only stage says which
// kind of load it is, a rate or a concurrency, and where the search begins; levels become
// stages. The zero Capacity is none.
type Capacity struct {
	Objectives []string // in the language of gates: "ttft.p99 < 200ms"; a level must meet them all
	Max        float64  // no level is above it; 0: no bound
	Precision  float64  // half of the interval at which the search ends, as a share of the answer
	MaxTime    Duration // of the search
	Hold       Duration // for which the answer is held before it is given; 0: it is not
}

// On reports whether the capacity is looked for.
func (c *Capacity) On() bool { return len(c.Objectives) > 0 }

// DefaultCapacity is what a plan that says no more than `objectives` means.
func DefaultCapacity() Capacity {
	return Capacity{Precision: 0.05, MaxTime: Duration(15 * time.Minute), Hold: Duration(time.Minute)}
}

var capacitySpec = sync.OnceValue(func() codec[Capacity] {
	return object(
		fieldOf("objectives", listOrOne("list of objectives", text()), func(c *Capacity) *[]string { return &c.Objectives },
			"What a level must meet, all of it: `ttft.p99 < 200ms`, `goodput >= 95%` (docs/gates.md)."),
		fieldOf("max", number(), func(c *Capacity) *float64 { return &c.Max }, "Highest load to try. Left out: no bound."),
		fieldOf("precision", share(), func(c *Capacity) *float64 { return &c.Precision },
			"Half width of the 95 % interval, as a share of the answer, at which the search ends; 0: 5%."),
		fieldOf("max_time", duration(), func(c *Capacity) *Duration { return &c.MaxTime }, "Time limit of the search; 0: 15m."),
		fieldOf("hold", duration(), func(c *Capacity) *Duration { return &c.Hold },
			"How long the answer is held before it is given, an eighth of `max_time` at most; 0: not at all. Left out: 60s."),
	)
})

func (d *Draft) inferCapacity() {
	p := &d.Plan
	c := &p.Capacity
	if !c.On() {
		return
	}
	def := DefaultCapacity()
	c.Precision, c.MaxTime = cmp.Or(c.Precision, def.Precision), cmp.Or(c.MaxTime, def.MaxTime)
	if !d.Given("capacity.hold") {
		c.Hold = def.Hold
	}
	if !d.Given("stages") {
		p.Stages = []Stage{{Rate: 1}}
	}
	if !d.Given("data.salt") && !p.Data.Pool && (p.Data.Source == SourceFile || p.Data.Source == SourceSynthetic && p.Data.Prompts > 0) {
		p.Data.Salt = SaltStage // no level finds in a cache what another has asked
	}
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Rate != 0 && s.Arrival == "" {
			s.Arrival = ArrivalPoisson // as users come
		}
	}
}

// capacity checks the search and the one stage that it makes others of.
func (c *checker) capacity(p *Plan) {
	const at = "capacity."
	s := &p.Capacity
	capacitySpec().check(c, "capacity", s)
	if !s.On() {
		c.add(at+"objectives", "there are none", "give one, such as ttft.p99 < 200ms")
	}
	if s.On() && (s.Precision < 0.005 || s.Precision > 0.5) {
		c.add(at+"precision", fmt.Sprintf("must be from 0.5%% to 50%%, is %v", s.Precision), "such as 5%")
	}
	c.time(at+"max_time", s.MaxTime)
	c.time(at+"hold", s.Hold)
	if s.On() && s.MaxTime < Duration(5*time.Second) && s.MaxTime >= 0 {
		c.add(at+"max_time", fmt.Sprintf("must be 5s or more, is %s", s.MaxTime), "such as 15m")
	}
	if c.amount(at+"max", s.Max, mostRate) && s.Max != 0 && len(p.Stages) == 1 && s.Max < p.Stages[0].Level() {
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
	case st.RampTo != 0 || st.Growth.On() || st.Warmup.Auto || st.Arrival == ArrivalTrace || st.Arrival == ArrivalSessions || len(st.Intervals) > 0:
		c.add("stages[0]", "a search for the capacity needs one load at a time", "give a concurrency or a rate, without ramp_to, growth, warmup.auto, a trace, sessions or intervals")
	}
}
