// Package cluster has one run sent by several processes, on one machine or many: a coordinator
// that decides, and workers that each send their share and record it. They talk over NATS.
//
// Every run has an ID of its own, in all of its subjects. A coordinator that lacks workers
// announces its run; a worker joins one, and holds a lease from then on: it sends nothing once it has not
// heard its coordinator for five seconds. It is given the plan, sets its clock by the coordinator's and prepares.
// For each stage the coordinator has all of them open their connections, names the
// moment to begin, and waits for the marks with which they report how it went. The records of a
// worker are in a file of its own, and are shipped from there, frame by frame, as they are
// written.
package cluster

import (
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// What is said, and under which subject. Those that are for one worker end with its key.
const (
	onJoin   = "join"   // a worker asks for its place
	onPlan   = "plan"   // a worker asks for the plan, and waits until there is one
	onRenew  = "renew"  // a worker asks for its lease to be renewed
	onClock  = "clock"  // a worker asks what time it is
	onReady  = "ready"  // a worker asks to be counted in
	onOrder  = "order"  // a worker is asked to get ready for a stage
	onGo     = "go"     // a worker is asked to begin the stage at a given time
	onHalt   = "halt"   // a worker is asked to send no more
	onStatus = "status" // the coordinator is told how far a worker has come
	onMark   = "mark"   // the coordinator is asked to take how a stage went
	onFlush  = "flush"  // a worker is asked to ship what it has recorded
	onEnd    = "end"    // a worker is asked to end
	onLeave  = "leave"  // the coordinator is asked to let a worker leave before the end
	onBye    = "bye"    // the coordinator is asked to let a worker go, whose records are all shipped
)

const (
	// A worker renews its lease every renewEvery. A lease holds for leaseFor from when its
	// renewal was asked for, so it has run out for certain when the coordinator has answered none
	// for so long: it gives a worker up after lostAfter. Where it was cut off or stood still itself it waits
	// until goneAfter, as workers that have stopped by themselves may still ship their records.
	renewEvery = 500 * time.Millisecond
	leaseFor   = 5 * time.Second
	lostAfter  = 6 * time.Second
	goneAfter  = 10 * time.Second
	// leaveFor is how long a worker whose lease has run out tries to reach its coordinator.
	leaveFor = 5 * time.Second
	// askFor is how long a response may take that needs no work.
	askFor = 10 * time.Second
	// tellFor is how long something is told that is told again meanwhile.
	tellFor = 2 * time.Second
	// stalledAfter is how long records of a worker may not move that is there and has more.
	stalledAfter = 30 * time.Second
	// shipFor is how long a worker that leaves tries to ship its records after its lease has run out.
	shipFor = 10 * time.Second
	// abortFor is how long workers may take to abort what is in flight.
	abortFor = 3 * time.Second
	// lead is how long before a stage begins its time is told, beside what messages need.
	lead = 200 * time.Millisecond
	// statusEvery is how often a worker reports how far it has come.
	statusEvery = 250 * time.Millisecond
	// noted is how long it may take until what has come about is noted.
	noted = 20 * time.Millisecond
)

func to(subject, worker string) string { return subject + "." + worker }

// joinRequest is who wants to be a worker. Its key is random: it is how all messages of and to it name it.
type joinRequest struct {
	Key     string      `json:"key"`
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Host    record.Host `json:"host"`
}

// joinResponse is what a worker is given. Full: the run has all of its workers.
type joinResponse struct {
	Index int    `json:"index"`
	Of    int    `json:"of"`
	Run   string `json:"run"`
	Full  bool   `json:"full,omitempty"`
}

// from is a message of a worker with nothing in it but who sent it.
type from struct {
	Key string `json:"key"`
}

type assignment struct {
	Plan *plan.Plan `json:"plan"`
}

// readiness is that of a worker; a fault says why there is none.
type readiness struct {
	from
	Fault string   `json:"fault,omitempty"`
	Clock accuracy `json:"clock"`
	// Warnings are what it found ahead of the run.
	Warnings []string `json:"warnings,omitempty"`
}

// prepareStage is what a worker is to send next, and who sends with it. Orders are numbered from 1; what is said of a
// stage names its order.
type prepareStage struct {
	Number  uint64              `json:"number"`
	Task    load.Spec           `json:"task"`
	Workers []record.WorkerInfo `json:"workers"`
}

// begin is when a stage begins, on the clock of the run.
type begin struct {
	Order uint64        `json:"order"`
	At    time.Duration `json:"at"`
}

// halt ends a stage; abort: what is in flight, too.
type halt struct {
	Order  uint64            `json:"order"`
	Reason record.StopReason `json:"reason"`
	Abort  bool              `json:"abort,omitempty"`
}

// halted answers a halt. Unknown: the worker had not heard of the stage, and will not send it.
type halted struct {
	Unknown bool `json:"unknown,omitempty"`
}

type status struct {
	from
	Order    uint64 `json:"order"` // 0: none
	Sent     int64  `json:"sent"`
	InFlight int64  `json:"in_flight"`
	// At is a time of which all that follows was known.
	At        time.Duration `json:"at"`
	WarmupEnd time.Duration `json:"warmup_end"`      // the measured part begins; record.Never: not known yet
	SendEnd   time.Duration `json:"send_end"`        // its last request was sent; record.Never: not yet
	Fault     string        `json:"fault,omitempty"` // why its records cannot be written
	Clock     accuracy      `json:"clock"`
}

// flushed is how many frames of a worker's records there are once all were handed over.
type flushed struct {
	Frames uint64 `json:"frames"`
	Status status `json:"status"`
}

// leaving is a worker that ends before the run, and since when it sends nothing. Cut: because it did not
// hear its coordinator; otherwise it was told to stop.
type leaving struct {
	from
	At    time.Duration `json:"at"`
	Cut   bool          `json:"cut,omitempty"`
	Clock accuracy      `json:"clock"`
}

// ending is why workers end; without a reason the run is over. Unread: their records are not taken, as it did not begin.
type ending struct {
	Reason string `json:"reason,omitempty"`
	Unread bool   `json:"unread,omitempty"`
}

// ended is how a stage went for a worker. Frames is how many of its records there are by then. Left:
// it ends before the run, and has not sent its whole share.
type ended struct {
	from
	Order  uint64              `json:"order"`
	Mark   record.StageSummary `json:"mark"`
	Frames uint64              `json:"frames"`
	Left   bool                `json:"left,omitempty"`
	Clock  accuracy            `json:"clock"`
	Next   int64               `json:"next"` // number of the first prompt that it has not taken
	Fault  string              `json:"fault,omitempty"`
}

// checked is how a stage went, where what came over the network can be: nothing lies after now, but for what clocks may differ.
func (e ended) checked(now time.Duration) record.StageSummary {
	k := e.Mark
	for _, at := range []*time.Duration{&k.Begin, &k.WarmupEnd, &k.SendEnd, &k.DrainEnd} {
		*at = min(max(*at, 0), now+leaseFor)
	}
	for _, n := range []*int64{&k.Scheduled, &k.Waited, &k.Unsent, &k.RetryAfterWaits, (*int64)(&k.HeededFor)} {
		*n = max(*n, 0)
	}
	k.Gone = nil // the coordinator knows
	return k
}

// none is a question or a response without content.
type none struct{}
