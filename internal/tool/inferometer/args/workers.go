package args

import (
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

// runID is what users may call a run.
var runID = pattern.New(`^[A-Za-z0-9_-]{1,64}$`)

// mostWorkers bounds a number that is more likely a mistake than a wish.
const mostWorkers = 10_000

// workers is how many processes send; 0: this one does.
func (b *builder) workers() int {
	text := b.last("workers")
	for _, name := range []string{"join-at", "nats"} {
		if text == "" && b.given(name) {
			b.fault("--"+name, "is for runs with workers", "give --workers too")
		}
	}
	for _, name := range []string{"nats-ca", "nats-creds"} {
		if !b.given("nats") && b.given(name) {
			b.fault("--"+name, "is for a NATS of your own", "give --nats too")
		}
	}
	if b.given("join-at") && b.given("nats") {
		b.fault("--nats", "cannot be combined with --join-at", "workers meet at one place")
	}
	if id := b.last("run-id"); b.given("run-id") && !runID().MatchString(id) {
		b.fault("--run-id", strconv.Quote(id)+" is not an ID", "use up to 64 letters, digits, - and _")
	}
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostWorkers {
		b.fault("--workers", strconv.Quote(text)+" is not a number of processes", "such as --workers 4")
	}
	if b.is("calibrate") {
		b.fault("--workers", "cannot be combined with --calibrate", "calibrate one process alone")
	}
	return n
}

// SendTo is where a run is sent to when it is over.
type SendTo struct {
	OTLP        string // address of an OpenTelemetry collector; empty: none
	RemoteWrite string // address of a Prometheus remote-write receiver; empty: none
}

func (v values) sendTo() SendTo {
	return SendTo{OTLP: v.last("otlp"), RemoteWrite: v.last("remote-write")}
}
