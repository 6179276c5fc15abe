// Package run turns a plan into live objects, runs its stages in order and gives
// the result. It also makes the result again from a run's records alone.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"inferometer/internal/endpoint"
	"inferometer/internal/endpoint/proxy"
	"inferometer/internal/engine"
	"inferometer/internal/engine/load"
	"inferometer/internal/metric"
	"inferometer/internal/plan"
	serverprobe "inferometer/internal/probe"
	"inferometer/internal/prompt"
	"inferometer/internal/record"
	"inferometer/internal/result"
	"inferometer/internal/run/breaker"
	"inferometer/internal/run/collect"
	"inferometer/internal/run/health"
	"inferometer/internal/run/kit"
	"inferometer/internal/stat"
	"inferometer/internal/sweep"
	netclock "inferometer/internal/wire/clock"
)

// Options are what a run takes besides its plan.
type Options struct {
	Kit     kit.Kit
	Version string
	Log     io.Writer // notes on what is being prepared
	// Warn is told at once of what goes wrong with the run's own files while it is going on;
	// nil: Log is.
	Warn func(text string)
	// Stop, when it yields, ends sending; what is in flight is drained.
	Stop <-chan struct{}
	// Watch is called once everything is in place; the function that it gets tells
	// how the run goes, from then on and from any goroutine.
	Watch func(progress func() Progress)
	// Ready is called when everything is in place, before the first request.
	Ready func(Setup)
	// Levels follows a run in levels or windows; nil: nobody does.
	Levels Observer
	// Stage is told of each stage as soon as it has ended, but for one whose requests were
	// aborted; nil: nobody waits for it.
	Stage func(s *result.Stage)
	// Calibration is what was found on the built-in mock ahead of the run; nil: nothing.
	Calibration *record.Calibration

	// Replace: the files of an earlier run in the output directory are removed when this one
	// begins.
	Replace bool

	create func(name string) (io.WriteCloser, error) // makes the record file; nil: on disk
}

// Run runs a plan. Ending ctx aborts what is in flight. The plan is filled in with
// what had to be found out, such as the model's name. The result is complete also
// when the run was interrupted; an error says that there is none, or, beside a
// result, what could not be kept of it.
func Run(ctx context.Context, p *plan.Plan, o Options) (*result.Result, error) {
	r := &run{plan: p, opt: o, clock: netclock.NewClock()}
	defer r.close()
	if err := r.prepareUntil(ctx, o.Stop); err != nil {
		return nil, err
	}
	if o.Ready != nil {
		o.Ready(r.setup())
	}
	return r.execute(ctx)
}

// PrepareError is an error that was met before the first request.
type PrepareError struct{ error }

// Unwrap gives the cause.
func (e *PrepareError) Unwrap() error { return e.error }

// BreakError is an error that ended a run before its time. The result beside it is of
// what had been measured by then.
type BreakError struct{ error }

// Unwrap gives the cause.
func (e *BreakError) Unwrap() error { return e.error }

// errStopped is the end of a run that the user stopped while it was being prepared.
var errStopped = errors.New("stopped before the first request")

// prepareUntil prepares the run, unless the user stops it before that is done.
func (r *run) prepareUntil(ctx context.Context, stop <-chan struct{}) error {
	// The context outlives this: what was made with it is used by the run.
	ctx, r.cancel = context.WithCancelCause(ctx)
	prepared := make(chan struct{})
	defer close(prepared)
	go func() {
		select {
		case <-stop:
			r.cancel(errStopped)
		case <-prepared:
		}
	}()
	err := r.prepare(ctx)
	switch {
	case err == nil:
		return nil
	case context.Cause(ctx) == errStopped:
		return errStopped
	}
	return &PrepareError{err}
}

// run is a run under way.
type run struct {
	plan  *plan.Plan
	opt   Options
	clock *netclock.Clock

	cancel    context.CancelCauseFunc // of what it was prepared with
	mock      io.Closer
	endpoint  endpoint.Endpoint
	output    *output
	engine    *engine.Engine
	collector *collect.Collector
	folds     []*metric.Fold
	lives     []*metric.Live
	pool      *stat.Pool
	queue     *queue
	tape      *sweep.Tape
	passages  *sweep.Passages // of a search for the saturation
	breakers  *breaker.Set
	alike     *alike
	servers   *servers            // nil: they are not asked about themselves
	archive   serverprobe.Archive // a Prometheus server; nil: there is none
	probe     sweep.Probe         // the same, for windows
	live      *engine.Live
	sampler   *health.Sampler
	watchdog  *health.Watchdog

	stop   chan string // why to stop sending
	ended  atomic.Int64
	failed atomic.Int64
	stage  atomic.Int64 // index of the one under way
	phase  atomic.Int64
	facts  result.Facts

	sessionsMu sync.Mutex // of facts.Sessions

	schedule  []time.Duration // of the prompts' own moments; nil: they have none
	fellBack  bool            // from HTTP/2, which was asked for, to HTTP/1.1
	templated bool            // prompts are counted with the model's chat template
	sessions  int             // of the data; 0: it does not say

	counter interface{ Err() error } // a tokenizer that may fail on a text; nil: it cannot
}

// prepare makes everything that the first request needs.
func (r *run) prepare(ctx context.Context) error {
	if len(r.plan.Target.URLs) == 0 {
		if err := r.startMock(); err != nil {
			return err
		}
	}
	secrets, err := r.check(ctx)
	if err != nil {
		return r.withFiles(ctx, err)
	}
	found, note, err := r.opt.Kit.Tokenizer(ctx, r.plan)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(r.opt.Log, note)
	}
	tok := found.Tokenizer
	r.counter, _ = tok.(interface{ Err() error })
	parts := r.opt.Kit
	parts.Tell = func(text string) { fmt.Fprintln(r.opt.Log, text) }
	prompts, err := parts.Prompts(ctx, r.plan, found)
	if err != nil {
		return err
	}
	for _, note := range prompts.Notes {
		fmt.Fprintln(r.opt.Log, note)
	}
	r.templated, r.sessions = prompts.Templated, prompts.Sessions
	if err := r.takeSchedule(prompts.Source); err != nil {
		return err
	}
	newEndpoint, err := kit.Pick(r.opt.Kit.Endpoints, "protocol", r.plan.Target.Protocol)
	if err != nil {
		return err
	}
	r.endpoint, err = newEndpoint(r.plan.Target, endpoint.Options{
		Clock: r.clock, TLS: secrets.tls, Key: secrets.key, Data: r.plan.Data, RunID: r.id(), Tokenizer: tok,
		KeepQuestions: r.plan.Output.KeepRaw, Limits: r.plan.Limits,
	})
	if err != nil {
		return err
	}
	if err := fit(prompts.Source, r.endpoint); err != nil {
		return err
	}
	decoder, err := kit.Pick(r.opt.Kit.Decoders, "decoder", r.plan.Target.Protocol)
	if err != nil {
		return err
	}
	plain := decoder(r.plan.Target, tok, !r.plan.Tokenizer.StandIn())
	decode := secrets.guard(plain, r.plan.Target)
	streamer, _ := endpoint.Able[endpoint.Streamer](plain)
	if err := r.preflight(ctx, decode, streamer, secrets); err != nil {
		return err
	}
	if err := r.makeServers(ctx, secrets); err != nil {
		return err
	}
	r.queue, r.tape, r.passages = newQueue(r.plan), sweep.NewTape(), new(sweep.Passages)
	r.live = engine.NewLive(r.queue.most())
	r.stop = make(chan string, 1)
	r.alike = &alike{halt: r.halt}
	if err := r.makeFolds(); err != nil {
		return err
	}
	r.facts.Header = r.header()
	if r.output, err = r.openOutput(); err != nil {
		return err
	}
	r.collect(decode, streamer)
	r.engine = engine.New(engine.Config{
		Now: r.clock.Now, Source: prompts.Source, Endpoint: r.endpoint, Decoder: decode, Sink: r.collector,
		NewSleeper: load.NewSleeper, Live: r.live, Feeders: runtime.GOMAXPROCS(0),
		Retries: r.plan.Target.Retries.Count, Backoff: time.Duration(r.plan.Target.Retries.Backoff),
		IgnoreRetryAfter: r.plan.Target.RetryAfter == plan.RetryIgnore,
	})
	return nil
}

// takeSchedule finds out when the prompts are due, where the plan leaves that to them.
func (r *run) takeSchedule(s prompt.Source) error {
	i := slices.IndexFunc(r.plan.Stages, func(s plan.Stage) bool { return s.Arrival == plan.ArrivalTrace })
	if i < 0 {
		return nil
	}
	if timed, ok := s.(prompt.Scheduler); ok {
		r.schedule = timed.Schedule()
	}
	if r.schedule == nil {
		return fmt.Errorf("stage %d wants the arrivals of a trace, and the prompts have no moments of their own: give an input file whose lines have a timestamp", i+1)
	}
	return nil
}

// check looks for everything that stands in the run's way, and tells of all of it.
func (r *run) check(ctx context.Context) (secrets, error) {
	s, err := readSecrets(r.plan.Target, secretFiles(r.plan.Limits))
	errs := []error{err, r.checkOutput(r.plan.Output.Dir)}
	var breakerErr error
	r.breakers, breakerErr = breaker.New(r.plan.Breakers, r.halt)
	errs = append(errs, breakerErr)
	wanted := r.plan.Target.HTTP2
	if err == nil {
		errs = append(errs, checkTarget(ctx, &r.plan.Target, r.plan.Data, s, r.opt.Log))
	}
	r.fellBack = wanted && !r.plan.Target.HTTP2
	l := limits{files: openFileLimit(), ports: localPorts(), ends: 1}
	if r.mock != nil {
		l.ends = 2
	}
	for _, text := range narrowLimits(highest(r.plan), l) {
		fmt.Fprintln(r.opt.Log, "warning: "+text)
	}
	return s, errors.Join(append(errs, checkLimits(highest(r.plan), l))...)
}

// id tells this run's requests from those of others in a server's log.
func (r *run) id() string {
	return "inferometer-" + strconv.FormatInt(r.clock.Start().UnixMilli(), 36)
}

func (r *run) header() record.Header {
	h := record.Header{
		Version: r.opt.Version, Start: r.clock.Start(), Seed: r.plan.Seed,
		Decoder: r.plan.Target.Protocol, Template: r.templated, Host: health.Host(), Calibration: r.opt.Calibration,
		Proxy: strings.Join(proxy.Of(r.plan.Target), ", "), FellBack: r.fellBack,
	}
	if s, ok := r.endpoint.(endpoint.Stamper); ok {
		h.Kernel = s.KernelStamps()
	}
	return h
}

// makeFolds makes one fold for each core.
func (r *run) makeFolds() error {
	r.pool = stat.NewPool("", metric.SampleMemory)
	for range runtime.GOMAXPROCS(0) {
		live := new(metric.Live)
		fold, err := metric.NewFold(foldOptions(r.plan, r.live.Window, r.pool, live))
		if err != nil {
			return err
		}
		r.folds, r.lives = append(r.folds, fold), append(r.lives, live)
	}
	return nil
}

// collect starts the collector.
func (r *run) collect(decoder endpoint.Decoder, streamer endpoint.Streamer) {
	var folders []collect.Folder
	for _, f := range r.folds {
		all := several{f}
		if r.plan.Measurement.On() {
			all = append(all, r.tape)
		}
		if r.plan.Saturation.On() {
			all = append(all, r.passages)
		}
		if len(r.plan.Breakers) > 0 {
			all = append(all, r.breakers)
		}
		if !r.plan.MaxErrors.NotAlike {
			all = append(all, r.alike)
		}
		folders = append(folders, all)
	}
	r.collector = collect.New(collect.Config{
		Decoder: decoder, Writer: r.output.records(), KeepRaw: r.plan.Output.KeepRaw, Now: r.clock.Now,
		Limits: answerLimits(r.plan.Limits), Streamer: streamer, Folds: folders, Judge: r.judge, Session: r.addSession,
	})
}

// answerLimits are those of what is held of an answer.
func answerLimits(l plan.Limits) collect.Limits {
	return collect.Limits{Answer: int(l.Answer), Stream: int(l.Stream), Event: int(l.Event), Raw: int(l.Raw)}
}

// foldOptions say how the records of a plan are to be seen.
func foldOptions(p *plan.Plan, bounds func(int) (time.Duration, time.Duration), pool *stat.Pool, live *metric.Live) metric.Options {
	o := result.FoldOptions(p)
	o.Bounds, o.Pool, o.Live = bounds, pool, live
	return o
}

// fewestEnded is how many requests must have ended before their share of failures
// can end a run.
const fewestEnded = 20

// judge counts failures and ends a run that has too many.
func (r *run) judge(class record.Class) {
	ended := r.ended.Add(1)
	if class == "" || class == record.Cancelled || class == record.CutOff {
		return
	}
	failed := r.failed.Add(1)
	m := r.plan.MaxErrors
	over := m.Count > 0 && failed >= m.Count ||
		m.Share > 0 && ended >= fewestEnded && float64(failed) > m.Share*float64(ended)
	if over {
		r.halt("errors")
	}
}

// addSession takes note of how a recorded session was played.
func (r *run) addSession(m record.SessionMark) {
	r.sessionsMu.Lock()
	defer r.sessionsMu.Unlock()
	r.facts.AddSession(&m)
}

// halt asks the stage under way to send no more.
func (r *run) halt(reason string) {
	select {
	case r.stop <- reason:
	default:
	}
}

// execute runs the stages and gives the result.
func (r *run) execute(ctx context.Context) (*result.Result, error) {
	watch, stopWatching := context.WithCancel(context.Background())
	defer stopWatching()
	go r.clock.Watch(watch)
	if r.opt.Stop != nil {
		go func() {
			select {
			case <-r.opt.Stop:
				r.halt(record.StopInterrupted)
			case <-watch.Done():
			}
		}()
	}
	if r.opt.Watch != nil {
		r.opt.Watch(r.progress)
	}
	r.sampler, r.watchdog = health.NewSampler(), health.NewWatchdog(r.clock.Now)
	go r.watchdog.Watch(watch)
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		r.sample(watch)
	}()
	runErr := r.saturate(ctx)
	if runErr == nil && !r.facts.Interrupted {
		runErr = r.stages(ctx)
	}
	stopWatching()
	<-sampled
	r.gather(ctx)
	return r.conclude(runErr)
}

// conclude decodes what is left and puts the result together.
func (r *run) conclude(runErr error) (*result.Result, error) {
	r.phase.Store(reporting)
	asRun := r.queue.asRun()
	r.facts.Incomplete = lacksStages(&r.facts, len(asRun.Stages))
	err := errors.Join(runErr, r.collector.Close())
	if r.counter != nil && r.counter.Err() != nil {
		fmt.Fprintf(r.opt.Log, "warning: %v; such texts count as 0 tokens\n", r.counter.Err())
	}
	for _, f := range r.folds[1:] {
		err = errors.Join(err, r.folds[0].Merge(f))
	}
	r.facts.Asked = r.plan
	r.output.end()
	res, buildErr := build(asRun, r.facts, r.folds[0], r.output.recordsPath(), r.pool)
	if buildErr != nil {
		return nil, errors.Join(err, fmt.Errorf("making the result: %w", buildErr))
	}
	err = distinct(errors.Join(err, r.output.finish(res)))
	if err != nil && slices.ContainsFunc(r.facts.Stages, func(m record.StageMark) bool { return m.Reason == record.StopRecords }) {
		err = &BreakError{err}
	}
	return res, err
}

// close gives back what the run holds.
func (r *run) close() {
	defer r.cancel(nil)
	if r.engine != nil {
		r.engine.Close()
	}
	if r.endpoint != nil {
		r.endpoint.Close()
	}
	_ = r.servers.close()
	if r.archive != nil {
		_ = r.archive.Close()
	}
	for _, f := range r.folds {
		f.Close()
	}
	if r.pool != nil {
		r.pool.Close()
	}
	if r.mock != nil {
		r.mock.Close()
	}
	r.output.remove()
}
