package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/cluster/offset"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/health"
	"github.com/inferometer/inferometer/internal/wire/clock"
)

// WorkerOptions are what a worker works with.
type WorkerOptions struct {
	Bus  *bus.Bus
	Name string // its own among the workers of the run
	Dir  string // where it keeps its records
	Run  run.Options
	Wait time.Duration // how long to wait for a run to join
	// Leave, once closed, has the worker end what it has under way, ship its records and leave;
	// nil: nobody asks for that.
	Leave <-chan struct{}
	Log   io.Writer
}

// ErrAlone means that the coordinator is not heard any more. The worker's records are kept.
var ErrAlone = errors.New("the coordinator is gone")

// errTold is why a worker ends that had nothing under way.
var errTold = errors.New("stopped by a signal")

// worker is one that has joined a run.
type worker struct {
	opt    WorkerOptions
	place  place
	warned *warnings // what it says while it prepares
	clock  *clock.Clock
	error  *offset.Estimator // of the clock, against the coordinator's
	w      *run.Worker
	file   *file
	box    *bus.Outbox

	mu     sync.Mutex
	roster []record.WorkerInfo // of the run; none: no stage was ordered yet
	left   bool                // it was told to stop: it takes no more tasks
	work   sync.WaitGroup      // tasks
	task   *run.Task
	going  chan begin // the stage under way may begin
	halted chan record.StopReason
	abort  context.CancelFunc

	life  context.Context // until it ends
	die   context.CancelFunc
	ended chan struct{} // the coordinator wants no more
	once  sync.Once
}

// Work joins a run and sends its share, until the coordinator ends it, or ctx does. Who is told to
// leave before it is ready fails.
func Work(ctx context.Context, o WorkerOptions) error {
	joining := joining{Name: o.Name, Version: o.Run.Version, Host: health.Host()}
	early, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-o.Leave:
			cancel(errTold)
		case <-early.Done():
		}
	}()
	asking, stopAsking := context.WithTimeout(early, o.Wait)
	defer stopAsking()
	given, err := bus.Ask[place](asking, o.Bus, onJoin, joining)
	if err != nil {
		return fmt.Errorf("joining a run: %w", err)
	}
	fmt.Fprintf(o.Log, "Worker %d of %d: preparing.\n", given.Index+1, given.Of)
	warned := &warnings{Writer: o.Run.Log}
	o.Run.Log = warned
	w := &worker{opt: o, place: given, warned: warned, ended: make(chan struct{}), abort: func() {}}
	w.life, w.die = context.WithCancel(context.Background())
	beat, stop := context.WithCancel(context.Background())
	defer stop()
	go o.Bus.Beat(beat, o.Name, beatEvery)
	if err := w.prepare(early); err != nil {
		err = cmp.Or(context.Cause(early), err)
		_ = w.ready(context.WithoutCancel(ctx), err)
		return err
	}
	return errors.Join(w.serve(ctx), w.close())
}

// prepare makes everything that the first request needs.
func (w *worker) prepare(ctx context.Context) error {
	if err := w.setClock(ctx); err != nil {
		return err
	}
	var err error
	if w.file, err = newFile(w.opt.Dir, w.place.Plan); err != nil {
		return err
	}
	share := load.Share{Index: w.place.Index, Of: w.place.Of}
	duty := run.Duty{Run: w.place.Run, Share: share, Clock: w.clock, Out: w.file}
	if w.w, err = run.NewWorker(ctx, w.place.Plan, w.opt.Run, duty); err != nil {
		return err
	}
	if w.box, err = w.opt.Bus.Outbox(ctx, w.opt.Name, w.file.File); err != nil {
		return fmt.Errorf("shipping records: %w", err)
	}
	w.file.ship(w.box)
	return nil
}

// ready says that this worker can send, or why it cannot.
func (w *worker) ready(ctx context.Context, fault error) error {
	r := readiness{Index: w.place.Index, Clock: w.accuracy(), Warnings: w.warned.found()}
	if fault != nil {
		r.Fault = fault.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	_, err := bus.Ask[none](ctx, w.opt.Bus, onReady, r)
	return err
}

// serve carries out tasks until the coordinator ends it or is gone.
func (w *worker) serve(ctx context.Context) error {
	b, i := w.opt.Bus, w.place.Index
	var errs []error
	var stops []func()
	add := func(stop func(), err error) {
		if errs = append(errs, err); err == nil {
			stops = append(stops, stop)
		}
	}
	add(bus.Answer(b, to(onOrder, i), w.order))
	add(bus.Answer(b, to(onFlush, i), w.flush))
	add(bus.Answer(b, to(onEnd, i), func(none) (none, error) {
		w.once.Do(func() { close(w.ended) })
		return none{}, nil
	}))
	add(bus.Hear(b, onGo, w.begin))
	add(bus.Hear(b, onHalt, w.halt))
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	pulse, err := b.Pulse()
	if errs = append(errs, err); err == nil {
		defer pulse.Close()
	}
	if err := errors.Join(append(errs, w.ready(ctx, errors.Join(errs...)))...); err != nil {
		return err
	}
	watch, stop := context.WithCancel(ctx)
	defer stop()
	go w.error.Watch(watch, w.askClock, tripsAgain, clockEvery, func(error) {}) // the next round tells, too
	return w.stay(ctx, pulse)
}

// stay waits for the end.
func (w *worker) stay(ctx context.Context, pulse *bus.Pulse) error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-w.ended:
			return nil
		case <-w.box.Done():
			return fmt.Errorf("shipping records: %w; they are in %s", errors.Join(w.box.Err()), w.opt.Dir)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.opt.Leave:
			return w.leave(ctx)
		case <-tick.C:
		}
		since, heard := pulse.Since(coordinatorName)
		if !heard {
			since = time.Since(began)
		}
		if since > lostAfter {
			return fmt.Errorf("%w: it was not heard for %s; what was recorded is in %s", ErrAlone, lostAfter, w.opt.Dir)
		}
	}
}

// leave ends what is under way, and takes no more.
func (w *worker) leave(ctx context.Context) error {
	at := w.clock.Now()
	fmt.Fprintf(w.opt.Log, "Worker %d: told to stop: finishing %d in-flight requests.\n", w.place.Index+1, w.w.InFlight())
	asking, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	// The coordinator knows first: it asks for nothing then.
	if _, err := bus.Ask[none](asking, w.opt.Bus, onLeave, leaving{Index: w.place.Index, At: at}); err != nil {
		fmt.Fprintf(w.opt.Log, "warning: telling the coordinator: %v\n", err)
	}
	w.mu.Lock()
	w.left = true
	if w.task != nil {
		select {
		case w.halted <- record.StopInterrupted:
		default: // it was told before
		}
		close(w.going) // what has not begun never will
	}
	abort := w.abort
	w.mu.Unlock()
	over := make(chan struct{})
	go func() {
		w.work.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
		abort()
		<-over
	}
	return nil
}

// order gets ready for a stage, which a goroutine of its own then carries out.
func (w *worker) order(o order) (none, error) {
	t := o.Task
	ctx, abort := context.WithCancel(context.Background())
	w.mu.Lock()
	if w.left || w.life.Err() != nil {
		w.mu.Unlock()
		abort()
		return none{}, errTold
	}
	w.work.Add(1)
	first := w.roster == nil
	w.roster, w.task, w.going, w.halted, w.abort = o.Workers, &t, make(chan begin, 1), make(chan record.StopReason, 1), abort
	going, halted := w.going, w.halted
	w.mu.Unlock()
	if first {
		w.w.Workers(o.Workers)
	}
	w.w.Warm(ctx, t)
	go func() {
		defer w.work.Done()
		w.carry(ctx, t, going, halted)
	}()
	return none{}, nil
}

// begin lets the stage begin that was ordered.
func (w *worker) begin(b begin) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.task != nil && w.task.Index == b.Stage && !w.left {
		select {
		case w.going <- b:
		default:
		}
	}
}

// halt ends the stage under way.
func (w *worker) halt(h halt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.task == nil || w.task.Index != h.Stage {
		return
	}
	select {
	case w.halted <- h.Reason:
	default: // it was told before
	}
	if h.Abort {
		w.abort()
	}
}

// carry carries out a task and says how it went.
func (w *worker) carry(ctx context.Context, t run.Task, going <-chan begin, halted <-chan record.StopReason) {
	defer w.abort()
	var at begin
	select {
	case b, open := <-going:
		if at = b; !open {
			return
		}
	case <-ctx.Done():
		return
	case <-w.ended:
		return
	}
	t.Start = at.At
	over := make(chan struct{})
	go w.tell(t, over)
	mark, err := w.w.Send(ctx, t, halted)
	close(over)
	e := ended{Index: w.place.Index, Mark: mark, Frames: w.file.shipped(), Next: w.w.Next(), Clock: w.accuracy()}
	e.Mark.Stage = t.Index
	w.mu.Lock()
	e.Left = w.left && mark.Reason == record.StopInterrupted
	w.mu.Unlock()
	if err != nil {
		e.Fault = err.Error()
	}
	asking, cancel := context.WithTimeout(w.life, lostAfter+askFor)
	defer cancel()
	if _, err := bus.Ask[none](asking, w.opt.Bus, onMark, e); err != nil {
		fmt.Fprintf(w.opt.Log, "warning: telling the coordinator how stage %d went: %v\n", t.Index+1, err)
	}
}

// flush hands over all that was recorded so far.
func (w *worker) flush(none) (f flushed, err error) {
	w.mu.Lock()
	t := w.task
	w.mu.Unlock()
	if f.Status.Stage = noStage; t != nil {
		f.Status = w.status(*t)
	}
	err = w.w.Flush()
	f.Frames = w.file.shipped()
	return f, err
}

// status is how far this worker has come.
func (w *worker) status(t run.Task) status {
	// What is known of a stage is noted a moment after it has come about.
	at := w.clock.Now() - noted
	from, to := w.w.Measured(t)
	return status{Index: w.place.Index, Stage: t.Index, Sent: w.w.Sent(), InFlight: w.w.InFlight(), At: at, From: from, To: to}
}

// tell says how far this worker has come, until the stage is over.
func (w *worker) tell(t run.Task, over <-chan struct{}) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		_ = bus.Tell(w.opt.Bus, onStatus, w.status(t)) // one that is not heard is followed by another
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

// close ends the records, and waits until the coordinator has them where it is still there.
func (w *worker) close() error {
	w.mu.Lock()
	w.abort()
	if w.left {
		w.once.Do(func() { close(w.ended) }) // the coordinator knows, and takes its records
	}
	w.noteClock()
	w.die()
	w.mu.Unlock()
	w.work.Wait() // until then there are records to come
	err := w.w.End()
	select {
	case <-w.ended:
		ctx, cancel := context.WithTimeout(context.Background(), endFor)
		defer cancel()
		if err = errors.Join(err, w.box.Close(ctx)); err == nil {
			_, err = bus.Ask[none](ctx, w.opt.Bus, onBye, w.place.Index)
		}
	default:
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.box.Abandon(ctx) // there is nobody to read it
	}
	w.file.ship(nil)
	return errors.Join(err, w.w.Close(), w.file.Close())
}
