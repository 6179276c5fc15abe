//go:build linux

package main

import (
	"context"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

const (
	// lease is how long a worker goes on without its coordinator, and the coordinator without a worker.
	lease = 5 * time.Second
	// endFor is how long a run may take for its end and its report, and leaveFor a worker for its own.
	endFor, leaveFor = 15 * time.Second, 8 * time.Second
	// nowFor is how long "now" may take.
	nowFor = 5 * time.Second
	// waitFor is how long a run may take to begin.
	waitFor = 30 * time.Second
)

// await waits for the end of a run and of its workers, and ends those that do not by themselves.
func (t *trial) await(ctx context.Context, r *liveRun) {
	t.awaitProcess(ctx, r.coordinator, func() time.Time { return t.coordinatorLimit(r) })
	t.mu.Lock()
	workers := r.workers
	t.mu.Unlock()
	for _, w := range workers {
		t.awaitProcess(ctx, w, func() time.Time { return t.workerLimit(r, w) })
	}
}

// mayWait reports whether a worker may go on waiting for a run: it has joined none, and nobody was there to tell it
// that the one it was started for has failed.
func (t *trial) mayWait(w *process) bool {
	told := t.scenario.Topology == external && t.hasFault(coordinator, refused, 0)
	return w.isWorker && !told && t.owner(w.name) == nil
}

// awaitProcess waits until a process has ended, or must have.
func (t *trial) awaitProcess(ctx context.Context, p *process, limit func() time.Time) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-ctx.Done():
			p.remove()
			return
		case now := <-tick.C:
			if !now.After(limit()) {
				continue
			}
			if t.mayWait(p) && p.signal(syscall.SIGTERM) {
				select {
				case <-p.done:
					return
				case <-time.After(nowFor):
				}
			}
			p.unhang()
			return
		}
	}
}

// coordinatorLimit is when a coordinator must have ended.
func (t *trial) coordinatorLimit(r *liveRun) time.Time {
	planned := r.started.Add(waitFor)
	if t.scenario.unsent() {
		planned = r.started.Add(endFor)
		if t.scenario.Waiting { // until the fault comes
			planned = planned.Add(waitFor)
		}
	}
	if began, ok := r.server.began(); ok {
		planned = began.Add(t.scenario.Length + drain)
	}
	limit := planned.Add(endFor)
	told := time.Time{}
	alone := len(t.scenario.Faults) == 1
	for _, h := range t.struck() {
		if h.Who != natsServer && h.Run != r.index {
			continue
		}
		if late := h.to.Add(lease + drain + endFor); late.After(limit) {
			limit = late
		}
		switch {
		case !alone || h.Who != coordinator:
		case h.Does == interruptTwice:
			told = h.to.Add(nowFor)
		case h.Does == interrupt || h.Does == term:
			told = h.to.Add(drain + endFor - lease)
		}
	}
	if !told.IsZero() && told.Before(limit) {
		return told
	}
	return limit
}

// workerLimit is when a worker must have ended: some time after the coordinator that it has joined.
func (t *trial) workerLimit(r *liveRun, w *process) time.Time {
	if owner := t.owner(w.name); owner != nil && t.scenario.Topology != local {
		r = owner
	}
	from, over := r.coordinator.over()
	if !over {
		return time.Now().Add(time.Minute) // it is waited for, too
	}
	for _, h := range t.struck() {
		if (h.Who == natsServer || h.Run == r.index) && h.to.After(from) {
			from = h.to
		}
	}
	return from.Add(lease + drain + leaveFor)
}

// owner is the run that a worker has joined, or nil.
func (t *trial) owner(name string) *liveRun {
	for _, r := range t.runs {
		if r.coordinator == nil {
			continue
		}
		if _, ok := r.joined()[name]; ok {
			return r
		}
	}
	return nil
}

// joins are the lines with which a coordinator counts workers in.
var joins = regexp.MustCompile(`Worker (\d+) of \d+ has joined: (\S+?)\.\s`)

// joined are the workers of a run, by their place.
func (r *liveRun) joined() map[string]int {
	places := map[string]int{}
	for _, m := range joins.FindAllStringSubmatch(r.coordinator.said(), -1) {
		n, _ := strconv.Atoi(m[1])
		places[m[2]] = n - 1
	}
	return places
}

// place is that of a worker in its run; -1: it has none.
func (t *trial) place(r *liveRun, name string) int {
	if i, ok := r.joined()[name]; ok {
		return i
	}
	return -1
}
