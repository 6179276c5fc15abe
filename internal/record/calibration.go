package record

// Calibration is how far the figures were off when the built-in mock was measured at a load,
// ahead of a run or by itself: what the program reported, less what the mock really did.
type Calibration struct {
	Load     string  `json:"load"`                // in words
	Verdict  string  `json:"verdict"`             // of that measurement
	Requests int64   `json:"requests"`            // that succeeded
	Lost     int64   `json:"lost,omitempty"`      // answers that are not what the mock sent
	Rate     float64 `json:"requests_per_second"` // reached
	InFlight float64 `json:"in_flight"`           // on average
	Events   float64 `json:"events_per_second"`   // read
	Bars     []Bar   `json:"bars"`                // in the order of a report
}

// Bar is the error bar of one metric, in its unit.
type Bar struct {
	Metric  string  `json:"metric"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Samples int64   `json:"samples,omitempty"`
	True    float64 `json:"true_avg"` // what the mock did
	Error   float64 `json:"error"`    // the most that a figure was off by: its average, and percentiles with enough samples
	// Stated is the error of the average that the result stated, StatedP99 that of percentiles.
	Stated    float64 `json:"stated,omitempty"`
	StatedP99 float64 `json:"stated_p99,omitempty"`
	Avg       float64 `json:"avg"` // reported − true
	P50       float64 `json:"p50,omitempty"`
	P90       float64 `json:"p90,omitempty"`
	P99       float64 `json:"p99,omitempty"`
}
