// Package collect takes finished records from the engine: it decodes, writes and folds them and
// counts failures, all off the clock.
package collect

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Consumer takes decoded records into account, one at a time.
type Consumer interface{ Add(rec *record.Record) }

// Config is what a Collector works with.
type Config struct {
	Decoder endpoint.Decoder
	Writer  *record.Writer // nil means records are not kept
	KeepRaw bool           // keep the bytes of the responses
	NoTexts bool           // keep no text of them
	Digest  bool           // write a digest of the records, too
	Worker  int            // whose records they are, from 1; 0: the run's own process
	// Now is the run's clock; needed with a Writer.
	Now   func() time.Duration
	Folds []Consumer // one for each worker; their number is the number of workers
	// Budget is how many bytes of responses may wait to be decoded; beyond it callers decode. 0: 64
	// MiB.
	Budget int64
	// Limits bound what is held of a response, in bytes; 0 is no bound.
	Limits plan.Limits
	// Judge is called with each decoded record's failure class, "" for success.
	Judge func(class record.Class)
	// Session is told how each recorded session was played, concurrently; optional.
	Session func(m record.SessionSummary)
}

// Collector decodes, writes and folds records. It is the engine's Sink.
type Collector struct {
	cfg     Config
	workers []*worker
	wg      sync.WaitGroup
	pool    sync.Pool
	keeper  *sizeLimiter
	budget  int64        // bytes of responses that may wait for each worker
	large   atomic.Int64 // bytes of large responses that wait for any of them
}

const (
	defaultBudget = 64 << 20
	queueLength   = 16 << 10
	// shortQueue is how many records a worker lets wait while it yields to the engine
	// after every few. Yielding at any length would let the queue grow on a busy core.
	shortQueue = 64
	// atATime is how many records a worker takes before it yields. It may wake up on
	// another core, where nothing that it needs is at hand.
	atATime = 8
	// chunk is how many bytes of records are compressed at a time.
	chunk = 16 << 10
	// largeBody is from when on a response is large.
	largeBody = 1 << 20
	// keepBody is the largest response whose buffer is used again.
	keepBody = 1 << 20
	// keepEvents is the same for the lists of its reads and events.
	keepEvents = 16 << 10
	// settleEvery is how often Settle looks.
	settleEvery = time.Millisecond / 2
)

// New starts a Collector.
func New(cfg Config) *Collector {
	if cfg.Budget == 0 {
		cfg.Budget = defaultBudget
	}
	c := &Collector{cfg: cfg, budget: cfg.Budget / int64(max(len(cfg.Folds), 1)), keeper: newKeeper(&cfg)}
	c.pool.New = func() any { return new(record.Exchange) }
	for _, fold := range cfg.Folds {
		w := &worker{c: c, fold: fold, inbox: inbox{wake: make(chan struct{}, 1)}, failures: map[record.FailureKind]int64{}}
		if cfg.Writer != nil {
			w.encoder = cfg.Writer.Encoder()
		}
		c.workers = append(c.workers, w)
		c.wg.Go(w.run)
	}
	return c
}

// Blank implements engine.Sink.
func (c *Collector) Blank(slot int) *record.Exchange {
	rec := c.home(slot).blanks.get()
	if rec == nil {
		rec = c.pool.Get().(*record.Exchange)
	}
	rec.Reset()
	rec.Worker = c.cfg.Worker
	c.keeper.bind(rec)
	return rec
}

// Begin implements engine.Sink.
func (c *Collector) Begin(rec *record.Exchange) {
	if c.cfg.Writer != nil {
		c.home(rec.Slot).flightsOf(rec.Slot).Begin(rec)
	}
}

// home is the worker that the records of a slot go to, in their order. It is woken on the core that
// the slot runs on, where what it needs of a record is at hand.
func (c *Collector) home(slot int) *worker { return c.workers[slot%len(c.workers)] }

// Put implements engine.Sink. It does not wait for decoding, but where too much waits for it already:
// the client is short of CPU then, and the slot decodes its record before it sends another request.
func (c *Collector) Put(rec *record.Exchange) {
	w, n := c.home(rec.Slot), int64(len(rec.Body))
	if waiting, most := w.account(n); !w.inbox.put(rec, waiting, n, most) {
		w.process(rec)
	}
}

// Add takes a record into account that another process has decoded and written.
func (c *Collector) Add(worker int, rec *record.Record) {
	w := c.home(worker)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fold.Add(rec)
	w.count(rec.Failure)
}

// Session takes down how a recorded session was played.
func (c *Collector) Session(m record.SessionSummary) {
	if c.cfg.Session != nil {
		c.cfg.Session(m)
	}
	if c.cfg.Writer == nil {
		return
	}
	if err := c.cfg.Writer.Session(m); err != nil {
		w := c.workers[0]
		w.mu.Lock()
		w.keep(err)
		w.mu.Unlock()
	}
}

// recycle keeps a record that was taken into account for another request.
func (w *worker) recycle(rec *record.Exchange) {
	if cap(rec.Body) > keepBody {
		rec.Body = nil
	}
	if cap(rec.Text) > keepBody {
		rec.Text = nil
	}
	if cap(rec.Marks) > keepEvents {
		rec.Marks = nil
	}
	if cap(rec.Events) > keepEvents {
		rec.Events = nil
	}
	if !w.blanks.keep(rec) {
		w.c.pool.Put(rec)
	}
}

// Waiting is how many bytes of responses have yet to be decoded.
func (c *Collector) Waiting() int64 {
	n := c.large.Load()
	for _, w := range c.workers {
		n += w.inbox.bytes.Load()
	}
	return n
}

// Sync returns once every record put before it has been counted, or ctx has ended.
func (c *Collector) Sync(ctx context.Context) {
	for _, w := range c.workers {
		for want := w.inbox.puts.Load(); w.inbox.done.Load() < want && ctx.Err() == nil; {
			time.Sleep(settleEvery)
		}
	}
}

// Flush writes what was decoded so far to the record file, and how far the requests have
// come that are in flight, and makes it readable there.
func (c *Collector) Flush() error {
	if c.cfg.Writer == nil {
		return nil
	}
	var errs []error
	for _, w := range c.workers {
		errs = append(errs, w.flush())
	}
	return errors.Join(append(errs, c.cfg.Writer.Flush())...)
}

// Stop ends the workers, and may be called again. Close does so, too.
func (c *Collector) Stop() {
	for _, w := range c.workers {
		w.inbox.close()
	}
	c.wg.Wait()
}

// Close decodes what is left and ends the workers. Nothing may be Put after it.
func (c *Collector) Close() error {
	c.Stop()
	errs := []error{c.Flush()}
	for _, w := range c.workers {
		errs = append(errs, w.err)
	}
	return errors.Join(errs...)
}

// worker decodes and accounts for the records of some slots.
type worker struct {
	c       *Collector
	inbox   inbox
	blanks  recordPool           // for the slots whose records come here
	flights [lanes]inFlightShard // of them

	mu       sync.Mutex
	fold     Consumer
	lines    []byte // of the slots whose records come here, not yet compressed
	encoder  *record.Encoder
	err      error
	failures map[record.FailureKind]int64
}

// lanes is how many slots of one worker can begin a request at a time.
const lanes = 8

// inFlightShard holds the requests in flight of some slots.
type inFlightShard struct {
	record.Flights
	_ [64]byte // keeps the next one out of the same cache line
}

// flightsOf are the requests in flight beside those of a slot.
func (w *worker) flightsOf(slot int) *record.Flights {
	return &w.flights[slot/len(w.c.workers)%lanes].Flights
}

// account is where a response of n bytes is counted while it waits, and how many may. Large ones are
// counted for all workers together: each may be as large as all that one worker may have.
func (w *worker) account(n int64) (waiting *atomic.Int64, most int64) {
	if n >= largeBody {
		return &w.c.large, w.c.cfg.Budget
	}
	return &w.inbox.bytes, w.c.budget
}

// run takes what is in the inbox until nothing more can come.
func (w *worker) run() {
	var list []*record.Exchange
	for open := true; ; {
		list, open = w.inbox.drain(list[:0])
		switch {
		case len(list) > 0:
			w.takeAll(list)
			clear(list)
		case !open:
			return
		default:
			<-w.inbox.wake
		}
	}
}

// takeAll takes records into account. It lets the engine have the core in between, but
// where many wait: yielding then would let them become ever more on a busy core. After the
// last it sleeps, and is woken where the next one comes; who yields goes on anywhere.
func (w *worker) takeAll(list []*record.Exchange) {
	many := len(list) >= shortQueue
	for len(list) > 0 {
		turn := list[:min(len(list), atATime)]
		list = list[len(turn):]
		var bytes int64
		for _, rec := range turn {
			n := int64(len(rec.Body))
			w.process(rec)
			if n >= largeBody {
				w.c.large.Add(-n)
			} else {
				bytes += n
			}
		}
		w.inbox.bytes.Add(-bytes)
		w.inbox.done.Add(int64(len(turn)))
		if len(list) > 0 && !many {
			runtime.Gosched()
		}
	}
}

// process decodes a record, accounts for it and gives it back. Slots may take while the worker does.
func (w *worker) process(rec *record.Exchange) {
	if !rec.Decoded {
		w.c.cfg.Decoder.Decode(rec)
	}
	w.c.keeper.cut(&rec.Record)
	w.mu.Lock()
	if w.c.cfg.Writer != nil {
		w.put(rec)
	}
	w.fold.Add(&rec.Record)
	w.count(rec.Failure)
	w.mu.Unlock()
	w.recycle(rec)
}

// put writes a record. The caller holds the lock.
func (w *worker) put(rec *record.Exchange) {
	w.flightsOf(rec.Slot).End(rec.Flight)
	rec.Flight = nil
	if w.c.cfg.NoTexts {
		rec.WithoutText()
	}
	w.lines = record.AppendJSON(w.lines, &rec.Record, w.c.cfg.KeepRaw)
	if w.c.cfg.Digest {
		w.encoder.Digest(&rec.Record)
	}
	if len(w.lines) >= chunk {
		w.keep(w.write())
	}
}

// flush makes what was put so far, and the state of requests in flight, readable in the record
// file.
func (w *worker) flush() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.flights {
		var failed error
		before := len(w.lines)
		w.lines, failed = w.flights[i].Append(w.lines, w.c.cfg.Now())
		err = errors.Join(err, failed)
		if w.c.cfg.Digest {
			for line := range bytes.Lines(w.lines[before:]) {
				w.encoder.DigestLine(line)
			}
		}
	}
	return errors.Join(err, w.write(), w.encoder.Flush())
}

func (w *worker) write() error {
	if len(w.lines) == 0 {
		return nil
	}
	err := w.encoder.Append(w.lines)
	if w.lines = w.lines[:0]; cap(w.lines) > keepBody {
		w.lines = nil
	}
	return err
}

// keep remembers the first error: the run goes on, and says at its end what is missing.
func (w *worker) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Failures are the failures so far by kind, warm-up included.
func (c *Collector) Failures() map[record.FailureKind]int64 {
	sum := map[record.FailureKind]int64{}
	for _, w := range c.workers {
		w.mu.Lock()
		for kind, n := range w.failures {
			sum[kind] += n
		}
		w.mu.Unlock()
	}
	return sum
}

// count takes note of how a request ended.
func (w *worker) count(f *record.Failure) {
	class := record.Class("")
	if f != nil {
		class = f.Class
	}
	if f != nil && !f.Left() {
		w.failures[f.Kind()]++
	}
	if w.c.cfg.Judge != nil {
		w.c.cfg.Judge(class)
	}
}
