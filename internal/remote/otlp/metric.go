package otlp

import "math"

// Metric is a metric with its points. One of Gauge, Sum and Histogram is set.
type Metric struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Unit        string     `json:"unit,omitempty"`
	Gauge       *Numbers   `json:"gauge,omitempty"`
	Sum         *Numbers   `json:"sum,omitempty"`
	Histogram   *Histogram `json:"histogram,omitempty"`
}

// Cumulative: a point counts from its Start on.
const Cumulative = 2

// Numbers are the points of a gauge or of a sum.
type Numbers struct {
	Points      []Number `json:"dataPoints"`
	Temporality int      `json:"aggregationTemporality,omitempty"` // of a sum
	Monotonic   bool     `json:"isMonotonic,omitempty"`            // of a sum: it never falls
}

// Number is a point of a gauge or of a sum. Int is set, or Double is.
type Number struct {
	Attributes []Attribute `json:"attributes,omitempty"`
	Start      int64       `json:"startTimeUnixNano,string,omitempty"`
	Time       int64       `json:"timeUnixNano,string"`
	Int        *int64      `json:"asInt,string,omitempty"`
	Double     *float64    `json:"asDouble,omitempty"`
}

// Histogram has the points of a histogram.
type Histogram struct {
	Points      []Buckets `json:"dataPoints"`
	Temporality int       `json:"aggregationTemporality"`
}

// Buckets are a point of a histogram: Counts has one more than Bounds, for what is above all
// of them; a bucket includes its upper bound.
type Buckets struct {
	Attributes []Attribute `json:"attributes,omitempty"`
	Start      int64       `json:"startTimeUnixNano,string"`
	Time       int64       `json:"timeUnixNano,string"`
	Count      uint64      `json:"count,string"`
	Sum        float64     `json:"sum"`
	Counts     Counts      `json:"bucketCounts"`
	Bounds     []float64   `json:"explicitBounds"`
	Exemplars  []Exemplar  `json:"exemplars,omitempty"`
	Min        float64     `json:"min"`
	Max        float64     `json:"max"`
}

// Exemplar is one of the values that were counted, and the span that it is of.
type Exemplar struct {
	Time    int64   `json:"timeUnixNano,string"`
	Value   float64 `json:"asDouble"`
	SpanID  string  `json:"spanId,omitempty"`
	TraceID string  `json:"traceId,omitempty"`
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

// protobuf is an opentelemetry.proto.metrics.v1.Metric.
func (m *Metric) protobuf() (out message) {
	out.text(1, m.Name)
	out.text(2, m.Description)
	out.text(3, m.Unit)
	switch {
	case m.Gauge != nil:
		out.bytes(5, m.Gauge.protobuf())
	case m.Sum != nil:
		out.bytes(7, m.Sum.protobuf())
	case m.Histogram != nil:
		var h message
		for i := range m.Histogram.Points {
			h.bytes(1, m.Histogram.Points[i].protobuf())
		}
		h.varint(2, uint64(m.Histogram.Temporality))
		out.bytes(9, h)
	}
	return out
}

// protobuf is an opentelemetry.proto.metrics.v1.Gauge or Sum.
func (n *Numbers) protobuf() (m message) {
	for i := range n.Points {
		p := &n.Points[i]
		var point message
		point.fixed(2, uint64(p.Start))
		point.fixed(3, uint64(p.Time))
		if p.Double != nil {
			point.fixed(4, math.Float64bits(*p.Double))
		}
		if p.Int != nil {
			point.fixed(6, uint64(*p.Int))
		}
		point.attributes(7, p.Attributes)
		m.bytes(1, point)
	}
	if n.Temporality != 0 {
		m.varint(2, uint64(n.Temporality))
	}
	if n.Monotonic {
		m.varint(3, 1)
	}
	return m
}

// protobuf is an opentelemetry.proto.metrics.v1.HistogramDataPoint.
func (b *Buckets) protobuf() (m message) {
	m.fixed(2, uint64(b.Start))
	m.fixed(3, uint64(b.Time))
	m.fixed(4, b.Count)
	m.fixed(5, math.Float64bits(b.Sum))
	m.packed(6, b.Counts)
	bounds := make([]uint64, len(b.Bounds))
	for i, v := range b.Bounds {
		bounds[i] = math.Float64bits(v)
	}
	m.packed(7, bounds)
	for _, e := range b.Exemplars {
		var x message
		x.fixed(2, uint64(e.Time))
		x.fixed(3, math.Float64bits(e.Value))
		x.id(4, e.SpanID)
		x.id(5, e.TraceID)
		m.bytes(8, x)
	}
	m.attributes(9, b.Attributes)
	m.fixed(11, math.Float64bits(b.Min))
	m.fixed(12, math.Float64bits(b.Max))
	return m
}
