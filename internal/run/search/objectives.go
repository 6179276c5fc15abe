package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// objective is one of those of a search for the capacity, and how requests are held against it.
type objective struct {
	capacity.Objective
	id, stat string // of the figure in a stage's metrics
	def      metric.Def
	scale    float64 // steps of a sample in the objective's unit
}

// The metrics that are shares of requests.
const (
	goodShare   = "slo_attainment"
	failedShare = "error_rate"
)

// mostFailed is the share of requests that may fail where no objective says so.
const mostFailed = "errors <= 1%"

// CheckObjectives checks what a plan's search for its capacity is to meet.
func CheckObjectives(p *plan.Plan) error {
	_, err := objectivesOf(p)
	return err
}

// objectivesOf reads the objectives of a plan. At a rate, the time to the first token and the
// latency count from when a request was due: its user waits then, too.
func objectivesOf(p *plan.Plan) ([]objective, error) {
	var list []objective
	texts := p.Capacity.Objectives
	for i := 0; i < len(texts); i++ {
		g, err := gate.Parse(texts[i])
		if err != nil {
			return nil, fmt.Errorf("objective %q: %w", texts[i], err)
		}
		o, err := objectiveOf(p, g)
		if err != nil {
			return nil, fmt.Errorf("objective %q: %w", texts[i], err)
		}
		list = append(list, o)
	}
	if !slices.ContainsFunc(list, func(o objective) bool { return o.id == goodShare || o.id == failedShare }) {
		g, err := gate.Parse(mostFailed)
		if err != nil {
			return nil, err
		}
		o, err := objectiveOf(p, g)
		if err != nil {
			return nil, err
		}
		o.Least = 0 // levels are not made longer for it
		list = append(list, o)
	}
	return list, nil
}

func objectiveOf(p *plan.Plan, g *gate.Gate) (objective, error) {
	o := objective{Objective: capacity.Objective{Text: g.Text, Figure: g.Figure(), Bound: g.Bound, Unit: g.Unit, Above: g.Op == gate.More ||
		g.Op == gate.AtLeast}}
	o.id, o.stat = g.Metric.ID, g.Stat
	if err := g.Measured(p); err != nil {
		return o, err
	}
	switch {
	case g.Relative() || g.Interval:
		return o, fmt.Errorf("it is about a difference or an interval (write it as ttft.p99 < 200ms)")
	case !g.At.All():
		return o, fmt.Errorf("it names a level, and the search goes through many (leave \"at …:\" out)")
	}
	if open := p.Stages[0].Rate > 0; open && (g.Metric.ID == "time_to_first_token" || g.Metric.ID == "request_latency") {
		o.id += "_from_due"
	}
	var ok bool
	if o.def, ok = metric.ByID(o.id); !ok {
		return o, fmt.Errorf("%s is not measured request by request (use ttft, itl, tpot, latency, goodput or errors)", g.Metric.Short)
	}
	o.scale = o.def.Scale
	switch share := g.Metric.ID == goodShare || g.Metric.ID == failedShare; {
	case share:
		o.scale = 1
		o.Allowed = o.Bound
		if g.Metric.ID == goodShare {
			o.Allowed = 1 - o.Bound
		}
		if o.Above != (g.Metric.ID == goodShare) {
			return o, fmt.Errorf("every load that is low enough misses it (write goodput >= 95%% or errors < 1%%)")
		}
		// Of no requests at all that may be bad, any number says nothing: one in a thousand may.
		o.Allowed = min(max(o.Allowed, 0.001), 0.999)
		o.Least = stat.MinSamples(1 - o.Allowed)
	case o.def.Rate != nil:
		return o, fmt.Errorf("%s is a load metric, not a quality metric (use ttft, itl, tpot, latency, goodput or errors)", g.Metric.Short)
	case o.Above != g.Metric.Higher || !g.Metric.Higher && !g.Metric.Lower:
		return o, fmt.Errorf("it does not get harder with load, so it has no maximum load")
	case g.Stat == "avg":
		o.Least = 200
	case strings.HasPrefix(g.Stat, "p"):
		at := slices.IndexFunc(metric.Percentiles(), func(q metric.Percentile) bool { return q.Name == g.Stat })
		if at < 0 {
			return o, fmt.Errorf("%s is not a percentile", g.Stat)
		}
		q := metric.Percentiles()[at].Quantile
		o.Allowed, o.Least = 1-q, stat.MinSamples(q)
		if o.Above {
			o.Allowed = q
		}
	default:
		return o, fmt.Errorf("%s depends on how many requests there are (use a percentile or avg)", g.Stat)
	}
	return o, nil
}

// trouble says what was wrong with this client during the level that has just ended; empty: nothing
// that would make its figures wrong. Such a level is repeated.
func (t *objectiveTracker) trouble(p *plan.Plan, i int) string {
	typical := t.middle(i)
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.levels[i]
	if of == nil || len(of.requests) == 0 {
		return ""
	}
	n := len(of.requests)
	gap := (of.requests[n-1].due - of.requests[0].due) / time.Duration(n)
	p90, p99 := build.LagBudgets(p, typical, gap)
	for _, c := range []struct {
		q      float64
		budget time.Duration
	}{{0.9, p90}, {0.99, p99}} {
		if c.q > 0.9 && int64(n) < stat.MinSamples(c.q) {
			continue
		}
		if v, ok := of.late.Quantile(c.q); ok && time.Duration(v) > c.budget {
			return fmt.Sprintf("this client was slow, and requests were sent late by %s (p%.0f)", number.Span(time.Duration(v)), 100*c.q)
		}
	}
	return ""
}

func failureOf(f *record.Failure) string {
	switch f.Class {
	case record.HTTPStatus:
		return "HTTP " + strconv.Itoa(f.Status)
	case record.ConnectFailed:
		return "no connection"
	case record.Dropped, record.Reset:
		return "connection closed"
	}
	return string(f.Class)
}
