package live

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/inferometer/inferometer/internal/stat"
)

// schema of native histograms: 8 buckets for each power of two, each 9 % wider than the one
// before. The buckets of the live histogram are less than a tenth as wide; one that lies across
// an edge of a bucket here is counted where its middle is.
const schema = 3

// bounds of classic histograms, in seconds.
var bounds = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}

// zeroThreshold is the width of the bucket around zero of a native histogram, in seconds.
const zeroThreshold = 1e-9

// histogram is a histogram of nanoseconds as Prometheus has it, classic and native in one.
func histogram(h *stat.Histogram) *dto.Histogram {
	out := &dto.Histogram{
		Schema: proto.Int32(schema), ZeroThreshold: proto.Float64(zeroThreshold), SampleSum: proto.Float64(time.Duration(h.Sum()).Seconds()),
	}
	classic := make([]uint64, len(bounds))
	var count, zero uint64
	var native spans
	h.Buckets(func(low, high int64, n uint64) bool {
		v := time.Duration(low + (high-low)/2).Seconds()
		count += n
		for i := len(bounds) - 1; i >= 0 && v <= bounds[i]; i-- {
			classic[i] += n
		}
		if v <= zeroThreshold {
			zero += n
		} else {
			native.add(int(math.Ceil(math.Log2(v)*(1<<schema))), n)
		}
		return true
	})
	for i, bound := range bounds {
		out.Bucket = append(out.Bucket, &dto.Bucket{UpperBound: proto.Float64(bound), CumulativeCount: proto.Uint64(classic[i])})
	}
	out.SampleCount, out.ZeroCount = proto.Uint64(count), proto.Uint64(zero)
	out.PositiveSpan, out.PositiveDelta = native.encoded()
	return out
}

// spans are the buckets of a native histogram that have samples, in order.
type spans struct {
	at []int
	n  []uint64
}

// add counts samples in a bucket, which is no earlier than the one before.
func (s *spans) add(bucket int, n uint64) {
	if last := len(s.at) - 1; last >= 0 && s.at[last] == bucket {
		s.n[last] += n
		return
	}
	s.at, s.n = append(s.at, bucket), append(s.n, n)
}

// encoded are the spans of adjacent buckets, and the counts as differences. One span of no
// length says that the histogram is a native one where it is empty.
func (s *spans) encoded() (list []*dto.BucketSpan, deltas []int64) {
	var before int64
	for i, bucket := range s.at {
		switch {
		case i == 0:
			list = append(list, &dto.BucketSpan{Offset: proto.Int32(int32(bucket)), Length: proto.Uint32(1)})
		case bucket == s.at[i-1]+1:
			*list[len(list)-1].Length++
		default:
			list = append(list, &dto.BucketSpan{Offset: proto.Int32(int32(bucket - s.at[i-1] - 1)), Length: proto.Uint32(1)})
		}
		deltas = append(deltas, int64(s.n[i])-before)
		before = int64(s.n[i])
	}
	if list == nil {
		list = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
	return list, deltas
}
