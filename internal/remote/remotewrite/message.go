// Package remotewrite sends time series to what takes Prometheus remote-write: Prometheus
// itself, Mimir, Thanos, VictoriaMetrics and others. It knows the protocol, version 1, and
// nothing of what is measured.
package remotewrite

import (
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind is what the values of a metric are.
type Kind uint8

// The kinds of metrics, by the numbers of the protocol.
const (
	Counter Kind = iota + 1
	Gauge
	Native // a histogram in one sample
)

// Series is one time series. It has samples or, if it is of kind Native, histograms; both in
// the order of time.
type Series struct {
	Name       string
	Kind       Kind
	Help       string
	Labels     map[string]string // those without a value are left out
	Samples    []Sample
	Histograms []Histogram
}

// Sample is a value at a moment, in milliseconds since 1970.
type Sample struct {
	At    int64
	Value float64
}

// Histogram is a native histogram at a moment: bucket i ends with 2^(i/2^Schema).
type Histogram struct {
	At          int64
	Count, Zero uint64
	Sum         float64
	Schema      int
	Buckets     map[int]uint64
}

// zeroWidth is how wide the bucket around zero is, as clients of Prometheus have it.
const zeroWidth = 2.938735877055719e-39

// message is one in protobuf's binary form.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) varint(field protowire.Number, n uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
}

func (m *message) double(field protowire.Number, v float64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), math.Float64bits(v))
}

// labels adds the labels of a series, in the order of their names.
func (m *message) labels(s *Series) {
	all := map[string]string{"__name__": s.Name}
	maps.Copy(all, s.Labels)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == "" {
			continue
		}
		var pair message
		pair.text(1, name)
		pair.text(2, all[name])
		m.bytes(1, pair)
	}
}

func (s Sample) protobuf() (m message) {
	m.double(1, s.Value)
	m.varint(2, uint64(s.At))
	return m
}

func (h *Histogram) protobuf() (m message) {
	m.varint(1, h.Count)
	m.double(3, h.Sum)
	m.varint(4, protowire.EncodeZigZag(int64(h.Schema)))
	m.double(5, zeroWidth)
	m.varint(6, h.Zero)
	spans, deltas := h.spans()
	for _, s := range spans {
		var span message
		span.varint(1, protowire.EncodeZigZag(int64(s.offset)))
		span.varint(2, uint64(s.length))
		m.bytes(11, span)
	}
	var packed []byte
	for _, d := range deltas {
		packed = protowire.AppendVarint(packed, protowire.EncodeZigZag(d))
	}
	if len(packed) > 0 {
		m.bytes(12, packed)
	}
	m.varint(15, uint64(h.At))
	return m
}

// span is a run of buckets: how far behind the one before it begins, and how many there are.
type span struct{ offset, length int }

// spans are the buckets as the protocol has them: runs, and each count as the difference
// from the one before.
func (h *Histogram) spans() (spans []span, deltas []int64) {
	next, before := 0, int64(0)
	for k, i := range slices.Sorted(maps.Keys(h.Buckets)) {
		if k == 0 || i != next {
			spans = append(spans, span{offset: i - next})
		}
		spans[len(spans)-1].length++
		n := int64(h.Buckets[i])
		deltas = append(deltas, n-before)
		next, before = i+1, n
	}
	return spans, deltas
}

// metadata says what the metric of a series is.
func (s *Series) metadata() (m message) {
	m.varint(1, uint64(s.Kind))
	m.text(2, s.Name)
	m.text(4, s.Help)
	return m
}
