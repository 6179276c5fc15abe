package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// Options say how a Fold is to see its records.
type Options struct {
	// Closed says of each stage whether it is a closed loop. Stages of a search are like the last.
	Closed []bool
	// Sessions says the same of whether its load is sessions that are in flight.
	Sessions []bool
	SLOs     []plan.SLO // the metric of each request is at most Max
	// Targets is how many servers requests went to; each is told apart where there are two or more.
	Targets int
	// Models are those of requests that are told apart; none: they are not.
	Models []string
	// Workers: several processes sent the requests, and are told apart.
	Workers bool
	// StandIn: what is counted on this side are not the model's tokens, so that such a
	// count is not held against the length asked for.
	StandIn bool
	// Local: figures are made of this side's count of responses, if any, and not of the server's.
	Local bool
	// Bends says whether so much added to such a latency is too much. nil: any amount is.
	Bends func(added, latency time.Duration) bool
	// Times gives when a stage's warm-up and its sending ended, as far as that is known. An end must be
	// known before a record that ended after it is added. nil means there is no steady window.
	Times func(stage int) record.StageTimes
	// Pool is shared by the folds of a run, which makes merging free. nil: the Fold has its own.
	Pool *stat.Pool
	// Live is kept up to date as records come. nil means none.
	Live *LiveStats
	// Each is told of each request, which is valid until it returns, when it has been added. Optional.
	Each func(*Request)
}

// OptionsFor are the options for the records of a plan's run, without Times, Pool and Live.
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
