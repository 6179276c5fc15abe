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

func breakerSpec() codec[plan.Breaker] {
	trigger := object(
		fieldOf("kind", named("`consecutive` or `rate_over_window`", plan.TriggerConsecutive, plan.TriggerRate), func(t *plan.Trigger) *string { return &t.Kind },
			"Hits in a row, or the share of hits in a window of time."),
		fieldOf("threshold", number(), func(t *plan.Trigger) *float64 { return &t.Threshold }, "How many in a row; for a window, the share from 0 to 1."),
		fieldOf("window", duration(), func(t *plan.Trigger) *plan.Duration { return &t.Window }, "Length of the window."),
		fieldOf("min_samples", integer[int](), func(t *plan.Trigger) *int { return &t.MinSamples }, "Minimum samples in a window."),
	)
	return object(
		fieldOf("name", text(), func(b *plan.Breaker) *string { return &b.Name }, "Name in reports."),
		fieldOf("matches", list("list of expressions", text()), func(b *plan.Breaker) *[]string { return &b.Matches }, "Requests to sample: those that match any of these."),
		fieldOf("rules", list("list of expressions", text()), func(b *plan.Breaker) *[]string { return &b.Rules }, "Samples that count as hits: those that match any of these. None: all."),
		fieldOf("triggers", list("list of triggers", trigger), func(b *plan.Breaker) *[]plan.Trigger { return &b.Triggers }, "Conditions that open it: any of these."),
	)
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
