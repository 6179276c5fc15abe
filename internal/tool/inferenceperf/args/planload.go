package args

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// stageKeys are the keys that a stage of each type of load has; the first ones are
// needed.
func stageKeys(kind string) (needed, all []string) {
	switch kind {
	case "concurrent":
		needed = []string{"num_requests", "concurrency_level"}
		return needed, append(needed, "rate", "duration")
	case "trace_session_replay":
		needed = []string{"concurrent_sessions"}
		return needed, append(needed, "session_rate", "num_sessions", "timeout")
	}
	needed = []string{"rate", "duration"}
	return needed, needed
}

func (b *builder) load() {
	p, v := &b.plan, b.value("load")
	kind := v.child("type").text()
	if v.child("num_workers") == nil {
		v.put("num_workers", &value{kind: whole, scalar: int64(runtime.NumCPU())})
	}
	if n := v.child("request_retries").integer(); n > 0 {
		p.Target.Retries = plan.Retries{Count: int(n), Backoff: seconds(v.child("request_retry_backoff_sec").number())}
	}
	p.Drain = allAttempts(&p.Target)
	p.Grace = min(seconds(v.child("stage_teardown_grace_seconds").number()), p.Drain)
	gap := v.child("interval").number()
	if b.value("metrics.type").text() == "prometheus" && b.value("report.prometheus.per_stage").yes() {
		gap = max(gap, b.value("metrics.prometheus.scrape_interval").number())
	}
	p.Stages = nil
	if s := v.child("sweep"); s != nil {
		b.sweep(kind, s, seconds(gap))
		return
	}
	stages := v.child("stages").items()
	if len(stages) == 0 {
		b.fault("load.stages", "is empty: nothing would be sent", "such as [{rate: 1, duration: 30}], or use load.sweep")
	}
	if kind == "trace_replay" && v.child("trace") == nil {
		b.fault("load.trace", "is missing: type trace_replay needs it", "such as {file: trace.csv}")
	}
	if kind == "trace_session_replay" {
		if t := b.value("data.type").text(); t != "" && t != "otel_trace_replay" && t != "weka_trace_replay" && t != "synthetic_agentic" {
			b.fault("load.type", "trace_session_replay needs data.type otel_trace_replay, weka_trace_replay or synthetic_agentic, not "+t, "use concurrent, constant or poisson")
		}
	}
	b.action.Options.Configured = len(stages)
	for i, s := range stages {
		at := fmt.Sprintf("load.stages[%d]", i)
		stage, ok := b.stage(kind, at, s)
		if !ok {
			continue
		}
		if b.empty(kind, s) {
			b.warn("%s: no request is sent, as rate times duration is less than 1", at)
			continue
		}
		if i > 0 {
			stage.Gap = seconds(gap)
		}
		p.Stages = append(p.Stages, stage)
		b.action.Options.Stages = append(b.action.Options.Stages, i)
	}
	if len(p.Stages) == 0 && len(stages) > 0 {
		b.fault("load.stages[0]", "no request would be sent", "raise rate or duration")
	}
	if kind == "trace_replay" {
		p.Data.Trace.Arrivals = v.child("trace.file").text()
	}
}

// empty reports whether a stage has no request to send.
func (b *builder) empty(kind string, v *value) bool {
	rated := kind == "constant" || kind == "poisson" || kind == "trace_replay"
	return rated && b.value("data.trace") == nil && requests(v) == 0
}

// longest is how long a plan waits at most.
const longest = plan.Duration(30 * 24 * time.Hour)

// allAttempts is the time in which every request ends by itself: that of connecting and of
// the response, for each attempt, and of the waits between them.
func allAttempts(t *plan.Target) plan.Duration {
	each, wait := min(t.Timeouts.Request, longest)+t.Timeouts.Connect, min(t.Retries.Backoff, longest)*3/2
	total := min(each, longest)
	for range t.Retries.Count {
		if total = min(total+each+wait, longest); total == longest {
			break
		}
		wait *= 2
	}
	return total
}

// stage is one stage, with the keys that its type of load has and no others.
func (b *builder) stage(kind, at string, v *value) (plan.Stage, bool) {
	if v == nil {
		return plan.Stage{}, false // it could not be read
	}
	needed, all := stageKeys(kind)
	ok := true
	for _, name := range needed {
		if v.child(name) == nil {
			b.fault(at+"."+name, "is missing: a stage of type "+kind+" needs it", "")
			ok = false
		}
	}
	for _, name := range v.names {
		if v.child(name) != nil && !slices.Contains(all, name) {
			b.fault(at+"."+name, "does not apply to load.type "+kind, "leave it out")
		}
	}
	if !ok {
		return plan.Stage{}, false
	}
	switch kind {
	case "concurrent":
		return plan.Stage{Concurrency: int(v.child("concurrency_level").integer()), Requests: v.child("num_requests").integer()}, true
	case "trace_session_replay":
		s := plan.SessionLoad{
			Concurrent: int(v.child("concurrent_sessions").integer()), Rate: v.child("session_rate").number(),
			Count: v.child("num_sessions").integer(), Timeout: seconds(v.child("timeout").number()),
		}
		if s.Rate > 0 && s.Concurrent > 0 && s.Rate > float64(s.Concurrent) {
			b.fault(at+".session_rate", fmt.Sprintf("%v is more than concurrent_sessions, %d", s.Rate, s.Concurrent), "")
		}
		return plan.Stage{Arrival: plan.ArrivalSessions, Sessions: s}, true
	case "trace_replay":
		return b.traced(v), true
	}
	return b.rated(kind, v), true
}

// traced is a stage that goes by a trace: as many requests of it as the rate would make in
// the time or, where the lengths come out of a trace too, all of it.
func (b *builder) traced(v *value) plan.Stage {
	o := &b.action.Options
	o.TraceRates = append(o.TraceRates, v.child("rate").number())
	s := plan.Stage{Arrival: plan.ArrivalTrace}
	if b.value("data.trace") == nil {
		s.Requests = requests(v)
	}
	return s
}

// rated is a stage with a rate: as many requests as the rate makes in the time. Where a trace
// has the lengths it has as many as that has rows; evenly spaced ones no more than the rate makes.
func (b *builder) rated(kind string, v *value) plan.Stage {
	s := plan.Stage{Rate: v.child("rate").number(), Arrival: kind, MaxInFlight: b.mostInFlight(), Requests: requests(v)}
	if b.plan.Data.Trace.Once && kind == plan.ArrivalPoisson {
		s.Requests = 0
	}
	return s
}

// requests is how many a rate makes in the time, in the arithmetic of the original.
func requests(v *value) int64 {
	return int64(min(v.child("rate").number()*v.child("duration").number(), 1<<62))
}

// mostInFlight is the bound of requests in flight that workers would have: none, so
// that a rate stays a rate, but where the original's ways are asked for.
func (b *builder) mostInFlight() int {
	if !b.action.Options.Faithful {
		return 0
	}
	return int(max(b.value("load.num_workers").integer(), 1) * b.value("load.worker_max_concurrency").integer())
}

func (b *builder) sweep(kind string, v *value, gap plan.Duration) {
	if kind != "constant" && kind != "poisson" {
		b.fault("load.sweep", "cannot be combined with load.type "+kind, "use constant or poisson")
		return
	}
	b.plan.Saturation = plan.Saturation{
		Kind: v.child("type").text(), Requests: v.child("num_requests").integer(), Timeout: seconds(v.child("timeout").number()),
		Stages: int(v.child("num_stages").integer()), Duration: seconds(v.child("stage_duration").number()), Percentile: v.child("saturation_percentile").number(),
	}
	b.plan.Stages = []plan.Stage{{Arrival: kind, Gap: gap, MaxInFlight: b.mostInFlight()}}
}
