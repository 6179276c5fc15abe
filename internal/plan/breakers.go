package plan

import "fmt"

// What makes a breaker open.
const (
	TriggerConsecutive = "consecutive"
	TriggerRate        = "rate_over_window"
)

// Breaker ends the run when requests go wrong in a way that it describes.
type Breaker struct {
	Name string
	// Matches are expressions over a finished request; one that holds makes it a
	// sample. Rules say which samples are hits: any that holds; none: all samples.
	Matches  []string
	Rules    []string
	Triggers []Trigger // any of them opens the breaker
}

// Trigger is a condition over the samples of a breaker.
type Trigger struct {
	Kind       string   // TriggerConsecutive or TriggerRate
	Threshold  float64  // hits in a row, or share of hits
	Window     Duration // of a rate
	MinSamples int      // of a rate: fewer are not judged
}

func breakerSpec() codec[Breaker] {
	trigger := object(
		fieldOf("kind", named("`consecutive` or `rate_over_window`", TriggerConsecutive, TriggerRate), func(t *Trigger) *string { return &t.Kind },
			"Hits in a row, or the share of hits in a window of time."),
		fieldOf("threshold", number(), func(t *Trigger) *float64 { return &t.Threshold }, "How many in a row; for a window, the share from 0 to 1."),
		fieldOf("window", duration(), func(t *Trigger) *Duration { return &t.Window }, "Length of the window."),
		fieldOf("min_samples", integer[int](), func(t *Trigger) *int { return &t.MinSamples }, "Minimum samples in a window."),
	)
	return object(
		fieldOf("name", text(), func(b *Breaker) *string { return &b.Name }, "Name in reports."),
		fieldOf("matches", list("list of expressions", text()), func(b *Breaker) *[]string { return &b.Matches }, "Requests to sample: those that match any of these."),
		fieldOf("rules", list("list of expressions", text()), func(b *Breaker) *[]string { return &b.Rules }, "Samples that count as hits: those that match any of these. None: all."),
		fieldOf("triggers", list("list of triggers", trigger), func(b *Breaker) *[]Trigger { return &b.Triggers }, "Conditions that open it: any of these."),
	)
}

func (c *checker) breakers(breakers []Breaker) {
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

func (c *checker) trigger(at string, t *Trigger) {
	c.choice(at+".kind", t.Kind, []string{TriggerConsecutive, TriggerRate})
	switch t.Kind {
	case TriggerConsecutive:
		if !(t.Threshold >= 1) {
			c.add(at+".threshold", fmt.Sprintf("must be 1 or more, is %v", t.Threshold), "how many hits in a row")
		}
		if t.Window != 0 || t.MinSamples != 0 {
			c.add(at, "window and min_samples are only for rate_over_window", "leave them out")
		}
	case TriggerRate:
		c.share(at+".threshold", t.Threshold)
		c.time(at+".window", t.Window)
		c.count(at+".min_samples", int64(t.MinSamples), mostRequests)
		if t.Window == 0 {
			c.add(at+".window", "is missing", "such as 30s")
		}
	}
}
