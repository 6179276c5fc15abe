package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/collect"
)

// Fleet is a number of workers, other processes, that send in this one's place. Their records
// come here.
type Fleet interface {
	// Prepare hands out the plan and returns once all workers could send their first request.
	Prepare(ctx context.Context, p *plan.Plan, in *Intake) error
	// Send has the workers carry out a task, each its share, until it ends or stop yields, and
	// gives how it went as a whole. live is kept up to date meanwhile.
	Send(ctx context.Context, t Task, stop <-chan record.StopReason, live *engine.Live) (record.StageMark, error)
	// Settle returns once the records of all requests that have ended by now were taken in, or
	// ctx has ended.
	Settle(ctx context.Context)
}

// Intake takes in what workers have recorded.
type Intake struct {
	Now       func() time.Duration // the run's clock
	collector *collect.Collector
	ledger    *ledger
	closed    atomic.Bool // the run is over: what comes now is not of it
}

// close takes nothing in any more.
func (in *Intake) close() { in.closed.Store(true) }

// Workers says who sends.
func (in *Intake) Workers(list []record.WorkerInfo) { in.ledger.workers(list) }

// Frame keeps a frame of a worker's records.
func (in *Intake) Frame(frame []byte) error {
	if in.closed.Load() {
		return nil
	}
	return in.ledger.out.records().Frame(frame)
}

// Read takes in the records of one worker, as they come, until they end. What is under way then
// was lost with the worker.
func (in *Intake) Read(worker int, frames io.Reader) error {
	r, err := record.NewReader(frames)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, record.ErrTruncated) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the records of worker %d: %w", worker+1, err)
		}
		switch {
		case in.closed.Load():
		case line.Request != nil:
			if f := line.Request.Failure; f != nil && strings.HasPrefix(f.Message, record.StillUnderway) {
				f.Class, f.Message = record.WorkerLost, "its worker was lost before the answer came"
				in.ledger.out.note(in.request(line.Request))
			}
			in.collector.Add(worker, line.Request)
		case line.Health != nil:
			in.ledger.workerHealth(*line.Health)
		case line.Session != nil:
			in.ledger.session(*line.Session)
		}
	}
}

// request writes down a request of which its worker has left no record.
func (in *Intake) request(rec *record.Record) error {
	return in.ledger.out.records().Append(record.AppendJSON(nil, rec, false))
}
