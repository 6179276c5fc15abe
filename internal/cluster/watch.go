package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/clockoffset"
)

// watch gives up workers whose leases have run out.
func (c *Coordinator) watch() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	last := time.Now()
	var blind time.Time // when this process last stood still or was cut off itself
	for {
		select {
		case <-c.life.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if now.Sub(last) > 4*renewEvery || c.opt.Bus.Away() > 0 {
			blind = now
		}
		last = now
		limit := lostAfter
		if now.Sub(blind) < goneAfter-lostAfter {
			limit = goneAfter
		}
		for _, m := range c.all() {
			if quiet := now.Sub(c.heard(m)); quiet > limit {
				go c.lose(m, quiet) // which asks NATS
			}
		}
	}
}

// heard is when a worker last renewed its lease.
func (c *Coordinator) heard(m *member) time.Time {
	c.state.Lock()
	defer c.state.Unlock()
	return m.heard
}

// lose gives a worker up, which was last heard so long ago.
func (c *Coordinator) lose(m *member, quiet time.Duration) {
	first, prepared := false, false
	c.state.Update(func() {
		if first = !m.over(); !first {
			return
		}
		m.lost = true
		m.clock.Bound += time.Duration(float64(quiet) * clockoffset.Drift) // of what it has recorded since
		if prepared = m.inbox != nil; prepared {
			m.gone = max(0, c.intake.Now()-quiet)
		} else {
			m.fault = fmt.Errorf("worker %s was lost while it prepared: it was not heard for %s", m.name, number(quiet))
		}
	})
	if !first || !prepared {
		return
	}
	fmt.Fprintf(c.opt.Log, "warning: worker %s was not heard for %s%s and is given up.\n", m.name, number(quiet), c.cut())
	ctx, cancel := context.WithTimeout(c.life, askFor)
	defer cancel()
	if err := m.inbox.Lost(ctx); err != nil {
		if c.opt.Bus.Away() == 0 && ctx.Err() == nil {
			fmt.Fprintf(c.opt.Log, "warning: giving up worker %s: %v\n", m.name, err)
		}
		m.stop() // what there is of it cannot be read
	}
}

// cut says since when NATS is gone; empty: it is there.
func (c *Coordinator) cut() string {
	if away := c.opt.Bus.Away(); away > 0 {
		return fmt.Sprintf(" (NATS is gone since %s)", clockTime(time.Now().Add(-away)))
	}
	return ""
}

// number is a duration in whole tenths of a second.
func number(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
