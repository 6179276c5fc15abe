// Package telemetry makes what telemetry systems take of a run: requests as spans and figures
// as metrics for OpenTelemetry, named by its conventions for generative AI, and time series
// for Prometheus. It reads records and a result after the run, calculates no figure anew, and
// sends nothing itself.
package telemetry

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/report/timeline"
	"github.com/inferometer/inferometer/internal/result"
)

// RunInfo is what all that is made of a run has in common.
type RunInfo struct {
	Result   *result.Result
	Start    time.Time // of the clock that records have
	Version  string    // of this program
	Name     string    // that the user gave it
	Model    string    // of requests that name none
	Protocol string    // that is spoken to the servers
	Endpoint string    // what is asked of them
	Servers  []string  // their addresses, by record.Target
	Rates    []float64 // requests per second that stages ask for; 0: they do not, or not all the time
}

// ID tells this run from others: when it began, and its seed.
func (r *RunInfo) ID() string {
	return r.Start.UTC().Format("20060102T150405Z") + "-" + strconv.FormatUint(r.Result.Seed, 10)
}

func (r *RunInfo) timeOf(d time.Duration) time.Time { return r.Start.Add(d) }

// operation is what the conventions call the work of an endpoint.
func (r *RunInfo) operation() string {
	return cmp.Or(map[string]string{"completions": "text_completion", "generate": "text_completion", "stream": "text_completion", "infer": "text_completion", "embeddings": "embeddings"}[r.Endpoint], "chat")
}

func (r *RunInfo) server(i int) []otlp.Attribute {
	if i < 0 || i >= len(r.Servers) {
		return nil
	}
	u, err := url.Parse(r.Servers[i])
	if err != nil || u.Hostname() == "" {
		return nil
	}
	out := []otlp.Attribute{otlp.Text("server.address", u.Hostname())}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		out = append(out, otlp.Int("server.port", port))
	}
	return out
}

type figure struct {
	metric, stat, unit string
	value              float64
}

// figures are all numbers of a stage's metrics, in the order of their names.
func figures(s *result.Stage) []figure {
	var list []figure
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		m := s.Metrics[name]
		list = append(list, figure{name, "avg", m.Unit, m.Avg})
		if m.Distribution == nil {
			continue
		}
		for _, stat := range []string{"min", "p50", "p90", "p95", "p99", "p99.9", "max"} {
			list = append(list, figure{name, stat, m.Unit, m.Distribution.Quantile(stat)})
		}
	}
	return list
}

func (r *RunInfo) end(stages []timeline.StageTimeline) time.Time {
	var last time.Duration
	for i := range stages {
		last = max(last, stages[i].End)
	}
	return r.timeOf(last)
}

// stageName is how users know a stage: by its number from 1.
func stageName(i int) string { return fmt.Sprint(i + 1) }

func (r *RunInfo) stage(i int) *result.Stage {
	k := slices.IndexFunc(r.Result.Stages, func(s result.Stage) bool { return s.Index == i })
	if k < 0 {
		return nil
	}
	return &r.Result.Stages[k]
}
