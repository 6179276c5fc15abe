package genaiperf

import (
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/report"
)

// analyzed is what Perf Analyzer would say of the run so far: nothing of its requests.
func (t *job) analyzed(w *window) *report.Analyzed {
	s := t.set
	a := &report.Analyzed{
		Service: strings.ToUpper(s.ServiceKind), Steps: len(t.entries), Warmup: s.Warmup, Requests: max(s.Requests, s.ToldRequests), Window: s.Interval,
		Rate: s.Rate, Concurrency: s.Concurrency, Sessions: s.SessionConcurrency > 0, GRPC: s.ServiceKind == "triton", Took: w.mark.DrainEnd - w.mark.WarmupEnd,
	}
	if len(t.plan.Stages) > t.stage {
		a.Poisson = t.plan.Stages[t.stage].Arrival == plan.ArrivalPoisson
	}
	if s.Interval > 0 || !w.ended {
		a.Took = w.mark.SendEnd - w.mark.WarmupEnd
	}
	return a
}

// analyze takes a measured request.
func analyze(a *report.Analyzed, rec *record.Record) {
	if rec.Failure != nil {
		return
	}
	s := sweep.SampleOf(rec)
	a.Latencies = append(a.Latencies, s.End-s.Sent)
	a.Request += s.Closed - s.Sent
	a.Send += s.Written - s.Sent
	a.Receive += s.Closed - s.Start
}
