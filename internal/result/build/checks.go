package build

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// client judges the condition of a client while the stage was sending.
func (j *judge) client(i int, c *client, mark *record.StageSummary, sum *metric.StageStats) {
	a, b, ok := during(c.health, mark)
	if !ok {
		return
	}
	if allowed := (b.Allowed - a.Allowed).Seconds(); allowed > 0 {
		j.cpu(i, c, (b.CPU-a.CPU).Seconds()/allowed, (b.CPUWait-a.CPUWait).Seconds()/allowed, sum)
	}
	pause := (b.GCPause - a.GCPause).Seconds() / (b.At - a.At).Seconds()
	budget := j.plan.Budgets.GC
	j.check(result.Check{Stage: i, Name: "gc", Value: pause, Budget: budget, Unit: metric.Share, OK: pause <= budget,
		Fix: "Give it more memory (GOMEMLIMIT, GOGC) or lower the load."},
		fmt.Sprintf("Garbage collection paused %s for %s of the time (budget %s).", c.name(false), number.Percent(pause), number.Percent(budget)))
}

// cpu judges whether the client had the CPU that it needed: shares of what it may use that
// it ran and waited. Where the kernel stamps what is received, waiting for a core bends
// nothing that has come; what it can have bent is in the error bars, and is judged there.
func (j *judge) cpu(i int, who *client, ran, waited float64, sum *metric.StageStats) {
	budget := j.plan.Budgets.CPU
	// A client that waits longer for a core than it runs is short of CPU: somebody else has its
	// cores.
	crowded := waited > ran && waited > crowdedShare
	found := fmt.Sprintf("%s was short of CPU: it used %s of its allowance", who.name(true), number.Percent(ran))
	if waited >= 0.01 {
		found += fmt.Sprintf(" and waited for a core for another %s", number.Percent(waited))
	}
	if crowded && ran+waited <= budget {
		found += ", longer than it ran: other processes were using its cores"
	} else {
		found += fmt.Sprintf(" (budget %s)", number.Percent(budget))
	}
	c := result.Check{Stage: i, Name: "client_cpu", Value: ran + waited, Budget: budget, Unit: metric.Share, OK: ran+waited <= budget && !crowded,
		Fix: "Give it more cores, keep other work off them, or lower the load."}
	stamped := j.facts.Header.Kernel && float64(sum.Counts.Unstamped) <= unstampedShare*float64(sum.Counts.Reads)
	if !c.OK && stamped {
		j.addNote(i, "%s. Timestamps come from the kernel, so this affects them by no more than their error bars.", found)
		c.OK = true
	}
	j.check(c, found+".")
}

// client is a process that sent requests.
type client struct {
	worker int    // from 1; 0: the run's own process
	called string // the worker's name
	health []record.Health
}

func (c *client) name(begins bool) string {
	switch {
	case c.worker > 0:
		if begins {
			return "Worker " + c.called
		}
		return "worker " + c.called
	case begins:
		return "The client"
	}
	return "the client"
}

// clients are the processes that sent requests, by number, each with the samples of its condition.
func (f *Inputs) clients() []*client {
	var list []*client
	for _, h := range f.Health {
		if h.Worker == 0 && len(f.Header.Workers) > 0 {
			continue // it sent none
		}
		i := slices.IndexFunc(list, func(c *client) bool { return c.worker == h.Worker })
		if i < 0 {
			i = len(list)
			list = append(list, &client{worker: h.Worker, called: nameOf(f.Header.Workers, h.Worker)})
		}
		list[i].health = append(list[i].health, h)
	}
	slices.SortFunc(list, func(a, b *client) int { return a.worker - b.worker })
	return list
}

// crowdedShare is how much of its time a client may wait for a core, whatever it
// needs.
const crowdedShare = 0.05

// during gives the samples between which the client's condition in a stage is seen:
// those inside the time of sending where they cover half of it, else those around.
func during(health []record.Health, mark *record.StageSummary) (a, b record.Health, ok bool) {
	if mark != nil {
		inside := slices.DeleteFunc(slices.Clone(health), func(h record.Health) bool { return h.At < mark.Begin || h.At > mark.SendEnd })
		if n := len(inside); n > 1 && inside[n-1].At-inside[0].At >= (mark.SendEnd-mark.Begin)/2 {
			return inside[0], inside[n-1], true
		}
	}
	return around(health, mark)
}

// unstampedShare is the share of reads without a kernel stamp from which on their
// delay matters.
const unstampedShare = 0.01

// reads says what of the responses was not kept or not measured.
func (j *judge) reads(i int, sum *metric.StageStats) {
	c := &sum.Counts
	if n := c.OnePiece; n > 0 {
		j.addNote(i, "%s came in one piece although a stream was requested: no time to first token and no gap between tokens was measured in them.", number.Plural(n, "response"))
	}
	if n := c.Folded; n > 0 {
		j.addNote(i, "The later events of %s longer than %v were aggregated: counts, sums and timestamps are exact, percentiles of their gaps within 0.1 %%.", number.Plural(n, "stream"), limit(message.StreamLimit, j.plan.Limits.Stream))
	}
	if n := c.Cut; n > 0 {
		j.addNote(i, "The bytes of %s beyond %v were not kept.", number.Plural(n, "response"), limit(message.RawLimit, j.plan.Limits.Raw))
	}
}

// short judges whether responses had the length asked for.
func (j *judge) short(i int, sum *metric.StageStats) {
	if !j.plan.Target.Generates() {
		return
	}
	c, n := &sum.Counts, sum.Whole.Totals.OK
	short, budget := c.Short, j.plan.Budgets.ShortOutput
	if j.plan.Data.OutputCap {
		short = 0
	}
	share := float64(c.Empty+short) / float64(n)
	j.check(result.Check{Stage: i, Name: "short_output", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
		Fix: j.words(longer(j.plan))},
		fmt.Sprintf("%s of the %d responses were empty (%d) or shorter than requested (%d); the budget is %s.", number.Percent(share), n, c.Empty, short, number.Percent(budget)))
}

// longer says how to get responses of the length asked for. Where the requests already say
// that the model is to go on, the server does not do it, or has no room for it.
func longer(p *plan.Plan) message.Message {
	const shorter, full = "Ask for shorter responses.", "Check that prompt and response fit the server's maximum context, or ask for shorter responses."
	const unheeded = "%v is set, so the server ignores it or ran out of room: check that it supports it, and that prompt and response fit its maximum context."
	switch d := &p.Data; {
	case p.Target.Protocol == plan.ProtocolAnthropic: // whose API has no field for it
		return message.New(shorter)
	case d.OutputCap:
		return message.New("See the server's log for why responses are empty.")
	case d.IgnoreEOS && d.MinTokens:
		return message.New("%v and %v are set, so the server ignores them or ran out of room: check that it supports them, and that prompt and response fit its maximum context.", message.IgnoreEOS, message.MinTokens).Or(full)
	case d.IgnoreEOS:
		return message.New(unheeded, message.IgnoreEOS).Or(full)
	case d.MinTokens:
		return message.New(unheeded, message.MinTokens).Or(full)
	}
	return message.New("Set %v or %v, or %v if responses may be shorter.", message.IgnoreEOS, message.MinTokens, message.OutputCap).
		Or("Set %v or %v, or ask for no length.", message.IgnoreEOS, message.MinTokens).
		Or("Set %v, or ask for shorter responses.", message.IgnoreEOS).Or("Set %v, or ask for shorter responses.", message.MinTokens).Or(shorter)
}

func limit(s message.Setting, most plan.Bytes) message.Message {
	return message.New("%v (%s)", s, most).Or("%s", most)
}
