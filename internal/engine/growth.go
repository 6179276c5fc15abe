package engine

import (
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/record"
)

// grow runs a load that grows as responses come: a first step, then one more each time that
// every request of the last has had enough responses. It ends with the last response.
func (st *stage) grow() {
	g := &growth{stage: st, reached: make(chan bool, st.load.MaxSlots), ended: make(chan struct{}, st.load.MaxSlots)}
	due := st.begin
	for step := st.load.InFlight(0); g.launched < st.load.MaxSlots; step = st.load.Growth.Step {
		if !g.launch(step, due) || !g.await(step) {
			<-st.stop
			return
		}
		due = st.e.cfg.Now()
	}
	for range g.launched {
		select {
		case <-g.ended:
		case <-st.stop:
			return
		}
	}
	st.halt(record.StopRequests)
}

// growth is a load that grows. Its channels have room for all that is ever sent to them:
// whoever sends holds up a connection.
type growth struct {
	*stage
	launched int
	reached  chan bool     // a request has enough responses; false: it ended before
	ended    chan struct{} // a request has ended
}

// launch sends the requests of a step, due at a given time; false: the stage was halted first.
func (g *growth) launch(step int, due time.Duration) bool {
	for range step {
		select {
		case <-g.stop:
			return false
		case j, ok := <-g.ready[0].ready:
			g.ready[0].took()
			if !ok {
				g.sourceExhausted()
				return false
			}
			phase, ok := g.admit(due)
			if !ok {
				g.e.feed.unread(j)
				return false
			}
			j.admission = admission{due: due, phase: phase}
			i := g.launched
			g.launched++
			g.slots.Go(func() { g.follow(i, j) })
		}
	}
	return true
}

// follow carries out a request and tells when it has enough responses.
func (g *growth) follow(i int, j preparedRequest) {
	n, end, told := 0, 0, false
	tell := func(enough bool) {
		if !told {
			told = true
			g.reached <- enough
		}
	}
	j.admission.watch = func(body []byte) {
		if len(body) < end { // it is sent again: the server did not look at it
			n, end = 0, 0
		}
		more, to := endpoint.Responses(body, end)
		if n, end = n+more, to; n >= g.load.Growth.Responses {
			tell(true)
		}
	}
	g.runTurns(i, j, g.e.cfg.Now())
	tell(false)
	g.ended <- struct{}{}
}

// await waits until every request of a step has enough responses; false: one has ended
// before, or the stage was halted.
func (g *growth) await(step int) bool {
	for range step {
		select {
		case enough := <-g.reached:
			if !enough {
				g.halt(record.StopEarlyAnswer)
				return false
			}
		case <-g.stop:
			return false
		}
	}
	return true
}
