package prometheus

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/record"
)

// query asks for the metrics of one time range.
type query struct {
	archive    *Client
	filters    string
	begin, end time.Duration
	until      time.Duration // by when the server has seen its end

	mu     sync.Mutex
	faults []string
}

// ask asks one thing at a given time of the run; nil means the server does not know.
func (q *query) ask(ctx context.Context, form string, at time.Duration) *float64 {
	v, err := q.archive.query(ctx, form, q.archive.start.Add(at))
	if err == nil {
		return v
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if text := fmt.Sprintf("Querying the Prometheus server: %v", err); !slices.Contains(q.faults, text) {
		q.faults = append(q.faults, text)
	}
	return nil
}

// figure asks for one metric; nil means the server does not have it.
func (q *query) figure(ctx context.Context, m *servermetrics.Metric) *record.Figure {
	f := &record.Figure{Name: m.Name, Metric: m.Own, Kind: m.Kind, Unit: m.Unit}
	found := true
	switch m.Kind {
	case record.FigureCounter:
		f.Total = q.rise(ctx, counterOf(m.Own, q.filters))
		scale(m, &f.Total)
		f.Rate = q.perSecond(f.Total)
		found = f.Total != nil
	case record.FigureGauge:
		found = q.gauge(ctx, m, f)
	case record.FigureHistogram:
		found = q.histogram(ctx, m, f)
	}
	if !found {
		return nil
	}
	return f
}

// rise is by how much a counter rose from the beginning until its end was seen.
func (q *query) rise(ctx context.Context, s selector) *float64 {
	return q.ask(ctx, increaseForm(s, span(q.until-q.begin)), q.until)
}

func (q *query) perSecond(total *float64) *float64 {
	if total == nil || q.end <= q.begin {
		return nil
	}
	v := *total / (q.end - q.begin).Seconds()
	return &v
}

// scale turns values into the units of figures.
func scale(m *servermetrics.Metric, values ...**float64) {
	for _, v := range values {
		if *v != nil && m.Scale != 0 {
			scaled := **v * m.Scale
			*v = &scaled
		}
	}
}

func (q *query) gauge(ctx context.Context, m *servermetrics.Metric, f *record.Figure) bool {
	length := q.end - q.begin
	step := min(max(length/60, time.Second), q.archive.every)
	ask := func(function string) *float64 {
		return q.ask(ctx, gaugeForm(function, m, q.filters, span(length), span(step)), q.end)
	}
	if f.Mean = ask("avg_over_time"); f.Mean == nil {
		return false
	}
	f.Median, f.P90, f.P99 = ask("quantile_over_time 0.5"), ask("quantile_over_time 0.9"), ask("quantile_over_time 0.99")
	f.Min, f.Max = ask("min_over_time"), ask("max_over_time")
	scale(m, &f.Mean, &f.Median, &f.P90, &f.P99, &f.Min, &f.Max)
	return true
}

func (q *query) histogram(ctx context.Context, m *servermetrics.Metric, f *record.Figure) bool {
	if f.Total = q.rise(ctx, counterOf(m.Own+"_count", q.filters)); f.Total == nil {
		return false
	}
	f.Rate = q.perSecond(f.Total)
	if *f.Total <= 0 {
		return true
	}
	if sum := q.rise(ctx, counterOf(m.Own+"_sum", q.filters)); sum != nil {
		mean := *sum / *f.Total
		f.Mean = &mean
	}
	d := span(q.until - q.begin)
	quantile := func(at float64) *float64 {
		v := q.ask(ctx, quantileForm(at, m.Own, q.filters, d), q.until)
		if v == nil || math.IsInf(*v, 0) {
			return nil
		}
		return v
	}
	f.Median, f.P90, f.P99 = quantile(0.5), quantile(0.9), quantile(0.99)
	scale(m, &f.Mean, &f.Median, &f.P90, &f.P99)
	return true
}
