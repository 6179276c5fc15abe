package plan

import "time"

// Capacity looks for the highest load that meets objectives. The plan's only stage says which
// kind of load it is, a rate or a concurrency, and where the search begins; levels become
// stages. The zero Capacity is none.
type Capacity struct {
	Objectives []string
	Max        float64
	Precision  float64
	MaxTime    Duration
	Hold       Duration
}

// On reports whether the capacity is looked for.
func (c *Capacity) On() bool { return len(c.Objectives) > 0 }

// DefaultCapacity is what a plan that says no more than `objectives` means.
func DefaultCapacity() Capacity {
	return Capacity{Precision: 0.05, MaxTime: Duration(15 * time.Minute), Hold: Duration(time.Minute)}
}

// How rates are laid out below the saturation.
const (
	SweepLinear    = "linear"
	SweepGeometric = "geometric" // dense near the saturation
)

// Saturation finds the rate that the server can keep up with and makes the stages of
// rates up to it. The plan's only stage says all but the rate. The zero Saturation is
// none.
type Saturation struct {
	Kind       string
	Requests   int64
	Timeout    Duration
	Stages     int
	Duration   Duration
	Percentile float64
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
