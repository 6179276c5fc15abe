package engine

import (
	"context"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// admission is what the pacer decided about a job when it let it through.
type admission struct {
	due, held time.Duration
	phase     record.Phase
	arrived   bool              // an arrival of the load brought it
	watch     func(body []byte) // is told of the response's reads; optional
}

type stage struct {
	e     *Engine
	load  load.Profile
	ctx   context.Context
	ready []*queue      // from the feeder
	dryUp func()        // ends what the feeder prepares for this stage, and for no other
	stop  chan struct{} // closed: send no more
	once  sync.Once
	slots sync.WaitGroup
	rests backoffs // of a closed loop's slots; nil in others

	asked, askedFor atomic.Int64 // waits that the server asked for, and nanoseconds of them

	begin    time.Duration
	started  atomic.Int64 // requests admitted, warm-up included
	measured atomic.Int64
	overtime atomic.Bool   // its time is over, and it has sent too few requests
	warmEnd  atomic.Int64  // first moment of the measured part; record.Never: not known yet
	warmed   chan struct{} // closed when warmEnd is known
	warmup   warmup
	warm     warmLanes   // sessions that are warm
	timer    *time.Timer // ends the measured part
	timerMu  sync.Mutex

	empty  atomic.Bool // the source has no more
	barred atomic.Bool // nothing may be sent any more
	may    func() bool // maySend, for those who hold the connections; nil means always

	turns    context.Context // ends when turns that wait for a response shall not go any more
	endTurns context.CancelFunc
	lost     atomic.Int64 // arrivals that were let through and never went

	open sequences // that the server keeps state over

	broken  chan record.StopReason // why it is ended before its time
	mark    record.StageSummary
	sleeper load.Sleeper // waits for the start, then for arrivals; nil means there are neither
}

func newStage(e *Engine, s load.Profile, ctx context.Context, ready []*queue) *stage {
	st := &stage{e: e, load: s, ctx: ctx, ready: ready, dryUp: e.feed.stop, stop: make(chan struct{}), warmed: make(chan struct{}),
		broken: make(chan record.StopReason, 1)}
	st.turns, st.endTurns = context.WithCancel(ctx)
	if s.Arrivals != nil || s.Start > 0 {
		st.sleeper = e.cfg.NewSleeper()
	}
	if e.cfg.MaySend != nil {
		st.may = func() bool { return st.maySend(e.cfg.Now()) }
	}
	st.warmup.done = make(chan struct{})
	st.warmEnd.Store(int64(record.Never))
	if st.begin = s.Start; st.begin == 0 {
		st.begin = e.cfg.Now()
	}
	e.cfg.Live.Begun(s.Index, st.begin)
	st.mark = record.StageSummary{Stage: s.Index, StageTimes: record.StageTimes{Begin: st.begin}}
	if s.WarmupLanes > 0 {
		st.warm.of = make([]bool, s.MaxSlots)
	} else if s.WarmupRequests == 0 {
		st.measureFrom(st.begin + s.WarmupFor)
	}
	return st
}

// awaitStart waits until the stage begins; false: it was halted first. Who comes late finds its
// arrivals overdue: they keep their times, which those that send the other shares count on.
func (st *stage) awaitStart() bool {
	for {
		wait := st.begin - st.e.cfg.Now()
		if wait <= 0 {
			if st.load.Start > 0 {
				st.mark.StartDelay = -wait
			}
			return true
		}
		if !st.sleeper.Sleep(wait) {
			return false
		}
	}
}

// measureFrom fixes when the measured part begins.
func (st *stage) measureFrom(at time.Duration) {
	if !st.warmEnd.CompareAndSwap(int64(record.Never), int64(at)) {
		return
	}
	close(st.warmed)
	st.e.cfg.Live.Measured(st.load.Index, at)
	if st.load.Duration > 0 {
		st.timerMu.Lock()
		st.timer = time.AfterFunc(at+st.load.Duration-st.e.cfg.Now(), st.endDuration)
		st.timerMu.Unlock()
	}
}

// over reports whether no more requests may go.
func (st *stage) over() bool {
	select {
	case <-st.stop:
		return true
	default:
	}
	select {
	case <-st.ctx.Done(): // all requests are aborted: another would be, too, before it is sent
		st.halt(record.StopInterrupted)
		return true
	default:
	}
	return false
}

// warms reports whether a request that begins now is one of the warm-up.
func (st *stage) warms(at time.Duration) bool {
	if st.load.WarmupLanes > 0 {
		return time.Duration(st.warmEnd.Load()) == record.Never
	}
	return st.load.WarmupRequests > 0 && st.started.Add(1) <= st.load.WarmupRequests || at < st.begin+st.load.WarmupFor
}

// admitTurn is admit for a request of a conversation. A sequence ends with a warm-up that is waited
// for: as long as it is open, the server may hold back others that the warm-up waits for.
func (st *stage) admitTurn(at time.Duration, p *prompt.Prompt, last record.Phase) (record.Phase, bool) {
	if p.Sequence.ID == 0 || !st.load.WarmupDrains || last != record.Warmup {
		return st.admit(at)
	}
	return record.Warmup, !st.over() && st.warms(at)
}

// admit says whether a request may go now, and in which phase.
func (st *stage) admit(at time.Duration) (record.Phase, bool) {
	switch {
	case st.over():
		return 0, false
	case st.warms(at):
		return record.Warmup, true
	}
	if st.load.WarmupDrains && !st.warmup.over() {
		if !st.awaitWarmup() {
			return 0, false
		}
		at = max(at, st.e.cfg.Now())
	}
	st.measureFrom(at)
	from := time.Duration(st.warmEnd.Load())
	late := st.load.Duration > 0 && at >= from+st.load.Duration
	if late && st.measured.Load() >= st.load.AtLeast {
		st.halt(record.StopDuration)
		return 0, false
	}
	n := st.measured.Add(1)
	if st.load.Requests > 0 && n > st.load.Requests || late && n > st.load.AtLeast {
		st.halt(record.StopRequests)
		return 0, false
	}
	return record.Measured, true
}

// endDuration ends the stage when its time is over, unless it has sent too few requests.
func (st *stage) endDuration() {
	st.overtime.Store(true)
	if st.measured.Load() >= st.load.AtLeast {
		st.halt(record.StopDuration)
	}
}

// stopAtLimit ends sending with the last request that is wanted, not with the slot
// that next looks for one: what is in flight by then has the drain time and no more.
func (st *stage) stopAtLimit() {
	n := st.measured.Load()
	if st.load.Requests > 0 && n >= st.load.Requests || st.load.AtLeast > 0 && st.overtime.Load() && n >= st.load.AtLeast {
		st.halt(record.StopRequests)
	}
}

// halt ends sending; the first reason stands.
func (st *stage) halt(reason record.StopReason) {
	st.once.Do(func() {
		st.mark.Reason = reason
		st.mark.SendEnd = max(st.e.cfg.Now(), st.begin) // it may be halted before it begins
		st.e.cfg.Live.Halted(st.load.Index, st.mark.SendEnd)
		close(st.stop)
		st.dryUp() // wakes the slots that wait for a request
		if reason != record.StopRequests && reason != record.StopArrivals {
			st.endTurns() // otherwise they are among those that were wanted
		}
		if st.sleeper != nil {
			st.sleeper.Interrupt()
		}
	})
}

// watchStop halts the stage where that is asked for, until it is over. Who asks while it is
// draining wants no more of it either.
func (st *stage) watchStop(ctx context.Context, stop <-chan record.StopReason, over <-chan struct{}) {
	for {
		select {
		case reason, open := <-stop:
			if !open { // a closed channel would yield for ever
				stop, reason = nil, record.StopInterrupted
			}
			st.halt(reason)
			if reason.Early() {
				st.breakOff(reason)
			}
		case <-ctx.Done():
			st.halt(record.StopInterrupted)
			return
		case <-over:
			return
		}
	}
}

// breakOff ends the stage before its time, also where it is draining.
func (st *stage) breakOff(reason record.StopReason) {
	st.halt(reason)
	select {
	case st.broken <- reason:
	default: // one is enough
	}
}

// pollStop notes an unseen request to end the stage.
func (st *stage) pollStop() {
	select {
	case reason := <-st.broken:
		st.mark.Reason = reason
	default:
	}
}

// openSlots runs a closed loop until it is halted.
func (st *stage) openSlots() {
	st.rests = make(backoffs, st.load.MaxSlots)
	for i := range st.load.MaxSlots {
		st.slots.Go(func() { st.closedSlot(i) })
	}
	<-st.stop
}

// closedSlot carries out one request after the other while the load gives it room.
func (st *stage) closedSlot(i int) {
	free := st.begin
	queue, ended := i%len(st.ready), 0
	for ended < len(st.ready) {
		at, ok := st.awaitRoom(i, free)
		if !ok {
			return
		}
		// Slots that all waited for the stage's end as well would wait for one another.
		j, ok := <-st.ready[queue].ready
		if !ok { // this feeder has no more; another may
			queue = (queue + 1) % len(st.ready)
			ended++
			continue
		}
		st.ready[queue].took()
		now := st.e.cfg.Now()
		phase, ok := st.admit(now)
		if !ok {
			st.e.feed.unread(j)
			return
		}
		j.admission = admission{due: max(at, st.notBefore(phase)), phase: phase}
		st.stopAtLimit()
		over := st.runTurns(i, j, max(now, j.admission.due))
		if free, ok = st.rest(i, over); !ok {
			return
		}
	}
	st.sourceExhausted()
}

// awaitRoom waits until the load has room for slot i and gives the time from
// which it had; false: it never will again.
func (st *stage) awaitRoom(i int, free time.Duration) (time.Duration, bool) {
	if i < st.load.InFlight(st.measuredFor(free)) {
		return free, true
	}
	// A ramp begins with the measured part, and the end of a warm-up by count is
	// not known before it comes.
	select {
	case <-st.warmed:
	case <-st.stop:
		return 0, false
	}
	now := st.measuredFor(st.e.cfg.Now())
	// The number of slots changes in one direction, so the time can be searched for.
	wait := time.Duration(sort.Search(int(max(st.load.Duration-now, 0)), func(d int) bool {
		return i < st.load.InFlight(now+time.Duration(d))
	}))
	if now+wait >= st.load.Duration {
		return 0, false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return time.Duration(st.warmEnd.Load()) + now + wait, true
	case <-st.stop:
		return 0, false
	}
}

// measuredFor is how long the measured part has been going on at a given time; negative
// or 0 before it.
func (st *stage) measuredFor(now time.Duration) time.Duration {
	from := time.Duration(st.warmEnd.Load())
	if from == record.Never {
		return 0
	}
	return now - from
}

// runTurns carries out a job in slot i, and the turns that follow its response. It gives the time at
// which they were over: what the client does with the last response is not the server's time.
func (st *stage) runTurns(i int, j preparedRequest, ready time.Duration) (over time.Duration) {
	if st.e.feed.counts(&j.prompt) {
		defer st.endConversation()
	}
	if j.prompt.Play != nil {
		newSession(st, i, j).play()
		return st.e.cfg.Now()
	}
	if j.prompt.Late != nil {
		st.takeTurn(i, j)
		return st.e.cfg.Now()
	}
	return st.carryAll(i, j, ready)
}

// carryAll carries out a job and the turns that follow it, and ends the sequence that they
// were of.
func (st *stage) carryAll(i int, j preparedRequest, ready time.Duration) (over time.Duration) {
	if j.prompt.Rest != nil {
		defer st.closeSequence(i, j.prompt.Sequence.ID) // where it was not its last request that ended it
	}
	for more := true; more; {
		rec := st.do(i, j, ready)
		if rec == nil {
			break
		}
		if j.prompt.Rest == nil {
			over = st.e.cfg.Now()
			st.e.cfg.Sink.Put(rec)
			return over
		}
		j, ready, more = st.converse(j.prompt.Rest, rec)
	}
	return st.e.cfg.Now()
}

// do carries out one request; nil means it may not be sent.
func (st *stage) do(i int, j preparedRequest, ready time.Duration) *record.Exchange {
	if st.refuses(&j, ready) {
		return nil
	}
	rec := st.e.cfg.Sink.Blank(i)
	rec.Seq, rec.Stage, rec.Slot = j.prompt.Seq, st.load.Index, i
	rec.Phase, rec.Prompt, rec.RequestedTokens = j.admission.phase, j.prompt.Hash, j.prompt.Output
	rec.Session, rec.Turn, rec.Model = j.prompt.Session, j.prompt.Turn, j.prompt.Model
	rec.Call, rec.Labels, rec.Ends = j.prompt.Call, j.prompt.Labels, j.prompt.Sequence.End
	rec.Due, rec.Think, rec.Held, rec.Ready = j.admission.due, j.prompt.Think, j.admission.held, ready
	rec.Sent, rec.Written = record.Never, record.Never
	rec.Watch, rec.MaySend = j.admission.watch, st.may
	rec.In = record.Tokens{Local: j.prompt.Tokens}
	if j.prompt.Tokens >= 0 {
		rec.In.N, rec.In.Source = j.prompt.Tokens, record.FromTokenizer
	}
	if st.e.cfg.CancelAfter != nil && rec.Phase != record.Closing {
		rec.CancelAfter = st.e.cfg.CancelAfter(rec.Seq)
	}
	st.e.cfg.Sink.Begin(rec)
	st.e.cfg.Live.send(i)
	st.open.begin(&j.prompt)
	j.call.Do(st.ctx, rec)
	if st.e.cfg.Retries > 0 {
		st.retry(j.call, rec)
	}
	if j.prompt.Sequence.Start && rec.Sent == record.Never {
		st.open.forget(j.prompt.Sequence.ID) // no server knows of it
	}
	st.rests.observe(i, rec)
	st.honorRetryAfter(i, rec)
	rec.Watch, rec.MaySend = nil, nil
	st.e.cfg.Live.end(i)
	st.endWarmup(rec.Phase)
	return rec
}

// drain waits for what is in flight, no longer than the stage's drain time or, where it
// is ended before its time, its grace.
func (st *stage) drain(ctx context.Context, cut context.CancelCauseFunc) {
	st.timerMu.Lock()
	if st.timer != nil {
		st.timer.Stop()
	}
	st.timerMu.Unlock()
	done := make(chan struct{})
	go func() {
		st.slots.Wait()
		st.closeSequences()
		close(done)
	}()
	t, until := time.NewTimer(st.load.Drain), st.e.cfg.Now()+st.load.Drain
	defer t.Stop()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		case reason := <-st.broken:
			st.mark.Reason = reason
			st.endTurns()
			t.Reset(min(st.load.Grace, until-st.e.cfg.Now()))
		case <-ctx.Done():
			waiting = false
		case <-t.C:
			cut(record.ErrCutOff)
			waiting = false
		}
	}
	<-done
	st.endTurns()
	if st.sleeper != nil {
		st.sleeper.Close()
	}
	if st.load.Arrivals != nil {
		st.mark.Unsent += st.lost.Load()
	}
	st.mark.RetryAfterWaits, st.mark.HeededFor = st.asked.Load(), time.Duration(st.askedFor.Load())
	st.mark.DrainEnd = max(st.e.cfg.Now(), st.mark.SendEnd)
	st.mark.WarmupEnd = time.Duration(st.warmEnd.Load())
	if st.mark.WarmupEnd == record.Never { // it never came to the measured part
		st.mark.WarmupEnd = st.mark.SendEnd
	}
}
