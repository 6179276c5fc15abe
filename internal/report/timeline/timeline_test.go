package timeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
)

const ms = time.Millisecond

// answered is a request whose first token came after 100 ms and the second at its end.
func answered(stage int, sent, end time.Duration) *record.Record {
	return &record.Record{
		Stage: stage, Due: sent, Sent: sent, End: end, Streamed: true, Cached: -1,
		Marks:  []record.Read{{User: sent + 100*ms, Kernel: record.Never}, {User: end, Kernel: record.Never}},
		Events: []record.Event{{Mark: 0, Tokens: 1}, {Mark: 1, Tokens: 1}},
		In:     record.Tokens{N: 7, Source: record.FromServer, Local: -1}, Out: record.Tokens{N: 2, Source: record.FromServer, Local: -1},
	}
}

func TestTimeline(t *testing.T) {
	line := New(time.Minute, metric.Options{})
	warm := answered(0, 100*ms, 600*ms)
	warm.Phase = record.Warmup
	failed := answered(0, 1200*ms, 0)
	failed.End, failed.Failure = record.Never, &record.Failure{Class: record.TimedOut, At: 2500 * ms}
	closing := answered(0, 0, 0)
	closing.Phase = record.Closing
	search := answered(-1, 0, 0)
	unsent := answered(0, record.Never, record.Never)
	for _, rec := range []*record.Record{warm, answered(0, 700*ms, 1500*ms), failed, closing, search, unsent,
		answered(1, 5*time.Second, 5300*ms)} {
		line.Add(rec)
	}
	line.Mark(&record.StageSummary{Stage: 0, StageTimes: record.StageTimes{Begin: 50 * ms, DrainEnd: 2600 * ms}})
	line.Mark(&record.StageSummary{Stage: 0, Worker: 1, StageTimes: record.StageTimes{Begin: 0, DrainEnd: time.Hour}})
	line.Mark(&record.StageSummary{Stage: -1, StageTimes: record.StageTimes{DrainEnd: time.Hour}})
	stages := line.Stages()
	if len(stages) != 2 || stages[0].Begin != 50*ms || stages[0].End != 2600*ms || stages[1].Begin != 5*time.Second ||
		stages[1].End != 5300*ms {
		t.Fatalf("%+v", stages)
	}
	type row struct {
		at             time.Duration
		warm, sent, ok int64
		failed, flight int64
		tokens, spread int64
	}
	var got []row
	for _, s := range stages[0].Steps {
		got = append(got, row{s.At, s.Sent[record.Warmup], s.Sent[record.Measured], s.OK[record.Measured],
			s.Failed[record.Measured][record.TimedOut], s.InFlight(), s.Out, int64(s.Spread[TTFT].Count)})
	}
	want := []row{{at: 50 * ms}, {time.Second, 1, 1, 0, 0, 1, 0, 0}, {2 * time.Second, 1, 2, 1, 0, 1, 2, 1}, {2600 * ms, 1, 2, 1, 1, 0, 2, 0}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
	if q := stages[0].Steps[2].Spread[TTFT].Quantile(0.5); math.Abs(q/0.1-1) > 0.011 {
		t.Errorf("the first token came after %v", q)
	}
}

// A long run has longer steps and not more of them.
func TestSteps(t *testing.T) {
	for _, c := range []struct{ length, want time.Duration }{{time.Minute, time.Second}, {time.Hour, time.Second},
		{61 * time.Minute, 2 * time.Second}, {24 * time.Hour, 32 * time.Second}} {
		line := New(c.length, metric.Options{})
		line.Add(answered(0, 0, c.length))
		if n := len(line.Stages()[0].Steps); line.step != c.want || n > mostSteps+2 {
			t.Errorf("%v: %d steps of %v", c.length, n, line.step)
		}
	}
}

func TestHistogram(t *testing.T) {
	var h, a, b NativeHistogram
	random := rand.New(rand.NewPCG(1, 2))
	var all []float64
	for i := range 1000 {
		v := math.Exp(random.NormFloat64()*3 - 3)
		all = append(all, v)
		h.Add(v)
		if i%2 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	slices.Sort(all)
	a.Merge(&b)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.999, 1} {
		want := all[int(math.Round(q*999))]
		if got := h.Quantile(q); math.Abs(got/want-1) > 0.011 || got != a.Quantile(q) {
			t.Errorf("%v: %v, %v, want %v", q, got, a.Quantile(q), want)
		}
	}
	var coarse uint64
	for i, n := range h.Coarse(3) {
		low, high := math.Exp2(float64(i-1)/8), math.Exp2(float64(i)/8)
		var in uint64
		for _, v := range all {
			if v > low && v <= high {
				in++
			}
		}
		if in != n {
			t.Errorf("bucket %d has %d of %d", i, n, in)
		}
		coarse += n
	}
	if coarse != h.Count || h.Count != 1000 {
		t.Errorf("%d of %d", coarse, h.Count)
	}
	var none NativeHistogram
	if none.Quantile(0.5) != 0 {
		t.Error("nothing has a quantile")
	}
	none.Add(0)
	none.Add(-1)
	if none.Zero != 2 || none.Quantile(1) != 0 {
		t.Errorf("%+v", none)
	}
}
