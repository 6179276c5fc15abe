// Package remotewrite sends time series to what takes Prometheus remote-write: Prometheus itself,
// Mimir, Thanos, VictoriaMetrics and others. It knows the protocol, version 1, alone.
package remotewrite

import (
	"maps"
	"slices"
)

// MetricType is what the values of a metric are.
type MetricType uint8

// The kinds of metrics, by the numbers of the protocol.
const (
	Counter MetricType = iota + 1
	Gauge
	Native // a histogram in one sample
)

// Series is a time series of samples or, if of kind Native, histograms, in the order of time.
type Series struct {
	Name       string
	Kind       MetricType
	Help       string
	Labels     map[string]string // those without a value are left out
	Samples    []Sample
	Histograms []Histogram
}

// Sample is a value at a given time, in milliseconds since 1970.
type Sample struct {
	Value float64 `pb:"1,always"`
	At    int64   `pb:"2,always"`
}

// Histogram is a native histogram at a given time: bucket i ends with 2^(i/2^Schema).
type Histogram struct {
	At          int64
	Count, Zero uint64
	Sum         float64
	Schema      int
	Buckets     map[int]uint64
}

// zeroWidth is how wide the bucket around zero is, as clients of Prometheus have it.
const zeroWidth = 2.938735877055719e-39

// The messages of the protocol, with their numbers.
type (
	writeRequest struct {
		Series   []timeSeries `pb:"1"`
		Metadata []metadata   `pb:"3"`
	}
	timeSeries struct {
		Labels     []label           `pb:"1"`
		Samples    []Sample          `pb:"2"`
		Histograms []nativeHistogram `pb:"4"`
	}
	label struct {
		Name  string `pb:"1"`
		Value string `pb:"2"`
	}
	metadata struct {
		Kind MetricType `pb:"1"`
		Name string     `pb:"2"`
		Help string     `pb:"4"`
	}
	nativeHistogram struct {
		Count         uint64  `pb:"1"`
		Sum           float64 `pb:"3"`
		Schema        int     `pb:"4,zigzag"`
		ZeroThreshold float64 `pb:"5"`
		Zero          uint64  `pb:"6,always"` // the protocol has it by one of two names
		Spans         []span  `pb:"11"`
		Deltas        []int64 `pb:"12,zigzag"`
		At            int64   `pb:"15"`
	}
	// span is a run of buckets: how far behind the one before it begins, and how many there are.
	span struct {
		Offset int `pb:"1,zigzag"`
		Length int `pb:"2"`
	}
)

// labels are those of a series, in the order of their names.
func (s *Series) labels() (list []label) {
	all := map[string]string{"__name__": s.Name}
	maps.Copy(all, s.Labels)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			list = append(list, label{name, all[name]})
		}
	}
	return list
}

func (h *Histogram) native() nativeHistogram {
	spans, deltas := h.spans()
	return nativeHistogram{Count: h.Count, Sum: h.Sum, Schema: h.Schema, ZeroThreshold: zeroWidth, Zero: h.Zero, Spans: spans,
		Deltas: deltas, At: h.At}
}

// spans are the buckets as the protocol has them: runs, and counts as differences.
func (h *Histogram) spans() (spans []span, deltas []int64) {
	next, before := 0, int64(0)
	for k, i := range slices.Sorted(maps.Keys(h.Buckets)) {
		if k == 0 || i != next {
			spans = append(spans, span{Offset: i - next})
		}
		spans[len(spans)-1].Length++
		n := int64(h.Buckets[i])
		deltas = append(deltas, n-before)
		next, before = i+1, n
	}
	return spans, deltas
}
