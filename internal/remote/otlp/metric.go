package otlp

// Metric is a metric with its points. One of Gauge, Sum and Histogram is set.
type Metric struct {
	Name        string     `json:"name" pb:"1"`
	Description string     `json:"description,omitempty" pb:"2"`
	Unit        string     `json:"unit,omitempty" pb:"3"`
	Gauge       *Numbers   `json:"gauge,omitempty" pb:"5"`
	Sum         *Numbers   `json:"sum,omitempty" pb:"7"`
	Histogram   *Histogram `json:"histogram,omitempty" pb:"9"`
}

// Cumulative: a point counts from its Start on.
const Cumulative = 2

// Numbers are the points of a gauge or of a sum.
type Numbers struct {
	Points      []Number `json:"dataPoints" pb:"1"`
	Temporality int      `json:"aggregationTemporality,omitempty" pb:"2"` // of a sum
	Monotonic   bool     `json:"isMonotonic,omitempty" pb:"3"`            // of a sum: it never falls
}

// Number is a point of a gauge or of a sum. Int is set, or Double is.
type Number struct {
	Attributes []Attribute `json:"attributes,omitempty" pb:"7"`
	Start      int64       `json:"startTimeUnixNano,string,omitempty" pb:"2,fixed"`
	Time       int64       `json:"timeUnixNano,string" pb:"3,fixed"`
	Int        *int64      `json:"asInt,string,omitempty" pb:"6,fixed"`
	Double     *float64    `json:"asDouble,omitempty" pb:"4"`
}

// Histogram has the points of a histogram.
type Histogram struct {
	Points      []Buckets `json:"dataPoints" pb:"1"`
	Temporality int       `json:"aggregationTemporality" pb:"2"`
}

// Buckets are a point of a histogram: Counts has one more than Bounds, for what is above all
// of them; a bucket includes its upper bound.
type Buckets struct {
	Attributes []Attribute `json:"attributes,omitempty" pb:"9"`
	Start      int64       `json:"startTimeUnixNano,string" pb:"2,fixed"`
	Time       int64       `json:"timeUnixNano,string" pb:"3,fixed"`
	Count      uint64      `json:"count,string" pb:"4,fixed"`
	Sum        float64     `json:"sum" pb:"5,always"`
	Counts     Counts      `json:"bucketCounts" pb:"6,fixed"`
	Bounds     []float64   `json:"explicitBounds" pb:"7"`
	Exemplars  []Exemplar  `json:"exemplars,omitempty" pb:"8"`
	Min        float64     `json:"min" pb:"11,always"`
	Max        float64     `json:"max" pb:"12,always"`
}

// Exemplar is one of the values that were counted, and the span that it is of.
type Exemplar struct {
	Time    int64   `json:"timeUnixNano,string" pb:"2,fixed"`
	Value   float64 `json:"asDouble" pb:"3,always"`
	SpanID  string  `json:"spanId,omitempty" pb:"4,hex"`
	TraceID string  `json:"traceId,omitempty" pb:"5,hex"`
}

// Len is how many points the metric has.
func (m *Metric) Len() int {
	switch {
	case m.Gauge != nil:
		return len(m.Gauge.Points)
	case m.Sum != nil:
		return len(m.Sum.Points)
	case m.Histogram != nil:
		return len(m.Histogram.Points)
	}
	return 0
}

// Cut takes at most n of the metric's points away, and gives the same metric with those.
func (m *Metric) Cut(n int) Metric {
	head, rest := *m, *m
	n = min(n, m.Len())
	numbers := func(all *Numbers) (before, after *Numbers) {
		a, b := *all, *all
		a.Points, b.Points = all.Points[:n], all.Points[n:]
		return &a, &b
	}
	switch {
	case m.Gauge != nil:
		head.Gauge, rest.Gauge = numbers(m.Gauge)
	case m.Sum != nil:
		head.Sum, rest.Sum = numbers(m.Sum)
	case m.Histogram != nil:
		a, b := *m.Histogram, *m.Histogram
		a.Points, b.Points = m.Histogram.Points[:n], m.Histogram.Points[n:]
		head.Histogram, rest.Histogram = &a, &b
	}
	*m = rest
	return head
}
