package inferenceperf

import (
	"slices"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/report"
)

// servers writes what the servers' own metrics say, where anybody asked for them.
func (r *reporter) servers() {
	o := &r.tool.action.Options
	write := func(name string, all []result.ServerMetrics, stages []result.Stage) {
		s := result.FromPrometheus(all)
		if pages := result.FromPages(all); pages != nil && (s == nil || len(s.Figures) == 0) {
			s = pages // a Prometheus server that is gone says nothing
		}
		if s == nil {
			return
		}
		out := &report.ServerMetrics{Seconds: s.Window.End - s.Window.Begin, Figures: interpolated(s.Figures), Series: series(stages),
			Faithful: o.Faithful}
		r.file(name, report.Prometheus(out))
	}
	if o.Prometheus.Summary {
		write(report.PrometheusSummaryFile, r.result.Services, r.result.Stages)
	}
	if o.Prometheus.PerStage {
		for i := range r.result.Stages {
			write(report.PrometheusStageFile(r.number(r.result.Stages[i].Index)), r.result.Stages[i].Services, r.result.Stages[i:i+1])
		}
	}
}

// series are the metrics of the servers' pages over the time of stages.
func series(stages []result.Stage) []report.MetricSeries {
	var out []report.MetricSeries
	for i := range stages {
		pages := result.FromPages(stages[i].Services)
		if pages == nil {
			continue
		}
		for _, one := range pages.Series {
			k := slices.IndexFunc(out, func(s report.MetricSeries) bool { return s.Name == one.Name })
			if k < 0 {
				k = len(out)
				out = append(out, report.MetricSeries{Name: one.Name})
			}
			out[k].Points = append(out[k].Points, one.Points...)
		}
	}
	return out
}

// interpolated gives the quantiles of histograms as single values, as the original does, which
// has Prometheus spread values evenly within buckets.
func interpolated(all []result.Figure) []result.Figure {
	all = slices.Clone(all)
	for i := range all {
		if w := all[i].Within; w != nil {
			all[i].Median, all[i].P90, all[i].P99 = &w.Median.Evenly, &w.P90.Evenly, &w.P99.Evenly
		}
	}
	return all
}
