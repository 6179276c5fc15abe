package live

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// series are how a run went over time.
func series(to *pagedata.Planes, bins []Bin, stages []plan.Stage) []pagedata.Series {
	edges := []float64{bins[0].From.Seconds()}
	for i := range bins {
		edges = append(edges, bins[i].To.Seconds())
	}
	t := to.Floats(edges)
	values := func(of func(b *Bin) float64) *pagedata.Column {
		list := make([]float64, len(bins))
		for i := range bins {
			list[i] = of(&bins[i])
		}
		c := to.Floats(list)
		return &c
	}
	kinds, failures := kindsOf(bins), "Failed requests"
	if len(kinds) == 1 {
		failures = words(kinds[0])
	}
	step := func(name, title, unit, group string, of func(b *Bin) float64) pagedata.Series {
		return pagedata.Series{Name: name, Title: title, Unit: unit, Group: group, Kind: pagedata.Step,
			Column: pagedata.Columns{T: t, V: values(of)}}
	}
	band := func(name, title string, of func(b *Bin) *stat.Histogram) pagedata.Series {
		at := func(q float64) *pagedata.Column {
			return values(func(b *Bin) float64 { return quantile(of(b), q) })
		}
		return pagedata.Series{
			Name: name, Title: title, Unit: "ms", Group: name, Kind: pagedata.Band, Labels: []string{"p50", "p90", "p99"},
			Column: pagedata.Columns{T: t, Lo: at(0.5), Mid: at(0.9), Hi: at(0.99)},
		}
	}
	list := []pagedata.Series{
		step("requested_rate", "Requested rate", "requests/sec", "load", func(b *Bin) float64 {
			if b.Stage < len(stages) && stages[b.Stage].Rate > 0 && stages[b.Stage].RampTo == 0 {
				return stages[b.Stage].Rate
			}
			return math.NaN()
		}),
		step("requests_sent", "Requests sent", "requests/sec", "load", func(b *Bin) float64 { return b.Rate(b.Sent) }),
		step("requests_ok", "Requests completed", "requests/sec", "load", func(b *Bin) float64 { return b.Rate(b.Ended - b.Failed) }),
		step("in_flight", "Requests in flight", "requests", "in flight", func(b *Bin) float64 { return float64(b.InFlight) }),
		step("output_tokens", "Output tokens", "tokens/sec", "tokens", func(b *Bin) float64 { return b.Rate(b.Tokens) }),
		step("errors", failures, "requests/sec", "errors", func(b *Bin) float64 { return b.Rate(b.Failed) }),
		band("ttft", "Time to first token", func(b *Bin) *stat.Histogram { return b.TTFT }),
		band("itl", "Inter-token latency", func(b *Bin) *stat.Histogram { return b.ITL }),
	}
	for _, class := range kinds {
		if len(kinds) > 1 {
			list = append(list, step("errors_"+string(class), words(class), "requests/sec", "errors", func(b *Bin) float64 { return b.Rate(b.Kinds[class]) }))
		}
	}
	return append(list, pagedata.HeatMap(to, "itl_heat", "Inter-token latency", "itl heat", edges, func(i int, add func(time.Duration, uint64)) {
		bins[i].ITL.Buckets(func(low, high int64, n uint64) bool {
			add(time.Duration(low+(high-low)/2), n)
			return true
		})
	})...)
}

// mostKinds bounds the kinds of failures that are drawn.
const mostKinds = 6

// kindsOf are the classes of the failures of bins, by name.
func kindsOf(bins []Bin) []record.Class {
	all := map[record.Class]bool{}
	for i := range bins {
		for class := range bins[i].Kinds {
			all[class] = true
		}
	}
	list := slices.Sorted(maps.Keys(all))
	return list[:min(len(list), mostKinds)]
}

func words(class record.Class) string { return strings.ReplaceAll(string(class), "_", " ") }

// quantile is a quantile in milliseconds; NaN where there are no samples.
func quantile(h *stat.Histogram, q float64) float64 {
	v, ok := h.Quantile(q)
	if !ok {
		return math.NaN()
	}
	return millis(v)
}
