// Package cluster has one run sent by several processes, on one machine or many: a coordinator
// that decides, and workers that each send their share and record it. They talk over NATS.
//
// A worker joins and is given its place and the plan; it sets its clock by the coordinator's
// and prepares. For each stage the coordinator has all of them open their connections, names the
// moment to begin, and waits for the marks with which they say how it went. The records of a
// worker are in a file of its own, and are shipped from there, frame by frame, as they are
// written.
package cluster

import (
	"math"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
)

// What is said, and under which subject. Those that are for one worker end with its number.
const (
	onJoin   = "join"   // a worker asks for its place
	onClock  = "clock"  // a worker asks what time it is
	onReady  = "ready"  // a worker asks to be counted in
	onOrder  = "order"  // a worker is asked to get ready for a stage
	onGo     = "go"     // all are told when the stage begins
	onHalt   = "halt"   // all are told to send no more
	onStatus = "status" // the coordinator is told how far a worker has come
	onMark   = "mark"   // the coordinator is asked to take how a stage went
	onFlush  = "flush"  // a worker is asked to ship what it has recorded
	onEnd    = "end"    // a worker is asked to end
	onLeave  = "leave"  // the coordinator is told that a worker will leave before the end
	onBye    = "bye"    // the coordinator is asked to let a worker go, whose records are all shipped
)

// coordinatorName is under which the coordinator gives its signs of life.
const coordinatorName = "coordinator"

const (
	// beatEvery is how often everyone gives a sign of life, lostAfter is how long one may be
	// missing.
	beatEvery = 500 * time.Millisecond
	lostAfter = 5 * time.Second
	// askFor is how long an answer may take that needs no work.
	askFor = 10 * time.Second
	// endFor is how long the last records of a worker may take.
	endFor = time.Minute
	// lead is how long before a stage begins its moment is told.
	lead = 200 * time.Millisecond
	// statusEvery is how often a worker says how far it has come.
	statusEvery = 250 * time.Millisecond
	// noted is how long it may take until what has come about is noted.
	noted = 20 * time.Millisecond
)

// noStage is the number of no stage.
const noStage = math.MinInt

// to is the subject of what is for one worker.
func to(subject string, worker int) string { return subject + "." + strconv.Itoa(worker) }

// joining is who wants to be a worker.
type joining struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Host    record.Host `json:"host"`
}

// place is what a worker is given.
type place struct {
	Index int        `json:"index"`
	Of    int        `json:"of"`
	Run   string     `json:"run"` // what the records of all workers are marked with
	Plan  *plan.Plan `json:"plan"`
}

// readiness is that of a worker; a fault says why there is none.
type readiness struct {
	Index int      `json:"index"`
	Fault string   `json:"fault,omitempty"`
	Clock accuracy `json:"clock"`
	// Warnings are what it found ahead of the run.
	Warnings []string `json:"warnings,omitempty"`
}

// order is what a worker is to send next, and who sends with it.
type order struct {
	Task    run.Task            `json:"task"`
	Workers []record.WorkerInfo `json:"workers"`
}

// begin is when a stage begins, on the clock of the run.
type begin struct {
	Stage int           `json:"stage"`
	At    time.Duration `json:"at"`
}

// halt ends a stage for all; abort: what is in flight, too.
type halt struct {
	Stage  int               `json:"stage"`
	Reason record.StopReason `json:"reason"`
	Abort  bool              `json:"abort,omitempty"`
}

// status is how far a worker has come.
type status struct {
	Index    int   `json:"index"`
	Stage    int   `json:"stage"`
	Sent     int64 `json:"sent"`
	InFlight int64 `json:"in_flight"`
	// At is a moment of which all that follows was known.
	At   time.Duration `json:"at"`
	From time.Duration `json:"from"` // the measured part begins; record.Never: not known yet
	To   time.Duration `json:"to"`   // its last request was sent; record.Never: not yet
}

// flushed is how many frames of a worker's records there are once all were handed over.
type flushed struct {
	Frames uint64 `json:"frames"`
	Status status `json:"status"`
}

// leaving is a worker that was told to stop, and when.
type leaving struct {
	Index int           `json:"index"`
	At    time.Duration `json:"at"`
}

// ended is how a stage went for a worker. Frames is how many of its records there are by then. Left:
// it was told to stop, and has not sent its whole share.
type ended struct {
	Index  int              `json:"index"`
	Mark   record.StageMark `json:"mark"`
	Frames uint64           `json:"frames"`
	Left   bool             `json:"left,omitempty"`
	Clock  accuracy         `json:"clock"`
	Next   int64            `json:"next"` // number of the first prompt that it has not taken
	Fault  string           `json:"fault,omitempty"`
}

// none is a question or an answer without content.
type none struct{}
