package record

import "time"

// Page is one look at a page of Prometheus metrics.
type Page struct {
	At      time.Duration `json:"at"` // when it was asked for
	Samples []Sample      `json:"samples,omitempty"`
	Error   string        `json:"error,omitempty"` // why there is none
}

// Figures are what the metrics of servers say of a stretch of time, as somebody else
// worked it out who had gathered them.
type Figures struct {
	Source  string        `json:"source"`
	Stage   int           `json:"stage"` // WholeRun: of all stages together
	Begin   time.Duration `json:"begin"`
	End     time.Duration `json:"end"`
	Figures []Figure      `json:"figures,omitempty"`
	Faults  []string      `json:"faults,omitempty"` // what was not available
}

// WholeRun stands in place of a stage.
const WholeRun = -1

// The kinds of figures.
const (
	FigureCounter   = "counter"
	FigureGauge     = "gauge"
	FigureHistogram = "histogram"
)

// Figure is what one metric says of a stretch of time, of all servers together. What
// was not said is nil, which is not the same as 0.
type Figure struct {
	Name   string `json:"name"`           // the same whatever the server
	Metric string `json:"metric"`         // the server's own name
	Kind   string `json:"kind"`           // FigureCounter, FigureGauge or FigureHistogram
	Unit   string `json:"unit,omitempty"` // of the values; "ratio" is 0 to 1
	// Total is by how much a counter rose, or how many values a histogram took in.
	Total  *float64 `json:"total,omitempty"`
	Rate   *float64 `json:"rate,omitempty"` // the same per second
	Mean   *float64 `json:"mean,omitempty"` // of a gauge over time, or of a histogram's values
	Median *float64 `json:"median,omitempty"`
	P90    *float64 `json:"p90,omitempty"`
	P99    *float64 `json:"p99,omitempty"`
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	// Within says between which values the quantiles of a histogram lie, which is all that one
	// says of them; nil means it is none, or somebody else has interpolated them.
	Within *QuantileBounds `json:"within,omitempty"`
}

// QuantileBounds are the buckets that the quantiles of a histogram lie in.
type QuantileBounds struct {
	Median Bucket `json:"median"`
	P90    Bucket `json:"p90"`
	P99    Bucket `json:"p99"`
}

// Bucket is a range of values.
type Bucket struct {
	Above float64  `json:"above"`           // greater than this, but for the first bucket of all
	UpTo  *float64 `json:"up_to,omitempty"` // and at most this; nil means no bound is known
	// Evenly is where the quantile would lie if the values were spread evenly within the bucket,
	// which is what Prometheus takes them to be; at its lower end where it has no upper one.
	Evenly float64 `json:"-"`
}
