package plan

import (
	"math"
	"math/big"
	"strconv"
	"time"
)

// The words of a measurement and of levels.
const (
	WindowTime  = "time"  // a window lasts a time
	WindowCount = "count" // a window lasts until so many requests have ended
	WindowStage = "stage" // one window: the whole measured part of the stage

	SearchLinear = "linear"
	SearchBinary = "binary"
)

// Measurement says that each stage is measured in windows, one behind the other,
// until the last few agree. The zero Measurement is none: a stage is one piece.
type Measurement struct {
	Mode             string
	Interval         Duration
	Requests         int64
	Windows          int
	Stability        float64
	Percentile       int
	MaxTrials        int
	LatencyThreshold Duration
	ThroughputAlone  bool
	Faithful         bool
}

// On reports whether there is a measurement in windows.
func (m Measurement) On() bool { return m.Mode != "" }

// Window is how long a window by time lasts.
func (m Measurement) Window() time.Duration {
	d := time.Duration(m.Interval)
	if m.Faithful {
		d += d / 5
	}
	return d
}

// DefaultMeasurement is what a plan that says no more than `mode` means.
func DefaultMeasurement() Measurement {
	return Measurement{
		Mode: WindowTime, Interval: Duration(5 * time.Second), Requests: 50,
		Windows: 3, Stability: 0.1, MaxTrials: 10,
	}
}

// Levels make many stages of the plan's only one: its concurrency or its rate takes
// one value after the other. The zero Levels are none.
type Levels struct {
	List             []float64
	Start, End, Step float64
	Search           string
}

// On reports whether there are levels.
func (l Levels) On() bool { return len(l.List) > 0 || l.Start != 0 || l.End != 0 || l.Step != 0 }

// Value is the i-th value of a range, of numbers as their decimals: steps of 0.1 do not drift.
func (l Levels) Value(i int64) float64 {
	v := new(big.Rat).Mul(decimal(l.Step), new(big.Rat).SetInt64(i))
	f, _ := v.Add(v, decimal(l.Start)).Float64()
	return f
}

func decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		return new(big.Rat) // NaN and infinities, which no valid plan holds
	}
	return r
}

// AtLevel is the stage of a level: the stage as it stands, with this concurrency or rate.
func (s Stage) AtLevel(level float64) Stage {
	if s.Rate > 0 {
		s.Rate = level
	} else {
		s.Concurrency = int(math.Round(level))
	}
	return s
}

// Level is the stage's concurrency or rate.
func (s Stage) Level() float64 {
	if s.Rate > 0 {
		return s.Rate
	}
	return float64(s.Concurrency)
}

// Endless reports whether windows end a stage, which then needs no other end.
func (m Measurement) Endless() bool { return m.Mode == WindowTime || m.Mode == WindowCount }

// PerSecond is the rate of a stage's arrivals: the plan's, or what its intervals come to.
func (s Stage) PerSecond() float64 {
	if len(s.Intervals) == 0 {
		return s.Rate
	}
	var sum time.Duration
	for _, d := range s.Intervals {
		sum += time.Duration(d)
	}
	return float64(len(s.Intervals)) / sum.Seconds()
}

// Growth makes the load of a stage grow as responses come: Concurrency are sent at once, and Step
// more each time every request of the last step has had so many responses, To in all. None takes
// the place of one that has ended.
type Growth struct {
	To        int
	Step      int
	Responses int
}

// On reports whether the load grows.
func (g Growth) On() bool { return g != Growth{} }

// Capacity looks for the highest load that meets objectives. The plan's only stage says the kind of
// load, rate or concurrency, and where the search begins; levels become stages. Zero: none.
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

// Saturation finds the rate that the server can keep up with, and makes stages up to it of the
// plan's only one. The zero Saturation is none.
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
