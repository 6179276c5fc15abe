package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
)

// lobby is where runs are announced, in place of a run's ID in subjects. No ID has a slash.
const lobby = "/lobby"

const (
	onOpen = "open" // all are told of a run

	announceEvery = 250 * time.Millisecond
	// lookFor is how long a worker listens before it takes what it has heard for all there is.
	lookFor = time.Second
)

type announcement struct {
	Run     string `json:"run"`
	Version string `json:"version"`
	Workers int    `json:"workers"`
	Missing int    `json:"missing"`       // of the workers
	Own     bool   `json:"own,omitempty"` // the NATS is the run's own: there is no other run
}

// announce tells of the run until it ends.
func (c *Coordinator) announce() {
	space := c.opt.Bus.ForRun(lobby)
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		a := announcement{Run: c.opt.Bus.Run(), Version: c.opt.Version, Workers: c.opt.Workers, Own: c.opt.Own}
		c.state.Lock()
		a.Missing = c.opt.Workers - len(c.members)
		c.state.Unlock()
		_ = bus.Publish(space, onOpen, a) // one that is not heard is followed by another
		select {
		case <-c.life.Done():
			return
		case <-tick.C:
		}
	}
}

// search looks for a run that a worker can join.
type search struct {
	bus     *bus.Bus
	version string
	log     io.Writer
	told    bool // that nothing lacks a worker
}

// errFull means that no worker is wanted.
var errFull = errors.New("the run has all of its workers")

// find gives the ID of a run that lacks a worker, once there is one.
func (s *search) find(ctx context.Context) (string, error) {
	heard := make(chan announcement, 64)
	stop, err := bus.Subscribe(s.bus.ForRun(lobby), onOpen, func(a announcement) {
		select {
		case heard <- a:
		default: // it is told again
		}
	})
	if err != nil {
		return "", err
	}
	defer stop()
	for {
		id, err := s.listen(ctx, heard)
		if id != "" || err != nil {
			return id, err
		}
		if away := s.bus.Away(); away > goneAfter {
			return "", fmt.Errorf("NATS is gone since %s, and no run was joined", clockTime(time.Now().Add(-away)))
		}
	}
}

// listen listens for a while. It fails where none of the runs that lack a worker would take this one.
func (s *search) listen(ctx context.Context, heard <-chan announcement) (string, error) {
	over := time.NewTimer(lookFor)
	defer over.Stop()
	var other string // version of a run that would take a worker of that
	full := 0
	for {
		select {
		case a := <-heard:
			switch {
			case a.Missing > 0 && a.Version == s.version:
				return a.Run, nil
			case a.Missing > 0:
				other = cmp.Or(a.Version, "unknown")
			case a.Own:
				return "", fmt.Errorf("run %s: %w (%d)", a.Run, errFull, a.Workers)
			default:
				full++
			}
		case <-over.C:
			if other != "" {
				return "", differs(other, s.version)
			}
			if full > 0 && !s.told {
				s.told = true
				fmt.Fprintln(s.log, "Every run on this NATS has all of its workers: waiting for another.")
			}
			return "", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// differs is the error of a worker of another version.
func differs(run, worker string) error {
	return fmt.Errorf("the run is of version %s, and this worker of version %s: use the same program everywhere", run, worker)
}

// clockTime is a time as the user's clock shows it.
func clockTime(t time.Time) string { return t.Format("15:04:05") }
