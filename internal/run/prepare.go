package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/proxy"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/breaker"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/run/health"
	"github.com/inferometer/inferometer/internal/run/monitor"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// setup makes everything that the first request needs, one thing after the other.
type setup struct {
	plan     *plan.Plan
	opt      *Options
	clock    *timedconn.Clock
	stopper  abort.Stopper
	protocol endpoint.Protocol
	share    load.Shard                   // of the load that this process sends
	maySend  func(now time.Duration) bool // is asked before each request; nil means all may go
	sources  []netip.Prefix               // the plan's source addresses, of which this machine may lack some
	made     []func()                     // give back what was made, the last first
}

// onClose remembers how to give back what was made.
func (p *setup) onClose(undo func()) { p.made = append(p.made, undo) }

func (p *setup) close() {
	for _, undo := range slices.Backward(p.made) {
		undo()
	}
}

// log is where the run says what it is doing.
func (p *setup) log() message.Log { return message.Log{To: p.opt.Log, Names: p.opt.Names} }

// buildOrStop prepares the run, unless the user stops it before that is done.
func (p *setup) buildOrStop(ctx context.Context, stop <-chan struct{}) (*session, error) {
	// The context outlives this: what was made with it is used by the run.
	ctx, cancel := context.WithCancelCause(ctx)
	p.onClose(func() { cancel(nil) })
	prepared := make(chan struct{})
	defer close(prepared)
	go func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-prepared:
		}
	}()
	r, err := p.run(ctx)
	if err == nil && p.opt.Fleet != nil {
		err = p.opt.Fleet.Prepare(ctx, p.plan, r.intake)
	}
	switch {
	case err == nil:
		return r, nil
	case errors.Is(context.Cause(ctx), errStopped):
		return nil, errStopped
	}
	return nil, &PrepareError{Err: err}
}

func (p *setup) run(ctx context.Context) (*session, error) {
	if err := p.gated(); err != nil {
		return nil, err
	}
	if p.opt.Fleet != nil {
		p.ownSources()
	}
	mocked := len(p.plan.Target.URLs) == 0
	if mocked {
		server, err := target.StartMock(p.plan, p.opt.Log)
		if err != nil {
			return nil, err
		}
		p.onClose(func() { server.Close() })
	}
	found, err := p.check(ctx, mocked)
	if err != nil {
		return nil, p.withFiles(ctx, err)
	}
	asked, err := p.questions(ctx, found.secrets)
	if err != nil {
		return nil, err
	}
	p.playOnce(asked.Sessions)
	c, err := p.client(found.secrets, asked)
	if err != nil {
		return nil, err
	}
	if !mocked {
		if err := target.NewPreflight(p.plan, c, p.opt.Kit.Getenv, p.opt.Log).Check(ctx); err != nil {
			return nil, err
		}
	}
	reset := target.NewCacheReset(p.plan.Target, found.secrets, p.opt.Kit.Getenv, p.log())
	if reset != nil {
		p.onClose(reset.Close)
		if err := reset.Reset(ctx); err != nil {
			return nil, err
		}
	}
	probes := endpoint.Options{Clock: p.clock, TLS: found.secrets.TLS, Key: found.secrets.Key, Getenv: p.opt.Kit.Getenv}
	if found.secrets.Live != nil {
		probes.Live = found.secrets.Live
	}
	if !mocked {
		monitor.FindPages(ctx, p.plan, p.opt.Kit, probes, p.opt.Log)
	}
	arch, err := monitor.OpenPrometheus(ctx, p.plan, p.opt.Kit, probes, found.secrets.Texts(p.plan.Target))
	if err != nil {
		return nil, err
	}
	if arch != nil {
		p.onClose(arch.Close)
	}
	asks, err := monitor.OpenServers(p.plan, p.protocol, p.opt.Kit, probes, found.secrets.Texts(p.plan.Target))
	p.onClose(asks.Close)
	if err != nil {
		return nil, err
	}
	r, err := p.assemble(asked, c, found, asks)
	if err != nil {
		return nil, err
	}
	r.archive = arch
	if reset != nil {
		r.stages.ResetCache = reset.Reset
	}
	return r, nil
}

// assemble puts the run together of its parts.
func (p *setup) assemble(asked *promptSource, c *target.Client, found *findings, asks *monitor.Servers) (*session, error) {
	if p.opt.Fleet != nil {
		p.plan.Target.SourceAddresses = p.sources // workers may have others
	}
	live := engine.NewLive(executor.MostStages(p.plan))
	options := metric.OptionsFor(p.plan)
	options.Workers, options.Times = p.opt.Fleet != nil, live.Times
	var drawn *sketches
	var each func() func(*metric.Request)
	if p.drawAlong() {
		drawn = &sketches{plan: p.plan, live: live, watcher: aside.New("The report page", p.opt.warn)}
		each = drawn.add
	}
	folded, err := collect.NewAggregators(options, each)
	if err != nil {
		return nil, err
	}
	p.onClose(folded.Close)
	facts := build.Inputs{Header: p.header(asked, c, found.fellBack), OriginalPlan: p.plan, Names: p.opt.Names}
	out, err := rundir.Create(p.plan, facts.Header, p.outputOptions())
	p.onClose(out.Remove)
	if err != nil {
		return nil, err
	}
	book := rundir.NewJournal(p.plan, out, facts)
	same, tape, passages := abort.NewSameFailure(p.stopper.Stop), sweep.NewLog(), new(sweep.StepLog)
	besides := p.folders(found.breakers, same, tape, passages)
	var capacity *search.Capacity
	if p.plan.Capacity.On() {
		if capacity, err = search.NewCapacity(p.plan, p.clock.Now, live, p.opt.Log); err != nil {
			return nil, err
		}
		besides = append(besides, capacity)
	}
	q := executor.NewQueue(p.plan, capacity)
	collector := p.collector(c, folded, book, besides)
	p.onClose(collector.Stop)
	eng := p.engine(asked, c, collector, live)
	p.onClose(eng.Close)
	send := &executor.Sender{
		Plan: p.plan, Schedule: asked.schedule, Engine: eng, Endpoint: &c.Endpoint, SameFailure: same, Stopper: p.stopper,
		Workers: p.opt.Fleet, Live: live,
	}
	settle := collector.Sync
	if p.opt.Fleet != nil {
		settle = p.opt.Fleet.Sync
	}
	reading := new(record.Reading)
	return &session{
		opt: p.opt, clock: p.clock, stopper: p.stopper, setup: target.SetupOf(&c.Endpoint, p.plan.Target),
		stages: executor.Config{
			Plan: p.plan, Queue: q, Sender: send, Journal: book, Folds: folded, Steps: passages, Samples: tape, Log: p.opt.Log, Sync: settle,
			Poller:   &monitor.Poller{Servers: asks, Plan: p.plan, Now: p.clock.Now, Journal: book},
			Observer: p.opt.Observer, Stage: p.opt.Stage, Warn: p.opt.warn, Lanes: prompt.LanesOf(asked.Source), Sessions: asked.Sessions,
			Whole: playsWhole(asked.Source),
		},
		intake: executor.NewWorkerRecords(p.clock.Now, collector, book, p.unshipped),
		gauge: &progressTracker{plan: p.plan, header: &book.Facts.Header, now: p.clock.Now, queue: q, live: live, lives: folded.Live,
			collector: collector, reading: reading},
		sampler: &monitor.HealthMonitor{Clock: p.clock, Live: live, Collector: collector, Journal: book},
		outcome: &resultBuilder{log: p.opt.Log, queue: q, journal: book, folds: folded, collector: collector, counter: asked.counter(),
			saved: p.opt.Saved, draw: p.opt.Draw, sketches: drawn, reading: reading},
	}, nil
}

// outputOptions say how the run's directory is made. What was warm-up, what workers saw, what is exported
// or drawn, and intervals take the records out again.
func (p *setup) outputOptions() rundir.Options {
	o := p.opt
	return rundir.Options{
		Replace: o.Replace, Alarm: p.unwritten, Create: o.create,
		Temporary: saved.NeedsRecords(p.plan) || o.Fleet != nil || o.Saved != nil || o.Draw != nil && !p.drawAlong(),
	}
}

// findings are what the check ahead of a run has found.
type findings struct {
	secrets  target.Secrets
	breakers *breaker.Set
	fellBack bool // from HTTP/2, which was asked for, to HTTP/1.1
}

// check looks for everything that stands in the run's way, and tells of all of it.
func (p *setup) check(ctx context.Context, mocked bool) (*findings, error) {
	var f findings
	var err, breakerErr error
	if p.protocol, err = registry.Pick(p.opt.Kit.Protocols, "protocol", p.plan.Target.Protocol); err != nil {
		return nil, err
	}
	f.secrets, err = target.ReadSecrets(ctx, p.plan.Target, p.plan.Limits, p.opt.Kit.Getenv)
	errs := []error{err}
	if p.opt.OutputDir == nil {
		errs = append(errs, rundir.Check(p.plan.Output.Dir, p.opt.Replace))
	}
	f.breakers, breakerErr = breaker.New(p.plan.Breakers, p.stopper.Stop)
	errs = append(errs, breakerErr)
	wanted := p.plan.Target.HTTP2
	pairs, sourcesErr := target.CheckSources(ctx, &p.plan.Target, p.opt.Kit.Getenv)
	errs = append(errs, sourcesErr)
	if err == nil && sourcesErr == nil {
		checker := target.Checker{Plan: p.plan, Protocol: p.protocol, Protocols: p.opt.Kit.Protocols, Getenv: p.opt.Kit.Getenv, Log: p.log()}
		errs = append(errs, checker.Check(ctx, f.secrets))
	}
	if p.opt.OutputDir != nil { // which may depend on the model, known by now
		p.plan.Output.Dir = p.opt.OutputDir(p.plan)
		errs = append(errs, rundir.Check(p.plan.Output.Dir, p.opt.Replace))
	}
	f.fellBack = wanted && !p.plan.Target.HTTP2
	l := p.limits(pairs, mocked)
	load := target.PeakLoad(p.plan, p.share)
	for _, warning := range l.Warnings(load) {
		p.log().Printf("warning: %v\n", warning)
	}
	return &f, errors.Join(append(errs, l.Check(load))...)
}

// limits are what the system grants this process. Workers of this machine share its ports, and
// have their own files.
func (p *setup) limits(pairs int, mocked bool) target.SystemLimits {
	l := target.ReadSystemLimits(pairs)
	if mocked {
		l.Ends = 2
	}
	if p.opt.Fleet != nil {
		l.Files = 0
	}
	if p.opt.Fleet != nil && p.opt.RemoteWorkers {
		l.Ports = 0
	}
	return l
}

// ownSources leaves out the source addresses of other machines, where this one has some of the plan's.
func (p *setup) ownSources() {
	p.sources = p.plan.Target.SourceAddresses
	p.plan.Target.SourceAddresses = target.OwnSources(p.sources, p.opt.Fleet != nil)
}

// promptSource are what is asked of the servers.
type promptSource struct {
	registry.Prompts
	tokenizer prompt.Tokenizer
	schedule  func() load.Arrivals // begins those at the prompts' own times; nil: they have none
}

// counter is the tokenizer where it may fail on a text; nil means it cannot.
func (q *promptSource) counter() interface{ Err() error } {
	c, _ := q.tokenizer.(interface{ Err() error })
	return c
}

func (p *setup) questions(ctx context.Context, secrets target.Secrets) (*promptSource, error) {
	found, err := p.tokenizer(ctx, secrets)
	if err != nil {
		return nil, err
	}
	parts := p.opt.Kit
	parts.Tell = func(text string) { fmt.Fprintln(p.opt.Log, text) }
	if model := p.plan.Data.VLLM.Align; model != "" && len(p.plan.Target.URLs) > 0 {
		parts.Server = target.OpenPlainTokenServer(&p.plan.Target, model, secrets, p.opt.Kit.Getenv)
	}
	q := &promptSource{tokenizer: found.Tokenizer}
	if q.Prompts, err = parts.Prompts(ctx, p.plan, found); err != nil {
		return nil, err
	}
	for _, note := range q.Notes {
		fmt.Fprintln(p.opt.Log, note)
	}
	q.schedule, err = scheduleOf(p.plan, q.Source)
	return q, err
}

// playOnce leaves out stages whose sessions have all been played by then, if the plan wants none of
// them twice.
func (p *setup) playOnce(sessions int) {
	if !p.plan.Data.Replay.Once || sessions == 0 {
		return
	}
	stages := executor.Once(p.plan.Stages, int64(sessions))
	for i := len(stages); i < len(p.plan.Stages); i++ {
		p.log().Printf("%v is left out: the stages before it play all %d sessions.", message.Stage(i), sessions)
	}
	p.plan.Stages = stages
}

func playsWhole(s prompt.Source) bool {
	whole, ok := s.(prompt.Replayer)
	return ok && whole.PlaysWhole()
}

// scheduleOf is when the prompts are due, where the plan leaves that to them.
func scheduleOf(p *plan.Plan, s prompt.Source) (func() load.Arrivals, error) {
	i := slices.IndexFunc(p.Stages, func(s plan.Stage) bool { return s.Arrival == plan.ArrivalTrace })
	if i < 0 {
		return nil, nil
	}
	if timed, ok := s.(prompt.Scheduler); ok {
		if timed.Schedule() != nil {
			return func() load.Arrivals { return load.Trace(timed.Schedule()) }, nil
		}
	}
	return nil, message.Errorf("%v uses the arrivals of a trace, but the prompts have no timestamps: give an input file whose lines have a timestamp, or choose a load of a concurrency or a rate", message.Stage(i))
}

func (p *setup) client(s target.Secrets, q *promptSource) (*target.Client, error) {
	// The id tells this run's requests from those of others in a server's log.
	id := "inferometer-" + p.opt.ID
	var live endpoint.LiveKey
	if s.Live != nil {
		live = s.Live
		ctx, end := context.WithCancel(context.Background())
		p.onClose(end)
		go s.Live.Watch(ctx, func(text string) { p.log().Printf("warning: %s\n", text) })
	}
	e, err := p.protocol.Open(p.plan.Target, endpoint.Options{
		Clock: p.clock, TLS: s.TLS, Key: s.Key, Live: live, Getenv: p.opt.Kit.Getenv, Data: p.plan.Data, RunID: id, Tokenizer: q.tokenizer,
		KeepRequests: p.plan.Output.KeepRaw, Limits: p.plan.Limits,
	})
	if err != nil {
		return nil, err
	}
	p.onClose(func() { e.Close() })
	// What a source of tensors has is held against the model that is to take it.
	if source, ok := q.Source.(prompt.ModelBinder); ok && e.Tensors != nil {
		if err := source.Fit(e.Tensors); err != nil {
			return nil, err
		}
	}
	decoder := p.protocol.Decoder(p.plan.Target, q.tokenizer, !p.plan.Tokenizer.StandIn())
	return &target.Client{Protocol: p.protocol, Endpoint: e, Decoder: s.Guard(decoder, p.plan.Target), Secrets: s}, nil
}

func (p *setup) header(q *promptSource, c *target.Client, fellBack bool) record.Header {
	return record.Header{
		Version: p.opt.Version, Start: p.clock.Start(), Seed: p.plan.Seed, Run: p.opt.ID,
		Decoder: p.plan.Target.Protocol, Template: q.Templated, Host: health.Host(), Calibration: p.opt.Calibration,
		Proxy: strings.Join(proxy.ProxiesFor(p.plan.Target, p.opt.Kit.Getenv), ", "), FellBack: fellBack, Kernel: c.Endpoint.KernelStamps,
	}
}

// unwritten reports at once that records cannot be written any more, and ends the run where
// the plan wants that.
func (p *setup) unwritten(err error) {
	if p.plan.Output.OnFull == plan.OnFullStop {
		defer p.stopper.Stop(record.StopRecords)
		p.opt.warn(fmt.Sprintf("%v. Stopping the run (output.on_disk_full: stop).", err))
		return
	}
	p.opt.warn(fmt.Sprintf("%v. Continuing without records.", err))
}

// unshipped reports that a worker cannot write its records, which are not known anywhere else: the run ends.
func (p *setup) unshipped(err error) {
	if p.stopper.Offer(record.StopRecords) {
		p.opt.warn(fmt.Sprintf("%v. The run is ended: requests would be missing from its figures.", err))
	}
}

// folders are what every record goes to besides the fold of its core.
func (p *setup) folders(b *breaker.Set, same *abort.SameFailure, tape *sweep.SampleLog, passages *sweep.StepLog) collect.Consumers {
	var all collect.Consumers
	if p.plan.Measurement.On() {
		all = append(all, tape)
	}
	if p.plan.Saturation.On() {
		all = append(all, passages)
	}
	if len(p.plan.Breakers) > 0 {
		all = append(all, b)
	}
	if !p.plan.MaxErrors.NotAlike {
		all = append(all, same)
	}
	return all
}

// collector starts what takes finished records.
func (p *setup) collector(c *target.Client, f *collect.Aggregators, book *rundir.Journal, besides collect.Consumers) *collect.Collector {
	var each []collect.Consumer
	for _, fold := range f.List {
		each = append(each, append(collect.Consumers{fold}, besides...))
	}
	return collect.New(collect.Config{
		Decoder: c.Decoder, Writer: book.Writer.Records(), KeepRaw: p.plan.Output.KeepRaw, NoTexts: p.plan.Output.NoTexts, Now: p.clock.Now,
		Limits: p.plan.Limits, Folds: each,
		Judge: abort.NewErrorLimit(p.plan.MaxErrors, p.stopper).Count, Session: book.AddSession,
	})
}

func (p *setup) engine(q *promptSource, c *target.Client, sink *collect.Collector, live *engine.Counters) *engine.Engine {
	prepare := c.Endpoint.Prepare
	if see := p.opt.Prompt; see != nil {
		prepare = func(asked *prompt.Prompt) (endpoint.Call, error) {
			see(asked)
			return c.Endpoint.Prepare(asked)
		}
	}
	sleeper := p.opt.NewSleeper
	if sleeper == nil {
		sleeper = load.NewSleeper
	}
	var cancel func(seq int64) time.Duration
	if p.plan.Cancel.Share > 0 {
		cancel = prompt.NewCancellation(p.plan.Cancel, p.plan.Seed).After
	}
	return engine.New(engine.Config{
		Now: p.clock.Now, Source: q.Source, Prepare: prepare, Decoder: c.Decoder, Sink: sink, Session: sink.Session,
		NewSleeper: sleeper, Live: live, Feeders: runtime.GOMAXPROCS(0), MaySend: p.maySend,
		Retries: p.plan.Target.Retries.Count, Backoff: time.Duration(p.plan.Target.Retries.Backoff),
		CancelAfter: cancel, IgnoreRetryAfter: p.plan.Target.RetryAfter == plan.RetryIgnore,
	})
}
