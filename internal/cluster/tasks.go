package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

// task is a stage that this worker was ordered to send.
type task struct {
	order  uint64
	stage  load.Spec
	going  chan begin // its time
	halted chan record.StopReason
	ctx    context.Context // until it is aborted
	abort  context.CancelFunc
}

// halt has the stage send no more.
func (t *task) halt(reason record.StopReason) {
	select {
	case t.halted <- reason:
	default: // it was told before
	}
}

// order gets ready for a stage, which a goroutine of its own then carries out.
func (w *worker) order(o prepareStage) (none, error) {
	w.mu.Lock()
	if w.left || w.life.Err() != nil {
		w.mu.Unlock()
		return none{}, errTold
	}
	if o.Number <= w.last { // it was halted before it came
		w.mu.Unlock()
		return none{}, nil
	}
	w.work.Add(1)
	t := &task{order: o.Number, stage: o.Task, going: make(chan begin, 1), halted: make(chan record.StopReason, 1)}
	t.ctx, t.abort = context.WithCancel(context.WithoutCancel(w.life))
	if old := w.task; old != nil { // one that is still there was given up
		old.halt(record.StopInterrupted)
		old.abort()
	}
	first := w.roster == nil
	w.last, w.roster, w.task = o.Number, o.Workers, t
	w.mu.Unlock()
	if first {
		w.w.Workers(o.Workers)
	}
	w.w.Warm(t.ctx, t.stage)
	go func() {
		defer w.work.Done()
		w.carry(t)
	}()
	return none{}, nil
}

// begin gives the stage that was ordered its time.
func (w *worker) begin(b begin) (none, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.task != nil && w.task.order == b.Order && !w.left {
		select {
		case w.task.going <- b:
		default:
		}
	}
	return none{}, nil
}

// halt ends the current stage. One that has not come yet is not carried out any more.
func (w *worker) halt(h halt) (halted, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case h.Order > w.last:
		w.last = h.Order
		return halted{Unknown: true}, nil
	case w.task == nil || h.Order != w.task.order:
		return halted{Unknown: w.task == nil}, nil
	}
	w.task.halt(h.Reason)
	if h.Abort {
		w.task.abort()
	}
	return halted{}, nil
}

// retire has the worker take no more tasks, and the current one send no more.
func (w *worker) retire(reason record.StopReason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left = true; w.task != nil {
		w.task.halt(reason)
	}
}

func (w *worker) abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.task != nil {
		w.task.abort()
	}
}

// carry carries out a task and reports how it went.
func (w *worker) carry(t *task) {
	defer t.abort()
	mark, err := w.send(t)
	e := ended{from: from{w.key}, Order: t.order, Mark: mark, Frames: w.file.shipped(), Next: w.w.Next(), Clock: w.accuracy()}
	e.Mark.Stage = t.stage.Index
	w.mu.Lock()
	e.Left = w.left && mark.Early()
	w.mu.Unlock()
	if err != nil {
		e.Fault = err.Error()
	}
	ctx, cancel := w.whileHeard(leaveFor)
	defer cancel()
	if err := w.publish(ctx, onMark, e); err != nil && w.life.Err() == nil {
		fmt.Fprintf(w.opt.Log, "warning: reporting stage %d to the coordinator: %v\n", t.stage.Index+1, err)
	}
}

// send sends this worker's share of a stage once its time is known.
func (w *worker) send(t *task) (record.StageSummary, error) {
	now := w.clock.Now()
	mark := record.StageSummary{StageTimes: record.StageTimes{Begin: now, WarmupEnd: now, SendEnd: now, DrainEnd: now},
		Reason: record.StopInterrupted}
	select {
	case b := <-t.going:
		t.stage.Start = b.At
	case mark.Reason = <-t.halted:
		return mark, nil
	case <-t.ctx.Done():
		return mark, nil
	case <-w.ended:
		return mark, nil
	}
	over := make(chan struct{})
	defer close(over)
	go w.reportProgress(t, over)
	return w.w.Send(t.ctx, t.stage, t.halted)
}

// flush hands over all that was recorded so far.
func (w *worker) flush(none) (f flushed, err error) {
	w.mu.Lock()
	t := w.task
	w.mu.Unlock()
	if t != nil {
		f.Status = w.status(t)
	}
	err = w.w.Flush()
	f.Frames = w.file.shipped()
	return f, err
}

func (w *worker) status(t *task) status {
	// What is known of a stage is noted a moment after it has come about.
	at := w.clock.Now() - noted
	begin, end := w.w.Measured(t.stage)
	return status{
		from: from{w.key}, Order: t.order, Sent: w.w.Sent(), InFlight: w.w.InFlight(), At: at, WarmupEnd: begin, SendEnd: end,
		Fault: w.file.fault(), Clock: w.accuracy(),
	}
}

// reportProgress reports how far this worker has come, until the stage is over.
func (w *worker) reportProgress(t *task, over <-chan struct{}) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		_ = bus.Publish(w.bus, onStatus, w.status(t)) // one that is not heard is followed by another
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}
