package plan

import (
	"fmt"
	"slices"
)

// Conditions are the gates of a plan or of a command line, as they were written.
type Conditions struct {
	FailIf     []string // under which a run fails although it is valid
	FailUnless []string // that must be shown to hold, or it fails
}

// None reports whether there are none.
func (c Conditions) None() bool { return len(c.FailIf) == 0 && len(c.FailUnless) == 0 }

// All are all of them.
func (c Conditions) All() []Condition {
	var list []Condition
	for i, text := range c.FailIf {
		list = append(list, Condition{Text: text, index: i})
	}
	for i, text := range c.FailUnless {
		list = append(list, Condition{Text: text, Unless: true, index: i})
	}
	return list
}

// With are these conditions and others that are not among them yet.
func (c Conditions) With(more Conditions) Conditions {
	return Conditions{FailIf: AddMissing(slices.Clone(c.FailIf), more.FailIf),
		FailUnless: AddMissing(slices.Clone(c.FailUnless), more.FailUnless)}
}

// Add adds one.
func (c *Conditions) Add(one Condition) {
	if one.Unless {
		c.FailUnless = append(c.FailUnless, one.Text)
	} else {
		c.FailIf = append(c.FailIf, one.Text)
	}
}

// Condition is one gate.
type Condition struct {
	Text   string
	Unless bool // it must be shown to hold
	index  int
}

// Flag is what it is called on a command line.
func (c Condition) Flag() string {
	if c.Unless {
		return "--fail-unless"
	}
	return "--fail-if"
}

// Path is where it stands in a plan.
func (c Condition) Path() string {
	if c.Unless {
		return fmt.Sprintf("fail_unless[%d]", c.index)
	}
	return fmt.Sprintf("fail_if[%d]", c.index)
}

// IsOwn reports whether a condition is one of these by its place, and not one that was added.
func (c Conditions) IsOwn(one Condition) bool {
	if one.Unless {
		return one.index < len(c.FailUnless)
	}
	return one.index < len(c.FailIf)
}

// What makes a breaker open.
const (
	TriggerConsecutive = "consecutive"
	TriggerRate        = "rate_over_window"
)

// Breaker ends the run when requests go wrong in a way that it describes.
type Breaker struct {
	Name     string
	Matches  []string
	Rules    []string
	Triggers []Trigger
}

// Trigger is a condition over the samples of a breaker.
type Trigger struct {
	Kind       string
	Threshold  float64
	Window     Duration
	MinSamples int
}

// AddMissing adds the names that are not there yet.
func AddMissing(names, more []string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
