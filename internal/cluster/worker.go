package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/cluster/clockoffset"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/health"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// WorkerOptions are what a worker works with.
type WorkerOptions struct {
	Bus   *bus.Link
	RunID string // the run to join; empty: any that lacks a worker
	Name  string // its own among the workers of the run
	Dir   string // where it keeps its records
	Run   run.Options
	Wait  time.Duration // how long to wait for a run to join
	// Leave, once closed, has the worker end what it has in flight, ship its records and leave. Optional.
	Leave <-chan struct{}
	Log   io.Writer

	// Uptime is the clock that the lease is judged by, and NewClock makes that of the run, at an offset. Optional: this
	// machine's.
	Uptime   func() time.Duration
	NewClock func(offset time.Duration) *timedconn.Clock
}

// ErrAlone means that the coordinator is not heard any more. The worker's records are kept.
var ErrAlone = errors.New("the coordinator is gone")

// errTold is why a worker ends that had nothing in flight.
var errTold = errors.New("stopped by a signal")

type worker struct {
	opt    WorkerOptions
	bus    *bus.Bus // within the subjects of the run
	key    string
	place  joinResponse
	plan   *plan.Plan
	lease  *lease
	warned *warnings // what it says while it prepares
	clock  *timedconn.Clock
	error  *clockoffset.Estimator // of the clock, against the coordinator's
	w      *run.Worker
	file   *file
	box    *bus.Outbox

	mu     sync.Mutex
	roster []record.WorkerInfo // of the run; none: no stage was ordered yet
	last   uint64              // number of the last order
	left   bool                // it takes no more tasks
	let    bool                // the coordinator knows that, and takes its records
	work   sync.WaitGroup      // tasks
	task   *task               // the last, or nil

	life  context.Context // until it ends
	die   context.CancelFunc
	stops []func()      // end what was begun, the last first
	ended chan struct{} // the coordinator wants no more
	once  sync.Once
	why   ending // and why; set before
}

// RunWorker joins a run and sends its share, until the coordinator ends it, or ctx does. Who is told to
// leave before it is ready fails.
func RunWorker(ctx context.Context, o WorkerOptions) error {
	if o.Uptime == nil {
		start := time.Now()
		o.Uptime = func() time.Duration { return time.Since(start) }
	}
	if o.NewClock == nil {
		o.NewClock = timedconn.NewClockAt
	}
	early, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-o.Leave:
			cancel(errTold)
		case <-early.Done():
		}
	}()
	w, err := join(early, o)
	if err != nil {
		return fmt.Errorf("joining a run: %w", err)
	}
	defer w.hangUp()
	go w.lease.keep(w.life, func(ctx context.Context) error { return w.publish(ctx, onRenew, from{w.key}) })
	go func() { // whatever it is doing ahead of the first stage ends with the run
		select {
		case <-w.lease.over:
			cancel(w.lease.err)
		case <-w.ended:
			cancel(w.dismissed())
		case <-early.Done():
		}
	}()
	if err := w.prepare(early); err != nil {
		err = cmp.Or(context.Cause(early), err)
		w.reportFault(ctx, err)
		w.discard()
		return err
	}
	return errors.Join(w.serve(ctx), w.close())
}

func join(ctx context.Context, o WorkerOptions) (*worker, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Wait, fmt.Errorf("no run wanted a worker within %s", o.Wait))
	defer cancel()
	me := joinRequest{Key: rand.Text(), Name: o.Name, Version: o.Run.Version, Host: health.Host()}
	looking := &search{bus: o.Bus.Bus(lobby), version: me.Version, log: o.Log}
	for {
		id, err := o.RunID, error(nil)
		if id == "" {
			if id, err = looking.find(ctx); err != nil {
				return nil, err
			}
		}
		b := o.Bus.Bus(id)
		asked := o.Uptime()
		given, err := bus.Request[joinResponse](ctx, b, onJoin, me)
		switch {
		case err != nil:
			return nil, err
		case given.Full && o.RunID != "":
			return nil, fmt.Errorf("run %s: %w (%d)", id, errFull, given.Of)
		case given.Full:
			continue // somebody was faster
		case given.Index < 0 || given.Index >= given.Of:
			return nil, fmt.Errorf("run %s gives place %d of %d", id, given.Index, given.Of)
		}
		fmt.Fprintf(o.Log, "Worker %d of %d in run %s: preparing.\n", given.Index+1, given.Of, id)
		warned := &warnings{Writer: o.Run.Log}
		o.Run.Log = warned
		w := &worker{opt: o, bus: b, key: me.Key, place: given, lease: newLease(o.Uptime, asked), warned: warned, ended: make(chan struct{})}
		w.life, w.die = context.WithCancel(context.WithoutCancel(ctx))
		stop, err := bus.Handle(b, to(onEnd, w.key), w.end)
		if err != nil {
			return nil, err
		}
		w.stops = append(w.stops, stop)
		return w, nil
	}
}

// end takes word that the run is over.
func (w *worker) end(e ending) (none, error) {
	w.once.Do(func() {
		w.why = e
		close(w.ended)
	})
	return none{}, nil
}

// dismissed is what a worker ends with that has not begun when the run ends.
func (w *worker) dismissed() error {
	return fmt.Errorf("the run ended before it began: %s", cmp.Or(w.why.Reason, errOver.Error()))
}

// hangUp ends what listens and renews.
func (w *worker) hangUp() {
	w.die()
	for _, stop := range w.stops {
		stop()
	}
}

// whileHeard is a context for what the coordinator takes: it is over when that has not been heard for so long beyond the lease.
func (w *worker) whileHeard(more time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(w.life)
	go func() {
		select {
		case <-w.lease.over:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(more):
			cancel(w.lease.err)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// publish tells the coordinator something.
func (w *worker) publish(ctx context.Context, subject string, what any) error {
	_, err := bus.Request[none](ctx, w.bus, subject, what)
	return err
}

// prepare makes everything that the first request needs.
func (w *worker) prepare(ctx context.Context) error {
	given, err := bus.Request[assignment](ctx, w.bus, onPlan, from{w.key})
	if err != nil {
		return err
	}
	if w.plan = given.Plan; w.plan == nil {
		return errors.New("the coordinator gives no plan")
	}
	if err := w.setClock(ctx); err != nil {
		return err
	}
	if w.file, err = newFile(w.opt.Dir, w.plan); err != nil {
		return err
	}
	share := load.Shard{Index: w.place.Index, Of: w.place.Of}
	duty := run.WorkerConfig{Run: w.place.Run, Share: share, Clock: w.clock, Out: w.file, MaySend: w.maySend()}
	if w.w, err = run.NewWorker(ctx, w.plan, w.opt.Run, duty); err != nil {
		return err
	}
	if w.box, err = w.bus.Outbox(ctx, w.opt.Name, w.file.File); err != nil {
		return fmt.Errorf("shipping records: %w", err)
	}
	w.file.ship(w.box)
	return nil
}

// maySend tells of a time of the run's clock whether the lease holds. That clock and the lease's are the same but for where they
// begin; reading the run's first makes the time later, never earlier.
func (w *worker) maySend() func(now time.Duration) bool {
	run := w.clock.Now()
	ahead := run - w.opt.Uptime()
	return func(now time.Duration) bool { return w.lease.holds(now - ahead) }
}

// discard gives back what a worker holds that has not become ready.
func (w *worker) discard() {
	if w.w != nil {
		_ = w.w.End() // nothing was recorded
		_ = w.w.Close()
	}
	if w.file != nil {
		_ = w.file.Close()
	}
}

// reportFault tells the coordinator why this worker cannot send.
func (w *worker) reportFault(ctx context.Context, fault error) {
	if isClosed(w.ended) || isClosed(w.lease.over) {
		return // it is not waited for
	}
	ctx, cancel := context.WithTimeout(ctx, leaveFor)
	defer cancel()
	_ = w.publish(ctx, onReady, readiness{from: from{w.key}, Fault: fault.Error()}) // the lease runs out otherwise
}

// serve carries out tasks until the coordinator ends it or is gone.
func (w *worker) serve(ctx context.Context) error {
	var errs []error
	add := func(stop func(), err error) {
		if errs = append(errs, err); err == nil {
			w.stops = append(w.stops, stop)
		}
	}
	add(bus.Handle(w.bus, to(onOrder, w.key), w.order))
	add(bus.Handle(w.bus, to(onGo, w.key), w.begin))
	add(bus.Handle(w.bus, to(onHalt, w.key), w.halt))
	add(bus.Handle(w.bus, to(onFlush, w.key), w.flush))
	if err := errors.Join(errs...); err != nil {
		w.reportFault(ctx, err)
		return err
	}
	asking, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	if err := w.publish(asking, onReady, readiness{from: from{w.key}, Clock: w.accuracy(), Warnings: w.warned.found()}); err != nil {
		return err
	}
	watch, stop := context.WithCancel(ctx)
	defer stop()
	go w.error.Watch(watch, w.askClock, tripsAgain, clockEvery, func(error) {}) // the next round tells, too
	select {
	case <-w.ended:
		if w.why.Unread {
			return w.dismissed()
		}
		return nil
	case <-w.box.Done():
		return fmt.Errorf("shipping records: %w; they are in %s", errors.Join(w.box.Err()), w.opt.Dir)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.lease.over:
		return w.leave(ctx, true)
	case <-w.opt.Leave:
		return w.leave(ctx, false)
	}
}

// leave ends what is in flight, and takes no more: because of a signal, or since the coordinator was not heard.
func (w *worker) leave(ctx context.Context, cut bool) error {
	at := w.clock.Now()
	if cut {
		w.retire(record.StopLease)
		fmt.Fprintf(w.opt.Log, "Worker %d: %v: sending no more.\n", w.place.Index+1, w.lease.err)
	} else {
		fmt.Fprintf(w.opt.Log, "Worker %d: told to stop: finishing %d in-flight requests.\n", w.place.Index+1, w.w.InFlight())
	}
	asking, cancel := context.WithTimeout(ctx, leaveFor)
	defer cancel()
	// The coordinator knows first: it asks for nothing then.
	err := w.publish(asking, onLeave, leaving{from: from{w.key}, At: at, Cut: cut, Clock: w.accuracy()})
	w.mu.Lock()
	w.let = err == nil
	w.mu.Unlock()
	w.retire(record.StopInterrupted)
	if err != nil {
		w.die() // marks are no longer read
	}
	over := make(chan struct{})
	go func() {
		w.work.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
		w.abort()
		<-over
	}
	switch {
	case err == nil:
		return nil
	case cut:
		return fmt.Errorf("%w; what was recorded is in %s", w.lease.err, w.opt.Dir)
	}
	return fmt.Errorf("sending to the coordinator: %w; what was recorded is in %s", err, w.opt.Dir)
}

// close ends the records, and waits until the coordinator has them where it is still there.
func (w *worker) close() error {
	w.abort()
	w.mu.Lock()
	let := w.let
	w.noteClock()
	w.mu.Unlock()
	w.retire(record.StopInterrupted)
	if isClosed(w.ended) {
		let = !w.why.Unread
	}
	if isClosed(w.lease.over) && errors.Is(w.lease.err, errRefused) {
		let = false
	}
	if !let {
		w.die()
	}
	w.work.Wait() // until then there are records to come
	err := w.w.End()
	if let {
		ctx, cancel := w.whileHeard(shipFor)
		defer cancel()
		if err = errors.Join(err, w.box.Close(ctx)); err == nil {
			err = w.publish(ctx, onBye, from{w.key})
		}
	} else {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.life), time.Second)
		defer cancel()
		_ = w.box.Abandon(ctx) // it will not be read
	}
	w.file.ship(nil)
	return errors.Join(err, w.w.Close(), w.file.Close())
}

// isClosed reports whether a channel is closed on which nothing is sent.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
