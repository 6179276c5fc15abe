package executor

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// Workers are other processes that send in this one's place. Their records come here.
type Workers interface {
	// Prepare hands out the plan and returns once all workers could send their first request.
	Prepare(ctx context.Context, p *plan.Plan, in *WorkerRecords) error
	// Send has the workers carry out a task, each its share, until it ends or stop yields, and
	// gives how it went as a whole. live is kept up to date meanwhile.
	Send(ctx context.Context, t load.Spec, stop <-chan record.StopReason, live *engine.Counters) (record.StageSummary, error)
	// Sync returns once the records of all requests ended by now are in, or ctx has ended.
	Sync(ctx context.Context)
}

// WorkerRecords takes in what workers have recorded.
type WorkerRecords struct {
	Now       func() time.Duration // the run's clock
	collector *collect.Collector
	journal   *rundir.Journal
	fail      func(error)           // ends the run, as records are lost
	readers   []record.DigestReader // by worker
	closed    atomic.Bool           // the run is over: what comes now is not of it
}

// NewWorkerRecords makes one; fail ends the run, as records are lost.
func NewWorkerRecords(now func() time.Duration, c *collect.Collector, book *rundir.Journal, fail func(error)) *WorkerRecords {
	return &WorkerRecords{Now: now, collector: c, journal: book, fail: fail}
}

// Close takes nothing in any more.
func (in *WorkerRecords) Close() { in.closed.Store(true) }

// Workers says who sends.
func (in *WorkerRecords) Workers(list []record.WorkerInfo) {
	in.readers = make([]record.DigestReader, len(list))
	in.journal.AddWorkers(list)
}

// Clocks says how well the clocks of the workers have agreed with the run's by now.
func (in *WorkerRecords) Clocks(list []record.WorkerInfo) { in.journal.AddWorkers(list) }

// WriteFrame keeps a frame of a worker's records. Where that fails, the run goes on or ends as its plan has it.
func (in *WorkerRecords) WriteFrame(frame []byte) {
	if !in.closed.Load() {
		in.journal.Writer.AddError(in.journal.Writer.Records().Frame(frame))
	}
}

// Fail ends the run because a worker cannot write its records.
func (in *WorkerRecords) Fail(err error) {
	if !in.closed.Load() {
		in.fail(err)
	}
}

// AddSummary counts a frame's requests of a worker, each of which has one caller at a time.
func (in *WorkerRecords) AddSummary(worker int, d record.FrameSummary) error {
	err := in.readers[worker].Read(d, func(line record.Line) error {
		switch {
		case in.closed.Load():
		case line.Request != nil:
			in.collector.Add(worker, line.Request)
		case line.Health != nil:
			in.journal.AddWorkerHealth(*line.Health)
		case line.Session != nil:
			in.journal.AddSession(*line.Session)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the records of worker %d: %w", worker+1, err)
	}
	return nil
}

// End says that there will be no more of a worker. What is in flight is noted as lost with it.
func (in *WorkerRecords) End(worker int) error {
	return in.readers[worker].End(func(rec *record.Record) error {
		if in.closed.Load() {
			return nil
		}
		rec.Failure.Class, rec.Failure.Message = record.WorkerLost, "its worker was lost before the response came"
		in.collector.Add(worker, rec)
		return in.journal.Writer.Records().Append(record.AppendJSON(nil, rec, false))
	})
}
