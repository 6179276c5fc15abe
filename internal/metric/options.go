package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// OptionsFor are the options of a fold for the records of a plan's run. Its Times, Pool
// and Live are for the caller to fill in.
func OptionsFor(p *plan.Plan) Options {
	opts := Options{StandIn: p.Tokenizer.StandIn(), Local: p.Tokenizer.Output, Targets: len(p.Target.URLs)}
	for _, a := range p.Data.Adapters {
		opts.Models = append(opts.Models, a.Name)
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		opts.Closed = append(opts.Closed, s.Concurrency > 0 || s.Arrival == plan.ArrivalSessions && s.Sessions.Rate == 0)
		opts.Sessions = append(opts.Sessions, s.Arrival == plan.ArrivalSessions)
	}
	least, share := time.Duration(p.Budgets.Lag), p.Budgets.Error
	opts.Bends = func(added, latency time.Duration) bool {
		return added > max(least, time.Duration(share*float64(latency)))
	}
	opts.SLOs = p.Goodput
	return opts
}

// TimesOf gives the times of stages that have ended, for a fold of records that are read back. Those of a stage
// without a mark are still to come.
func TimesOf(marks []record.StageSummary) func(stage int) record.StageTimes {
	return func(stage int) record.StageTimes {
		if m := record.FindStage(marks, stage); m != nil {
			return m.StageTimes
		}
		return record.StageTimes{Begin: record.NotYet, WarmupEnd: record.NotYet, SendEnd: record.NotYet, DrainEnd: record.NotYet}
	}
}
