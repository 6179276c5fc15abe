package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/run/monitor"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Worker sends its share of the stages that another process decides on, and records what
// becomes of them.
type Worker struct {
	prep      *setup
	sender    *executor.Sender
	collector *collect.Collector
	live      *engine.Counters
	writer    *record.Writer
	sampled   <-chan struct{}
	stop      context.CancelFunc
}

// WorkerConfig is what a worker has to do in a run.
type WorkerConfig struct {
	Run   string // the run's ID
	Share load.Shard
	Clock *timedconn.Clock // the run's
	Out   io.Writer        // takes its records, a frame at a time
	// MaySend is asked right before each request goes, with what the run's clock shows; false ends the stage. nil means always.
	MaySend func(now time.Duration) bool
}

// NewWorker prepares to send a share of a plan.
func NewWorker(ctx context.Context, p *plan.Plan, o Options, d WorkerConfig) (w *Worker, err error) {
	o.ID = d.Run
	own := *p
	own.Output.Dir = "" // the run's, which the other process writes
	p = &own
	prep := &setup{plan: p, opt: &o, clock: d.Clock, stopper: abort.NewStopper(), share: d.Share, maySend: d.MaySend}
	prep.ownSources()
	defer func() {
		if err != nil {
			prep.close()
		}
	}()
	found, err := prep.check(ctx, false)
	if err != nil {
		return nil, err
	}
	asked, err := prep.questions(ctx, found.secrets)
	if err != nil {
		return nil, err
	}
	cl, err := prep.client(found.secrets, asked)
	if err != nil {
		return nil, err
	}
	header := prep.header(asked, cl, found.fellBack)
	header.Worker = d.Share.Index + 1
	writer, err := record.NewWriter(d.Out, header)
	if err != nil {
		return nil, err
	}
	writer.Digests()
	w = &Worker{prep: prep, writer: writer, live: engine.NewLive(executor.MostStages(p))}
	folds := make([]collect.Consumer, runtime.GOMAXPROCS(0))
	for i := range folds {
		folds[i] = collect.Consumers{}
	}
	w.collector = collect.New(collect.Config{
		Decoder: cl.Decoder, Writer: writer, KeepRaw: p.Output.KeepRaw, NoTexts: p.Output.NoTexts, Digest: true, Worker: header.Worker,
		Now: d.Clock.Now, Limits: p.Limits, Folds: folds,
	})
	prep.onClose(w.collector.Stop)
	eng := prep.engine(asked, cl, w.collector, w.live)
	prep.onClose(eng.Close)
	w.sender = &executor.Sender{
		Plan: p, Schedule: asked.schedule, Share: d.Share, Engine: eng, Endpoint: &cl.Endpoint, Stopper: prep.stopper, Live: w.live,
		SameFailure: abort.NewSameFailure(func(record.StopReason) {}),
	}
	w.watch()
	return w, nil
}

// watch keeps an eye on this process until Close.
func (w *Worker) watch() {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go w.prep.clock.Watch(ctx)
	book := rundir.NewWorkerJournal(w.prep.plan, w.writer, w.sender.Share.Index+1)
	s := &monitor.HealthMonitor{Clock: w.prep.clock, Live: w.live, Collector: w.collector, Journal: book}
	w.sampled = s.Start(ctx)
}

// Workers notes who the workers of the run are.
func (w *Worker) Workers(list []record.WorkerInfo) {
	_ = w.writer.Workers(list) // the next line meets the same fault, and tells of it
}

// Warm opens connections for a task.
func (w *Worker) Warm(ctx context.Context, t load.Spec) { w.sender.Warm(ctx, t) }

// Send sends the worker's share of a task.
func (w *Worker) Send(ctx context.Context, t load.Spec, stop <-chan record.StopReason) (record.StageSummary, error) {
	forwarded := abort.NewStopper()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case reason := <-stop:
			forwarded.Stop(reason)
		case <-over:
		}
	}()
	if w.prep.plan.Levels.On() || w.prep.plan.Capacity.On() { // so that its file alone tells which levels there were
		if err := w.writer.Edge(record.Edge{Worker: w.sender.Share.Index + 1, Stage: t.Index, Level: t.Stage.Level(),
			Kind: search.LevelKind(t.Stage), At: cmp.Or(t.Start, w.prep.clock.Now())}); err != nil {
			return record.StageSummary{Stage: t.Index}, err
		}
	}
	mark, err := w.sender.Send(ctx, t, forwarded)
	mark.Worker = w.sender.Share.Index + 1
	if mark.Reason == record.StopLease { // its file says so, too, where there is no coordinator left to
		mark.Gone = append(mark.Gone, record.LostWorker{Worker: mark.Worker, At: mark.SendEnd, Told: true, Cut: true})
	}
	w.collector.Sync(ctx)
	return mark, errors.Join(err, w.writer.Stage(mark), w.Flush())
}

// Next is the number of the first prompt not taken, as far as this worker knows.
func (w *Worker) Next() int64 { return w.sender.Engine.Next() }

// Sent is how many requests this worker has sent.
func (w *Worker) Sent() int64 { return w.live.Sent() }

// InFlight is how many requests this worker has in flight.
func (w *Worker) InFlight() int64 { return w.live.InFlight() }

// Flush hands all that was recorded so far to the file.
func (w *Worker) Flush() error { return w.collector.Flush() }

// Measured is when the measured part of a running task begins, and when its last request was sent;
// record.Never: that is not known yet.
func (w *Worker) Measured(t load.Spec) (from, to time.Duration) {
	known := func(at time.Duration) time.Duration {
		if at == record.NotYet {
			return record.Never
		}
		return at
	}
	times := w.live.Times(t.Index)
	return known(times.WarmupEnd), known(times.SendEnd)
}

// End hands all records to the file, of which there will be no more.
func (w *Worker) End() error {
	w.stop()
	<-w.sampled
	return errors.Join(w.collector.Close(), w.writer.Flush())
}

// Close marks the end of the records and gives back what the worker holds.
func (w *Worker) Close() error {
	w.prep.close()
	if err := w.writer.Close(); err != nil {
		return fmt.Errorf("ending the records: %w", err)
	}
	return nil
}
