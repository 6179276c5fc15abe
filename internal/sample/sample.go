// Package sample holds single requests as the mathematics of intervals takes them: the samples of
// a metric in the order in which their requests were sent, and what requests brought at times.
package sample

import (
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// mostPooled is how many samples of a metric with several in each request are kept of a stage: of
// more it is every second, every fourth and so on. They are for intervals; figures are made of all.
const mostPooled = 4 << 20

// StageSamples is the measured requests of a stage, in the order they were recorded. Samples are
// kept in half the bytes that they are worked with, and unpacked one metric at a time.
type StageSamples struct {
	sent    []int64   // in ns
	end     []float64 // in s
	out, in []float32 // tokens; NaN: not known
	ok      []bool
	good    []bool
	left    []bool   // their users went away: they are neither ok nor failed
	seq     []int64  // places in the run
	prompt  []uint64 // hashes; 0: not known
	first   int64    // place of the stage's first request, also of one that is not measured
	columns map[string]*column
	all     []*column // the columns, in any order
	window  result.Span
	order   []uint32       // by when they were sent
	parts   []StageSamples // that were joined and are not gathered yet
}

type column struct {
	def    *metric.Def
	values []float32 // of a metric with one for each request: NaN where it has none
	ends   []int32   // where those of each request end, for a metric with several
	every  int64     // of several, one in so many is kept, a power of two
	seen   int64     // so far
}

func empty(metrics []string) *StageSamples {
	s := &StageSamples{columns: map[string]*column{}, first: math.MaxInt64}
	for _, id := range metrics {
		if d, ok := metric.ByID(id); ok && d.Rate == nil {
			s.columns[id] = &column{def: &d, every: 1}
		}
	}
	s.all = slices.Collect(maps.Values(s.columns))
	return s
}

// Len is the number of requests.
func (s *StageSamples) Len() int { return len(s.ok) }

func (s *StageSamples) add(r *metric.Request) {
	sent := r.Sent
	if sent == record.Never {
		sent = r.Due
	}
	tokens := func(n int, known bool) float32 {
		if !known {
			return float32(math.NaN())
		}
		return float32(n)
	}
	s.sent = append(s.sent, int64(sent))
	s.end = append(s.end, r.End.Seconds())
	s.out = append(s.out, tokens(r.Tokens, r.Tokens >= 0))
	s.in = append(s.in, tokens(r.In.N, r.In.Source != record.Uncounted))
	s.seq, s.prompt = append(s.seq, r.Seq), append(s.prompt, r.Prompt)
	s.ok, s.good = append(s.ok, r.Failure == nil), append(s.good, r.Good)
	s.left = append(s.left, r.Failure.Left())
	for _, c := range s.all {
		c.add(r)
	}
}

func (c *column) add(r *metric.Request) {
	if c.def.Many == nil {
		v := math.NaN()
		if n, ok := c.def.Only(r); ok {
			v = float64(n) / c.def.Scale
		}
		c.values = append(c.values, float32(v))
		return
	}
	c.def.Each(r, func(n int64) { c.values = append(c.values, float32(float64(n)/c.def.Scale)) })
	c.ends = append(c.ends, int32(len(c.values)))
}

// join adds the requests of a part of the records, which stands behind what was read so far. The part is
// empty afterwards. What it has is not copied before all parts are there.
func (s *StageSamples) join(part *StageSamples) {
	s.first = min(s.first, part.first)
	taken := *part
	taken.columns = map[string]*column{}
	for id, c := range part.columns {
		if c.def.Many != nil {
			s.columns[id].join(c)
			c.values, c.ends = c.values[:0], c.ends[:0]
			continue
		}
		taken.columns[id] = &column{values: c.values}
		c.values = make([]float32, 0, len(c.values))
	}
	s.parts = append(s.parts, taken)
	n := part.Len()
	*part = StageSamples{
		sent: make([]int64, 0, n), end: make([]float64, 0, n), out: make([]float32, 0, n), in: make([]float32, 0, n),
		ok: make([]bool, 0, n), good: make([]bool, 0, n), left: make([]bool, 0, n), seq: make([]int64, 0, n), prompt: make([]uint64, 0, n),
		columns: part.columns, all: part.all, first: math.MaxInt64,
	}
}

// gather puts the parts that were joined into one.
func (s *StageSamples) gather() {
	var working sync.WaitGroup
	gather(&working, s, func(s *StageSamples) *[]int64 { return &s.sent })
	gather(&working, s, func(s *StageSamples) *[]float64 { return &s.end })
	gather(&working, s, func(s *StageSamples) *[]float32 { return &s.out })
	gather(&working, s, func(s *StageSamples) *[]float32 { return &s.in })
	gather(&working, s, func(s *StageSamples) *[]bool { return &s.ok })
	gather(&working, s, func(s *StageSamples) *[]bool { return &s.good })
	gather(&working, s, func(s *StageSamples) *[]bool { return &s.left })
	gather(&working, s, func(s *StageSamples) *[]int64 { return &s.seq })
	gather(&working, s, func(s *StageSamples) *[]uint64 { return &s.prompt })
	for id, c := range s.columns {
		if c.def.Many == nil {
			gather(&working, s, func(s *StageSamples) *[]float32 { return &s.columns[id].values })
		}
	}
	working.Wait()
	s.parts = nil
}

// gather puts one list of the parts of a stage behind one another.
func gather[T any](working *sync.WaitGroup, s *StageSamples, of func(*StageSamples) *[]T) {
	working.Go(func() {
		n := 0
		for i := range s.parts {
			n += len(*of(&s.parts[i]))
		}
		all := make([]T, 0, n)
		for i := range s.parts {
			part := of(&s.parts[i])
			all, *part = append(all, *part...), nil
		}
		*of(s) = all
	})
}

// join adds the samples that are kept of a part, of a metric with several in each request.
func (c *column) join(part *column) {
	begin := int32(0)
	for _, end := range part.ends {
		for i := begin + int32(-c.seen&(c.every-1)); i < end; i += int32(c.every) {
			c.values = append(c.values, part.values[i])
		}
		c.seen += int64(end - begin)
		c.ends, begin = append(c.ends, int32(len(c.values))), end
	}
	for len(c.values) > mostPooled {
		c.halve()
	}
}

// halve keeps every other of the samples that are kept.
func (c *column) halve() {
	c.every *= 2
	n := (len(c.values) + 1) / 2
	for i := range n {
		c.values[i] = c.values[2*i]
	}
	c.values = c.values[:n]
	for i, end := range c.ends {
		c.ends[i] = (end + 1) / 2
	}
}

// sort finds the order in which requests were sent.
func (s *StageSamples) sort() {
	keys := make([]uint64, len(s.sent))
	for i, sent := range s.sent {
		keys[i] = signed(sent)
	}
	s.order, s.sent = stat.Ascending(keys), nil
}

// signed orders numbers as they are, those below 0 too.
func signed(n int64) uint64 { return uint64(n) ^ 1<<63 }

// append adds the samples of a metric to those of earlier runs.
func (s *StageSamples) append(to *estimate.Samples, id string) {
	several, column := s.several(id), s.columns[id]
	for _, i := range s.order {
		before := len(to.Values)
		to.Values = s.appendSamples(to.Values, id, column, i)
		if several && len(to.Values) > before {
			to.Ends = append(to.Ends, len(to.Values))
		}
	}
}

// several reports whether a request has several samples of a metric.
func (s *StageSamples) several(id string) bool {
	c := s.columns[id]
	return c != nil && c.def.Many != nil
}

// appendSamples adds the samples of a metric, of which there may be a column, that a request has. Of a share that is a 1 where the request
// counts and else a 0: the mean is the share of those that do.
func (s *StageSamples) appendSamples(to []float64, id string, c *column, i uint32) []float64 {
	switch {
	case c == nil && s.left[i]:
		return to
	case c == nil:
		if id == errorRate && !s.ok[i] || id == attainment && s.good[i] {
			return append(to, 1)
		}
		return append(to, 0)
	case c.ends == nil:
		if v := float64(c.values[i]); !math.IsNaN(v) {
			to = append(to, v)
		}
		return to
	}
	begin := int32(0)
	if i > 0 {
		begin = c.ends[i-1]
	}
	for _, v := range c.values[begin:c.ends[i]] {
		to = append(to, float64(v))
	}
	return to
}

// The metrics that are shares of requests.
const (
	errorRate  = "error_rate"
	attainment = "slo_attainment"
)

// isShare reports whether a metric is a share of requests.
func isShare(id string) bool { return id == errorRate || id == attainment }

// isFlow reports whether a metric is a rate of what requests bring.
func isFlow(id string) bool {
	return slices.Contains([]string{"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "request_goodput"}, id)
}

// flow adds what requests brought to that of earlier runs, behind them.
func (s *StageSamples) flow(to *estimate.Flow, id string) {
	shift := to.End - s.window.Begin
	to.At, to.Amount = slices.Grow(to.At, len(s.order)), slices.Grow(to.Amount, len(s.order))
	for _, i := range s.order {
		if !s.ok[i] || id == "request_goodput" && !s.good[i] {
			continue
		}
		amount := 1.0
		switch id {
		case "output_token_throughput":
			amount = float64(s.out[i])
		case "input_token_throughput":
			amount = float64(s.in[i])
		case "total_token_throughput":
			amount = float64(s.in[i]) + float64(s.out[i])
		}
		if !math.IsNaN(amount) {
			to.At, to.Amount = append(to.At, s.end[i]+shift), append(to.Amount, amount)
		}
	}
	to.End += s.window.End - s.window.Begin
}

// stream is the samples of a metric over the runs of a side.
func stream(runs []*StageSamples, id string) *estimate.Samples {
	var all estimate.Samples
	n := 0
	for _, s := range runs {
		if c := s.columns[id]; c != nil {
			n += len(c.values)
		}
	}
	all.Values = make([]float64, 0, n)
	for _, s := range runs {
		s.append(&all, id)
	}
	return &all
}

// flowOf is what requests brought over the runs of a side.
func flowOf(runs []*StageSamples, id string) *estimate.Flow {
	var all estimate.Flow
	for _, s := range runs {
		s.flow(&all, id)
	}
	return &all
}

// Figure is a statistic of a metric as the mathematics knows it.
func Figure(id, statistic string) estimate.Statistic {
	for _, q := range metric.Percentiles() {
		if q.Name == statistic {
			return estimate.Statistic{Kind: estimate.Quantile, Q: q.Quantile}
		}
	}
	if isShare(id) {
		return estimate.Statistic{Kind: estimate.Share}
	}
	return estimate.Statistic{Kind: estimate.Mean}
}

// figuresOf are statistics of a metric; none where single requests do not tell of it.
func figuresOf(id string, statistics []string) []estimate.Statistic {
	if d, ok := metric.ByID(id); !ok || d.Rate != nil && !isShare(id) {
		return nil
	}
	var list []estimate.Statistic
	for _, name := range statistics {
		list = append(list, Figure(id, name))
	}
	return list
}

// Intervals are between what statistics of a metric lie; none where single requests do not tell.
func (s *StageSamples) Intervals(id string, statistics []string, confidence float64) []estimate.Interval {
	one := []*StageSamples{s}
	if isFlow(id) {
		return []estimate.Interval{estimate.OfFlow(flowOf(one, id), confidence)}
	}
	figures := figuresOf(id, statistics)
	if figures == nil {
		return nil
	}
	return estimate.Intervals(stream(one, id), figures, confidence)
}

// Between are the differences of statistics of a metric between the requests of two sides, each
// of one run or more; none where single requests do not tell.
func Between(a, b []*StageSamples, id string, statistics []string, confidence float64) []estimate.Difference {
	if isFlow(id) {
		return []estimate.Difference{estimate.BetweenFlows(flowOf(a, id), flowOf(b, id), confidence)}
	}
	figures := figuresOf(id, statistics)
	if figures == nil {
		return nil
	}
	return estimate.Diff(stream(a, id), stream(b, id), figures, confidence)
}
