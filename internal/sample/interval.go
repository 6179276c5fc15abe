package sample

import (
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

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
