package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// What the JSON report of each release has, and how it takes gaps between tokens.
// differs: genai-releases
func TestMetricsOfReleases(t *testing.T) {
	recs := []*record.Record{ns(0, []int{3, 5, 8}, "I", " like", " dogs"), ns(0, []int{4, 7, 10}, "I like", " cats and", " birds so")}
	const perRequest, perUser, second = OutputThroughputRequest, OutputThroughputUser, TimeToSecondToken
	for _, tt := range []struct {
		release     Release
		gaps        int
		has         string
		percentiles int
	}{
		{Release2403, 4, "", 6},
		{Release2404, 4, "", 6},
		{Release2406, 2, perRequest, 6},
		{Release2408, 2, perRequest, 6},
		{Release2412, 2, perRequest, 6},
		{Release2503, 2, second + " " + perRequest, 6},
		{Release2505, 2, second + " " + perUser, 6},
		{Latest, 2, second + " " + perUser, 9},
	} {
		o := options("triton")
		o.Release = tt.release
		f := add(o, recs...)
		s := f.Summary()
		var has []string
		for _, st := range s.Stats {
			if tt.release.Has(st.Name) && slices.Contains([]string{perRequest, perUser, second}, st.Name) {
				has = append(has, st.Name)
			}
		}
		if got := strings.Join(has, " "); got != tt.has || len(f.series[InterTokenLatency]) != tt.gaps || len(tt.release.Percentiles()) != tt.percentiles {
			t.Errorf("%s has %q, %d gaps and %d percentiles", tt.release, got, len(f.series[InterTokenLatency]), len(tt.release.Percentiles()))
		}
		if st, ok := s.Stat(perRequest); ok && (st.Min != 3/8e-9 || st.Max != 6/10e-9) {
			t.Errorf("%s: tokens per second of a request are %v to %v", tt.release, st.Min, st.Max)
		}
	}
}

// A request that took no time has no throughput, and one of another release none of its own.
func TestThroughputOfARequest(t *testing.T) {
	for _, c := range []struct {
		release Release
		end     int
		samples int
	}{{Release2406, 5, 0}, {Release2406, 6, 1}, {Latest, 6, 0}} {
		o := options("openai")
		o.Release = c.release
		if got := add(o, ns(5, []int{c.end}, "a")).series[OutputThroughputRequest]; len(got) != c.samples {
			t.Errorf("%s, from 5 to %d: %v", c.release, c.end, got)
		}
	}
}
