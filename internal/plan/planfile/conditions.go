package planfile

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
)

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
		c.time(at+".window", t.Window)
		c.count(at+".min_samples", int64(t.MinSamples), mostRequests)
		if t.Window == 0 {
			c.add(at+".window", "is missing", "such as 30s")
		}
	}
}
