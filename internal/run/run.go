// Package run turns a plan into live objects, runs its stages in order and gives
// the result. It also makes the result again from a run's records alone.
//
// A run goes one way: setup makes everything that the first request needs, executor runs the stages, and the
// result is made of what the journal and the aggregators have taken down. Beside it, monitor watches the client
// and the servers.
package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/run/monitor"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Options are what a run takes besides its plan. What is called to look on or to report cannot end the
// run: where it panics that is told, and the run goes on without it.
type Options struct {
	// ID tells the run from all others; empty: a random one.
	ID      string
	Kit     registry.Kit
	Version string
	Log     io.Writer     // notes on what is being prepared
	Names   message.Names // what the users of the tool call what messages name
	// Warn is told at once of what goes wrong with the run's own files while it is going on;
	// nil means Log is.
	Warn func(text string)
	// Stop, when it yields, ends sending; what is in flight is drained.
	Stop <-chan struct{}
	// OnReady is called once everything is in place; the function that it gets tells
	// how the run goes, from then on and from any goroutine.
	OnReady func(progress func() Progress)
	// Ready is called when everything is in place, before the first request.
	Ready func(target.Setup)
	// Prompt is told of the prompt of each request before it is encoded, concurrently;
	// Optional.
	Prompt func(p *prompt.Prompt)
	// Observer follows a run in levels or windows; optional.
	Observer executor.Observer
	// Stage is told of each stage as soon as it has ended, but for one whose requests were
	// aborted; optional.
	Stage func(s *result.Stage)
	// Draw is called once the result is there, and can have what a page draws of the run;
	// records are then kept until that is done, if no longer. Optional.
	Draw   Drawer
	Gating GateOptions // when it fails although it is valid, besides what the plan says
	// Calibration is what was found on the built-in mock ahead of the run; nil means nothing.
	Calibration *record.Calibration

	// OutputDir gives the output directory of a plan that has been filled in; nil means it is the plan's.
	OutputDir func(p *plan.Plan) string
	// Saved is given the directory of the records when they are whole, before those are removed
	// that nobody keeps; optional.
	Saved func(dir string) error

	// Fleet sends in this process's place; nil means nobody. Elsewhere: it does so from other machines.
	Fleet         executor.Workers
	RemoteWorkers bool

	// Replace: the files of an earlier run in the output directory are removed when this one
	// begins.
	Replace bool

	// NewSleeper makes what waits for times. Optional: the system's most precise one.
	NewSleeper func() load.Sleeper

	create func(name string) (io.WriteCloser, error) // makes the record file; nil means on disk
}

// Drawer takes what a page draws of a run, if it makes it: that may read all records again.
type Drawer func(document func() (*pagedata.Document, error)) error

// Run runs a plan. Ending ctx aborts what is in flight. The plan is filled in with
// what had to be found out, such as the model's name. The result is complete also
// when the run was interrupted; an error says that there is none, or, beside a
// result, what could not be kept of it.
func Run(ctx context.Context, p *plan.Plan, o Options) (*result.Result, error) {
	o = o.beside()
	o.ID = cmp.Or(o.ID, NewID())
	prep := &setup{plan: p, opt: &o, clock: timedconn.NewClock(), stopper: abort.NewStopper()}
	defer prep.close()
	r, err := prep.buildOrStop(ctx, o.Stop)
	if err != nil {
		return nil, err
	}
	if o.Ready != nil {
		o.Ready(r.setup)
	}
	return r.execute(ctx)
}

// NewID makes the ID of a run: random, and fit for file names, subjects and headers.
func NewID() string { return strings.ToLower(rand.Text()[:12]) }

// PrepareError is an error that was met before the first request.
type PrepareError struct{ Err error }

// Error implements error.
func (e *PrepareError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *PrepareError) Unwrap() error { return e.Err }

// errStopped is the end of a run that the user stopped while it was being prepared.
var errStopped = errors.New("stopped before the first request")

// session is a run whose first request can go.
type session struct {
	opt     *Options
	clock   *timedconn.Clock
	stopper abort.Stopper
	setup   target.Setup
	gauge   *progressTracker
	sampler *monitor.HealthMonitor
	stages  executor.Config
	archive *monitor.Prometheus     // nil means there is none
	intake  *executor.WorkerRecords // of the records of a fleet
	outcome *resultBuilder
}

func (r *session) execute(ctx context.Context) (*result.Result, error) {
	watch, stopWatching := context.WithCancel(context.Background())
	defer stopWatching()
	go r.clock.Watch(watch)
	if r.opt.Stop != nil {
		go r.stopper.StopWhen(watch, r.opt.Stop)
	}
	if r.opt.OnReady != nil {
		r.opt.OnReady(r.gauge.progress)
	}
	sampled := r.sampler.Start(watch)
	metered := monitor.ReadPower(ctx, r.stages.Plan, r.opt.Kit, r.clock.Now, r.stages.Journal, r.opt.Log)
	err := executor.Run(ctx, r.stages)
	metered()
	r.intake.Close()
	stopWatching()
	<-sampled
	if r.archive != nil {
		r.archive.Gather(ctx, r.opt.Log, r.stages.Journal)
	}
	r.gauge.reporting.Store(true)
	res, err := r.outcome.conclude(err)
	r.gauge.result.Store(res)
	if res != nil && r.opt.Gating.Judged != nil {
		r.opt.Gating.Judged(res)
	}
	return res, err
}
