package plan

import "time"

// Capacity looks for the highest load that meets objectives. The plan's only stage says which
// kind of load it is, a rate or a concurrency, and where the search begins; levels become
// stages. The zero Capacity is none.
type Capacity struct {
	Objectives []string // in the language of gates: "ttft.p99 < 200ms"; a level must meet them all
	Max        float64  // no level is above it; 0: no bound
	Precision  float64  // half of the interval at which the search ends, as a share of the response
	MaxTime    Duration // of the search
	Hold       Duration // for which the response is held before it is given; 0: it is not
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
