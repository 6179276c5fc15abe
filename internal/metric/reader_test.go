package metric

import (
	"math"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// The samples of requests one by one are those that a fold summarizes.
func TestReaderAgreesWithFold(t *testing.T) {
	opts := Options{Closed: []bool{true}, Local: true, Bounds: fixed(0, time.Hour)}
	f, r := mustFold(t, opts), NewReader(opts)
	counts, sums := map[string]int64{}, map[string]float64{}
	for i := range 20 {
		rec := evenly(time.Duration(i)*msec, 10*msec, time.Duration(i+1)*msec, 5)
		rec.Out.Local = 5 + i
		switch i {
		case 7:
			rec = failed(rec, record.Stalled, 0, "")
		case 8:
			rec.Tail = &record.Tail{}
		}
		f.Add(rec)
		q := r.Read(rec)
		for _, d := range Defs() {
			d.Each(q, func(v int64) { counts[d.ID]++; sums[d.ID] += float64(v) / d.Scale })
		}
	}
	for _, s := range summarize(t, f)[0].Whole.Stats {
		if s.Def.Rate == nil && (s.N != counts[s.Def.ID] || math.Abs(s.Avg*float64(s.N)-sums[s.Def.ID]) > 1e-6*float64(s.N)) {
			t.Errorf("%s: %d samples, sum %v; the fold has %d, %v", s.Def.ID, counts[s.Def.ID], sums[s.Def.ID], s.N, s.Avg*float64(s.N))
		}
	}
	if counts["inter_token_latency"] == 0 {
		t.Error("there are no gaps")
	}
}
