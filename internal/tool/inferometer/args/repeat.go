package args

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Repeat is how often a plan is run. It belongs to the command line and not to the plan: each
// run is one of the plan as it stands.
type Repeat struct {
	// Most is how many runs there are, or rounds of one run against each of two targets; with
	// Until, at most. 0: the plan is run once.
	Most  int
	AB    bool          // by turns against the plan's two URLs
	Until string        // an expression that must hold for the runs to be enough; empty: there is none
	Time  time.Duration // with Until: no run begins later than this after the first
	Pause time.Duration // between two runs
	// Salted: the plan was given a salt, so that no cache remembers one run in the next.
	Salted          bool
	plan.Conditions // on the comparison of AB
}

// On reports whether there is more to do than one run.
func (r *Repeat) On() bool { return r.Most > 0 }

// The values of what a command line leaves out.
const (
	usualRounds = 5
	usualMost   = 20
	usualTime   = 30 * time.Minute
	usualPause  = time.Second
)

// LeastRepeats is how many runs there are before it is looked at whether they are enough: an
// interval over two is a matter of luck.
const LeastRepeats = 3

// mostRepeats bounds a number that is more likely a mistake than a wish.
const mostRepeats = 10_000

// repeat reads how often the plan is run.
func (b *builder) repeat() Repeat {
	r := Repeat{AB: b.is("ab"), Until: strings.TrimSpace(b.last("until"))}
	switch {
	case b.given("repeat"):
		n, err := strconv.Atoi(b.last("repeat"))
		if err != nil || n < 1 || n > mostRepeats {
			b.fault("--repeat", strconv.Quote(shorten(b.last("repeat")))+" is not a number of runs", "such as --repeat 5")
			return Repeat{}
		}
		r.Most = n
	case b.given("until"):
		r.Most = usualMost
	case r.AB:
		r.Most = usualRounds
	}
	if b.given("until") {
		b.until(&r)
	}
	r.Time = b.span("until-max", "until", usualTime)
	r.Pause = usualPause
	if b.given("pause") {
		r.Pause = b.span("pause", "", 0)
	}
	if r.AB {
		r.Conditions = b.conditions()
	}
	switch {
	case r.On():
		b.alone(&r)
	case b.given("pause"):
		b.fault("--pause", "has no effect on one run", "give --repeat too")
	}
	return r
}

// until checks what goes with an expression that ends the runs.
func (b *builder) until(r *Repeat) {
	switch {
	case r.Until == "":
		b.fault("--until", "is empty", "such as --until 'ci(ttft.p99) < 5%'")
	case r.AB:
		b.fault("--until", "cannot be combined with --ab", "set the number of rounds with --repeat; the comparison says how many more would do")
	case r.Most < LeastRepeats:
		b.fault("--until", fmt.Sprintf("needs at least %d runs, and --repeat allows %d", LeastRepeats, r.Most), "raise --repeat")
	}
}

// span reads a time that is for another flag, where that is named.
func (b *builder) span(name, with string, usual time.Duration) time.Duration {
	if !b.given(name) {
		return usual
	}
	if with != "" && !b.given(with) {
		b.fault("--"+name, "has no effect without --"+with, "give both")
	}
	d, err := time.ParseDuration(b.last(name))
	if err != nil || d < 0 {
		b.fault("--"+name, strconv.Quote(shorten(b.last(name)))+" is not a time", "such as 90s or 10m")
	}
	return d
}

// alone finds what several runs cannot share.
func (b *builder) alone(r *Repeat) {
	which := "--repeat"
	switch {
	case r.AB:
		which = "--ab"
	case r.Until != "":
		which = "--until"
	}
	if b.given("export") {
		b.fault("--export", "cannot be combined with "+which+": each run would write the same file", "keep the runs with --out and export each: inferometer export DIR/1")
	}
	if b.given("run-id") {
		b.fault("--run-id", "cannot be combined with "+which+": each run has an ID of its own", "leave it out")
	}
	for _, name := range []string{"join-at", "nats"} {
		if b.given(name) {
			b.fault("--"+name, "cannot be combined with "+which+": workers on other machines serve one run", "use workers on this machine with --workers alone, or repeat the command")
		}
	}
	if n := len(b.draft.Plan.Target.URLs); r.AB && n != 2 {
		b.fault("--ab", fmt.Sprintf("needs two URLs, not %d", n), "such as inferometer run --ab http://old:8000 http://new:8000")
	}
}

// salted puts a word in front of the prompts of a plan that is run several times, another in each
// run, where a server's prefix cache would know them from the run before. A plan with a salt is
// left alone. The warning says what may be remembered.
func salted(p *plan.Plan, r *Repeat, given bool) (warning string) {
	same := r.AB // both sides of a round have the same seed
	switch p.Data.Source {
	case plan.SourceTensors:
		return ""
	case plan.SourceSynthetic, plan.SourceRandom:
		// The word would be most of a short prompt, which is no whole block of a cache either.
		in := p.Data.Input
		if mean := max(in.Mean, float64(in.Min+in.Max)/2); mean > 0 && mean < leastSalted {
			return ""
		}
	case plan.SourceFile, plan.SourceDataset, plan.SourceSharedPrefix, plan.SourceMock: // whatever the seed is
		same = true
	default:
		if !r.On() {
			return ""
		}
		return "prompts from source " + p.Data.Source + " take no salt: a server's prefix cache may remember those of the run before"
	}
	switch {
	case !r.On() || !same:
	case given && r.AB && (p.Data.Salt == plan.SaltRequest || p.Data.Salt == plan.SaltStage):
		return fmt.Sprintf("--salt %s follows from the seed, and both sides have the same: servers that share a prefix cache need --salt run", p.Data.Salt)
	case !given:
		with := *p
		if with.Data.Salt = plan.SaltRun; planfile.Validate(&with) != nil {
			return "these prompts take no salt: a server's prefix cache may remember those of the run before"
		}
		p.Data.Salt, r.Salted = plan.SaltRun, true
	}
	return ""
}

// leastSalted is how many tokens a synthetic prompt has that a word of salt is little of.
const leastSalted = 32
