package dialect

import (
	"cmp"
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// Percentiles are those that a Stat has, in order.
func Percentiles() []int { return []int{1, 5, 10, 25, 50, 75, 90, 95, 99} }

// Stat describes one metric. A metric of the whole run has an Avg alone.
type Stat struct {
	Name           string
	System         bool // one value for the whole run
	N              int
	Avg            float64
	Min, Max, Std  float64
	PercentileList []float64 // in the order of Percentiles
}

// Percentile is the value at one of Percentiles.
func (s *Stat) Percentile(p int) float64 {
	if i := slices.Index(Percentiles(), p); i >= 0 && i < len(s.PercentileList) {
		return s.PercentileList[i]
	}
	return math.NaN()
}

// Summary is all that came of a run. Times are in nanoseconds.
type Summary struct {
	Release  Release
	Stats    []Stat // in the order in which the original's JSON has them, whether or not the release has all
	Requests int    // that succeeded
	Empty    int    // those of them that had no text
	Failed   int
	Failures []record.FailureCount // the most frequent first
	Duration float64               // seconds, from the first request to the last response
}

// Session is what came of one conversation.
type Session struct {
	Name string
	*Summary
}

// Stat finds a metric.
func (s *Summary) Stat(name string) (*Stat, bool) {
	if i := slices.IndexFunc(s.Stats, func(st Stat) bool { return st.Name == name }); i >= 0 {
		return &s.Stats[i], true
	}
	return nil, false
}

// Summary works out the statistics of all that was added.
func (f *Fold) Summary() *Summary {
	s := &Summary{Release: f.opt.Release, Requests: f.seen, Empty: f.empty}
	s.Duration = float64(f.last-f.first) / nanosecondsPerSecond
	count := len(f.series[RequestLatency])
	numerator := count
	if f.opt.Faithful {
		numerator = f.seen // it counts requests without any text here, and nowhere else
	}
	switch {
	case count == 0 && f.seen > 0: // answers without any text
		s.nothing(f)
	case count > 0:
		s.system(RequestThroughput, float64(numerator)/s.Duration)
		s.series(f, RequestLatency)
		if len(f.opt.Goodput) > 0 {
			s.system(RequestGoodput, f.goodput(s.Duration))
		}
		s.system(RequestCount, float64(count))
		s.tokens(f)
	}
	for _, failure := range f.failures {
		s.Failures = append(s.Failures, *failure)
		s.Failed += int(failure.Count)
	}
	slices.SortFunc(s.Failures, func(a, b record.FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	return s
}

// nothing is what there is to say of answers that are all empty: rates of 0, and no times.
func (s *Summary) nothing(f *Fold) {
	s.system(RequestThroughput, 0)
	if len(f.opt.Goodput) > 0 {
		s.system(RequestGoodput, min(0, f.goodput(math.Inf(1))))
	}
	s.system(RequestCount, 0)
	s.system(OutputThroughput, 0)
}

func (s *Summary) tokens(f *Fold) {
	if f.opt.Kind != LLM {
		s.series(f, ImageThroughput, ImageLatency)
		return
	}
	s.series(f, TimeToFirstToken, TimeToSecondToken)
	if itl := f.series[InterTokenLatency]; slices.ContainsFunc(itl, func(v float64) bool { return v != 0 }) {
		s.series(f, InterTokenLatency)
	}
	sum := 0.0
	for _, n := range f.series[OutputSequenceLength] {
		sum += n
	}
	s.system(OutputThroughput, sum/s.Duration)
	s.series(f, OutputThroughputUser)
	if s.Release.Has(OutputThroughputRequest) {
		s.series(f, OutputThroughputRequest)
	}
	s.series(f, OutputSequenceLength, InputSequenceLength)
}

func (s *Summary) system(name string, v float64) {
	s.Stats = append(s.Stats, Stat{Name: name, System: true, N: 1, Avg: v})
}

// series describes the samples of metrics, where there are any.
func (s *Summary) series(f *Fold, names ...string) {
	fractions := []string{OutputThroughputUser, OutputThroughputRequest, ImageThroughput, ImageLatency}
	for _, name := range names {
		if samples := f.series[name]; len(samples) > 0 {
			st := Stat{Name: name, N: len(samples), Avg: mean(samples, !slices.Contains(fractions, name))}
			st.describe(samples, 1)
			s.Stats = append(s.Stats, st)
		}
	}
}

// goodput is the rate of good requests; -1: an objective is about what such requests lack.
func (f *Fold) goodput(seconds float64) float64 {
	if slices.ContainsFunc(f.opt.Goodput, func(o Bound) bool { return !f.opt.Kind.has(o.Metric) }) {
		return -1
	}
	return f.goodCount() / seconds
}

// has reports whether requests of the kind have values of a metric.
func (k Task) has(metric string) bool {
	switch metric {
	case RequestLatency:
		return true
	case ImageThroughput, ImageLatency:
		return k == Images
	default:
		return k == LLM
	}
}

// goodCount is the number of good requests. The original pairs metrics' samples by position,
// although requests without a second token lack some.
func (f *Fold) goodCount() float64 {
	if !f.opt.Faithful {
		return float64(f.good)
	}
	var times, rates []Bound
	for _, o := range f.opt.Goodput {
		if o.throughput() {
			rates = append(rates, o)
		} else {
			times = append(times, o)
		}
	}
	n := f.shortest(times)
	if len(rates) > 0 {
		n = f.shortest(rates)
	}
	good := 0
	for i := range n {
		if f.keepsTo(i, times, func(v, bound float64) bool { return v <= bound*nanosecondsPerMilli }) &&
			f.keepsTo(i, rates, func(v, bound float64) bool { return v >= bound }) {
			good++
		}
	}
	return float64(good)
}

// shortest is the length of the shortest of the series that objectives look at.
func (f *Fold) shortest(list []Bound) int {
	n := math.MaxInt
	for _, o := range list {
		n = min(n, len(f.series[o.Metric]))
	}
	return n
}

func (f *Fold) keepsTo(i int, list []Bound, fits func(v, bound float64) bool) bool {
	for _, o := range list {
		samples := f.series[o.Metric]
		if i >= len(samples) || !fits(samples[i], o.Value) {
			return false
		}
	}
	return true
}
