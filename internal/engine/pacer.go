package engine

import (
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// pace runs an open loop until it is halted: each job is let through when it is
// due, to a slot that is free or, within the cap, to a new one. An arrival that finds
// all slots taken waits, and so do those behind it.
func (st *stage) pace() {
	p := &pacer{stage: st, jobs: make(chan preparedRequest)}
	defer close(p.jobs)
	defer p.closeIdle()
	for {
		due, ok := st.load.Arrivals.Next()
		if !ok {
			if st.load.Duration == 0 {
				st.halt(record.StopArrivals)
			}
			<-st.stop
			return
		}
		if !p.afterWarmup(due) || !p.arrive(p.moment(due)) {
			p.countMissed(p.moment(due))
			return
		}
	}
}

type pacer struct {
	*stage
	jobs   chan preparedRequest
	taken  int64         // jobs so far
	opened int           // slots so far
	freed  atomic.Int64  // last moment up to which all slots were taken
	shift  time.Duration // by how much arrivals are later than the load has them
}

// moment is when an arrival is due.
func (p *pacer) moment(arrival time.Duration) time.Duration { return p.begin + p.shift + arrival }

// afterWarmup waits ahead of the first measured arrival until the warm-up has ended, where
// the stage wants that, and shifts the arrivals from there on. false: the stage was halted
// first.
func (p *pacer) afterWarmup(arrival time.Duration) bool {
	if !p.load.WarmupDrains || p.started.Load() != p.load.WarmupRequests {
		return true
	}
	if !p.awaitWarmup() {
		return false
	}
	p.shift = max(0, p.e.cfg.Now()-p.begin-arrival)
	return true
}

// arrive lets one job through at its time. false: the stage was halted first.
func (p *pacer) arrive(due time.Duration) bool {
	if p.over(due) {
		<-p.stop // a stage of 30 s with its last arrival at 29.9 s is sending for 30 s
		return false
	}
	if !p.sleeper.Sleep(due - p.e.cfg.Now()) {
		return false
	}
	queue := p.ready[p.e.feed.turn(p.taken)]
	select {
	case <-p.stop:
		return false
	case j, ok := <-queue.ready:
		queue.took()
		if !ok {
			p.sourceExhausted()
			<-p.stop
			return false
		}
		phase, ok := p.admit(due)
		if !ok {
			p.e.feed.unread(j)
			return false
		}
		p.taken++
		p.mark.Scheduled++
		j.admission = admission{due: due, phase: phase, arrived: true}
		p.open.enter(&j.prompt)
		if !p.dispatch(j) {
			return false
		}
		p.stopAtLimit()
		return true
	}
}

// over reports whether an arrival lies behind the end of the measured part.
func (p *pacer) over(due time.Duration) bool {
	from := time.Duration(p.warmEnd.Load())
	return p.load.Duration > 0 && from != record.Never && due >= from+p.load.Duration
}

// dispatch hands a job to a slot. false: the stage was halted while it waited.
func (p *pacer) dispatch(j preparedRequest) bool {
	if freed := time.Duration(p.freed.Load()); freed > j.admission.due {
		j.admission.held = freed - j.admission.due
		p.mark.Waited++
	}
	select {
	case p.jobs <- j:
		return true
	default:
	}
	if p.load.MaxSlots == 0 || p.opened < p.load.MaxSlots {
		i := p.opened
		p.opened++
		p.slots.Go(func() { p.openSlot(i, j) })
		return true
	}
	if j.admission.held == 0 {
		p.mark.Waited++
	}
	return p.hold(j)
}

// hold waits for a slot. The time it takes is written on the job by whoever takes
// it, since only then is it known.
func (p *pacer) hold(j preparedRequest) bool {
	j.admission.held = -1
	select {
	case p.jobs <- j:
		return true
	case <-p.stop:
		p.mark.Unsent++
		p.open.leave(j.prompt.Sequence.ID)
		p.e.feed.unread(j)
		return false
	}
}

// closeIdle ends the sequences that are open and have no request in flight, once no more requests
// come: a server with few places may hold back the others until it has room.
func (p *pacer) closeIdle() {
	for _, id := range p.open.idle() {
		select {
		case p.jobs <- preparedRequest{closes: id}:
			continue
		default:
		}
		if p.load.MaxSlots > 0 && p.opened >= p.load.MaxSlots {
			return // they are ended when all requests have been answered
		}
		i := p.opened
		p.opened++
		p.slots.Go(func() { p.openSlot(i, preparedRequest{closes: id}) })
	}
}

// openSlot carries out a first job and then what the pacer lets through. A job has waited for the slot
// until the request before it was over; what the client needs from there on is its own delay.
func (p *pacer) openSlot(i int, j preparedRequest) {
	var over time.Duration
	for ok := true; ok; j, ok = <-p.jobs {
		if j.closes != 0 {
			p.closeSequence(i, j.closes)
			over = p.e.cfg.Now()
			continue
		}
		if j.admission.held < 0 {
			p.freed.Store(int64(over))
			j.admission.held = max(0, over-j.admission.due)
		}
		over = p.runTurns(i, j, p.e.cfg.Now())
		if p.open.leave(j.prompt.Sequence.ID) {
			p.closeSequence(i, j.prompt.Sequence.ID)
		}
	}
}

// countMissed counts the arrivals that fell due before sending ended and were
// never let through. due is the arrival at which it ended.
func (p *pacer) countMissed(due time.Duration) {
	<-p.stop
	end := p.mark.SendEnd
	if p.mark.Reason == record.StopRequests || p.mark.Reason == record.StopData {
		return // it ended because enough had gone
	}
	// An arrival that was already counted is the one that hold gave up on.
	counted := p.mark.Unsent > 0
	most := p.load.MostPrompts()
	for ok := true; ok && due < end && !p.over(due); {
		if !counted {
			if p.mark.Scheduled == most {
				return // what is due from here on was never to be sent
			}
			p.mark.Scheduled++
			p.mark.Unsent++
		}
		counted = false
		var next time.Duration
		next, ok = p.load.Arrivals.Next()
		due = p.moment(next)
	}
}
