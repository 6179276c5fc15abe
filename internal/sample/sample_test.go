package sample

import (
	"math"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// stage is one of n requests, sent a second apart and recorded the other way round. Request i
// took i ms; one in ten failed.
func stage(n int) *StageSamples {
	s := empty([]string{"request_latency"})
	s.window = result.Span{End: float64(n)}
	for i := n - 1; i >= 0; i-- {
		rec := &record.Record{Sent: time.Duration(i) * time.Second}
		rec.End = rec.Sent + time.Duration(i)*time.Millisecond
		if i%10 == 0 {
			rec.Failure = &record.Failure{}
		}
		s.add(metric.NewReader(metric.Options{}).Read(rec))
	}
	s.sort()
	return s
}

func TestSamplesAreInTheOrderOfSending(t *testing.T) {
	got := stream([]*StageSamples{stage(20)}, "request_latency").Values
	if len(got) != 18 || got[0] != 1 || got[17] != 19 {
		t.Errorf("samples %v: want those of the 18 that succeeded, the first sent first", got)
	}
}

func TestKindsOfFigures(t *testing.T) {
	s := stage(1000)
	for id, want := range map[string]float64{"error_rate": 0.1, "request_throughput": 0.9, "request_latency": 500} {
		at := s.Intervals(id, []string{"avg"}, estimate.Confidence)
		if len(at) != 1 || math.Abs(at[0].Value-want) > 1e-9 {
			t.Errorf("%s: %+v, want %v", id, at, want)
		}
	}
	// A share has an interval also where no request counts.
	if at := s.Intervals("slo_attainment", []string{"avg"}, estimate.Confidence)[0]; !at.Known || at.Value != 0 || at.Hi <= 0 {
		t.Errorf("a share of none: %+v", at)
	}
	if at := s.Intervals("concurrency", []string{"avg"}, estimate.Confidence); at != nil {
		t.Errorf("of what single requests do not tell: %+v", at)
	}
	if d := Between([]*StageSamples{s}, []*StageSamples{s, s}, "error_rate", []string{"avg"}, estimate.Confidence); len(d) != 1 || d[0].Delta != 0 || d[0].P != 1 {
		t.Errorf("a side and itself: %+v", d)
	}
}
