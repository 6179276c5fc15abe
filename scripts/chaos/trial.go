//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

type trial struct {
	opt      options
	kind     string
	seed     uint64
	scenario scenario
	dir      string

	natsAddress string
	runs        []*liveRun
	mounts      []string

	mu   sync.Mutex
	nats *process // the one that answers now
	past []*process
	hits []hit
}

type liveRun struct {
	index       int
	server      *server
	out         string
	coordinator *process
	workers     []*process // in no order
	started     time.Time
}

type hit struct {
	fault
	from, to time.Time
	missed   bool // the process had ended before
}

// errNoDisk means that a small disk cannot be made here.
var errNoDisk = errors.New("no small disk")

func (o options) one(ctx context.Context, k kind, seed uint64) outcome {
	t := &trial{opt: o, kind: k.name, seed: seed, scenario: k.scenario(seed)}
	out := outcome{Kind: k.name, Seed: seed, Scenario: t.scenario}
	t.dir = filepath.Join(o.dir, fmt.Sprint(strings.ReplaceAll(k.name, "/", "-"), "-", seed))
	err := t.setUp()
	if err == nil {
		err = t.carryOut(ctx)
	}
	t.stopAll()
	switch {
	case errors.Is(err, errNoDisk):
		out.Skipped = err.Error()
	case err != nil:
		out.Violations = append(out.Violations, "the case could not be run: "+err.Error())
	default:
		t.judge(&out)
	}
	keep := o.keep && len(out.Violations) > 0
	for _, m := range t.mounts {
		if err := unmount(m, keep); err != nil {
			out.Violations = append(out.Violations, "unmounting: "+err.Error())
		}
	}
	for _, r := range t.runs {
		r.server.close()
	}
	if !keep {
		_ = os.RemoveAll(t.dir)
	}
	return out
}

// hasFault reports whether the case has such a fault.
func (t *trial) hasFault(who role, does action, run int) bool {
	for _, f := range t.scenario.Faults {
		if f.Who == who && f.Does == does && f.Run == run {
			return true
		}
	}
	return false
}

// setUp makes directories, servers and disks.
func (t *trial) setUp() error {
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	t.natsAddress = l.Addr().String()
	l.Close()
	for i := range t.scenario.Starts {
		s, err := newServer()
		if err != nil {
			return err
		}
		t.runs = append(t.runs, &liveRun{index: i, server: s, out: filepath.Join(t.dir, runID(i))})
	}
	for _, f := range t.scenario.Faults {
		if err := t.setFault(f); err != nil {
			return err
		}
	}
	if t.scenario.Topology == external {
		return t.startNATS()
	}
	return nil
}

// setFault makes a fault that is there from the beginning.
func (t *trial) setFault(f fault) error {
	dir := t.runs[f.Run].out
	if f.Who == worker {
		dir = t.workerDir(f.Run, f.Worker)
	}
	switch f.Does {
	case fill:
		if err := mount(dir); err != nil {
			return fmt.Errorf("%w: %w", errNoDisk, err)
		}
		t.mounts = append(t.mounts, dir)
	case unable:
		return os.WriteFile(dir, nil, 0o644) // a file is no directory
	}
	return nil
}

func workerName(run, i int) string { return fmt.Sprintf("w-%d-%d", run+1, i+1) }

func (t *trial) workerDir(run, i int) string { return filepath.Join(t.dir, workerName(run, i)) }

// startNATS starts the nats-server and waits until it answers.
func (t *trial) startNATS() error {
	host, port, _ := net.SplitHostPort(t.natsAddress)
	p, err := start(t.dir, "nats", t.opt.nats, []string{"-a", host, "-p", port, "-js", "-sd", filepath.Join(t.dir, "jetstream")})
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.nats, t.past = p, append(t.past, p)
	t.mu.Unlock()
	for range 200 {
		if c, err := net.Dial("tcp", t.natsAddress); err == nil {
			return c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("nats-server does not answer")
}

func (t *trial) begin(r *liveRun) (err error) {
	parts := []func(*liveRun) error{t.beginCoordinator, t.beginWorkers}
	if t.scenario.Ahead > 0 {
		slices.Reverse(parts)
	}
	for i, part := range parts {
		if i > 0 {
			time.Sleep(t.scenario.Ahead)
		}
		if err := part(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) beginCoordinator(r *liveRun) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.started = time.Now()
	r.coordinator, err = start(t.dir, runID(r.index)+"-coordinator", t.opt.program, coordinatorLine(t, r))
	return err
}

// beginWorkers starts the workers of a run, where the coordinator does not.
func (t *trial) beginWorkers(r *liveRun) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.scenario.Workers
	switch {
	case t.scenario.Topology == local:
		n = 0
	case t.scenario.Waiting:
		n--
	}
	for i := range n {
		name := workerName(r.index, i)
		p, err := start(t.dir, name, t.opt.program, workerLine(t, r, name, t.workerDir(r.index, i)))
		if err != nil {
			return err
		}
		p.isWorker = true
		r.workers = append(r.workers, p)
	}
	return nil
}

// carryOut starts the runs, has the faults come, and waits for the end of all.
func (t *trial) carryOut(ctx context.Context) error {
	for i, r := range t.runs {
		if i == 0 || t.scenario.Starts[i] < 0 {
			if err := t.begin(r); err != nil {
				return err
			}
		}
	}
	began, err := t.awaitBegin(ctx)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, len(t.runs))
	for i, r := range t.runs {
		all.Go(func() {
			if i > 0 && t.scenario.Starts[i] >= 0 {
				time.Sleep(time.Until(began.Add(t.scenario.Starts[i])))
				errs[i] = t.begin(r)
			}
			if errs[i] == nil {
				t.await(ctx, r)
			}
		})
	}
	for _, f := range t.scenario.Faults {
		if !f.set() {
			all.Go(func() { t.strike(f, began) })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// awaitBegin waits for the first request of the first run; where there will be none, for a worker to join.
func (t *trial) awaitBegin(ctx context.Context) (time.Time, error) {
	r := t.runs[0]
	limit := time.After(60 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.server.first:
			t.adoptAll(r)
			began, _ := r.server.began()
			return began, nil
		case <-r.coordinator.done: // the judge says whether it should have
			return time.Now(), nil
		case <-limit:
			t.runs[0].coordinator.unhang()
			return time.Time{}, errors.New("no request within a minute")
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-tick.C:
		}
		if t.scenario.unsent() && strings.Contains(r.coordinator.said(), "has joined") || t.hasFault(coordinator, refused, 0) {
			return time.Now(), nil
		}
	}
}

// adoptAll finds the workers that a coordinator has started.
func (t *trial) adoptAll(r *liveRun) {
	if t.scenario.Topology != local {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, pid := range children(r.coordinator.pid) {
		r.workers = append(r.workers, adopt(name, pid))
	}
}

// victim is the process that a fault hits; nil means it is not there.
func (t *trial) victim(f fault) *process {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[f.Run]
	switch {
	case f.Who == natsServer:
		return t.nats
	case f.Who == coordinator:
		return r.coordinator
	case f.Worker < len(r.workers):
		return r.workers[f.Worker]
	}
	return nil
}

func (t *trial) strike(f fault, began time.Time) {
	time.Sleep(time.Until(began.Add(f.At)))
	p := t.victim(f)
	h := hit{fault: f, from: time.Now()}
	signals := map[action]syscall.Signal{
		kill: syscall.SIGKILL, restart: syscall.SIGKILL, term: syscall.SIGTERM, interrupt: syscall.SIGINT, interruptTwice: syscall.SIGINT,
		freeze: syscall.SIGSTOP,
	}
	h.missed = p == nil || !p.signal(signals[f.Does])
	h.to = h.from
	if h.missed {
		t.add(h)
		return
	}
	if f.Who == worker {
		h.Worker = t.place(t.runs[f.Run], p.name)
	}
	h.to = h.from.Add(f.For)
	t.add(h)
	time.Sleep(f.For)
	switch f.Does {
	case freeze:
		p.signal(syscall.SIGCONT)
	case interruptTwice:
		p.signal(syscall.SIGINT)
	case restart:
		<-p.done
		if err := t.startNATS(); err != nil {
			fmt.Fprintf(os.Stderr, "chaos: %s, seed %d: restarting: %v\n", t.kind, t.seed, err)
		}
	}
}

func (t *trial) add(h hit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hits = append(t.hits, h)
}

// struck are the faults that have come by now, those that were there from the beginning with them.
func (t *trial) struck() (list []hit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.hits {
		if !h.missed {
			list = append(list, h)
		}
	}
	for _, f := range t.scenario.Faults {
		if f.set() {
			list = append(list, hit{fault: f, from: t.runs[f.Run].started, to: t.runs[f.Run].started})
		}
	}
	return list
}

// stopAll makes sure that nothing is left.
func (t *trial) stopAll() {
	for _, r := range t.runs {
		for _, p := range append([]*process{r.coordinator}, r.workers...) {
			p.remove()
		}
	}
	for _, p := range t.past {
		p.remove()
	}
}
