//go:build linux

package adversary

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fleets are runs of several processes, stages, sessions or turns.
func fleets() []situation {
	plain := steady(40*ms, 20*ms, 5)
	workers := flags("--workers 2 --concurrency 8 --duration 5s")
	// one stops one of the workers, and nobody else.
	one := func(on, off time.Duration) func(*play) {
		return func(p *play) {
			p.called(9)
			for p.pass(on) {
				if all := family(p.process.Pid); len(all) > 1 {
					_ = syscall.Kill(all[len(all)-1], syscall.SIGSTOP)
					p.pass(off)
					_ = syscall.Kill(all[len(all)-1], syscall.SIGCONT)
				}
			}
		}
	}
	stages := func(specs ...string) []string {
		var args []string
		for _, s := range specs {
			args = append(args, "--stage", s)
		}
		return append(args, "--quiet", "--input-tokens", "8")
	}
	overloaded := lanes(8, func(c *call) { c.stream(40*ms, 10*ms, 4) })
	return []situation{
		{name: "two workers", lie: "nothing", server: plain, args: workers, healthy: true},
		{name: "two workers, both paused", lie: "a pause of the workers is the server's", server: plain, args: workers, during: flicker(900*ms, 100*ms), host: true},
		{name: "two workers, one paused", lie: "the mean of two clients is that of each", server: plain, args: workers, during: one(900*ms, 100*ms), host: true},
		{name: "two workers, one throttled, open loop", lie: "the other one was in time", server: plain, args: flags("--workers 2 --rate 60 --duration 5s"), during: one(60*ms, 60*ms), host: true},
		{name: "two workers, one in twelve hangs", lie: "the cut-off of a worker is nobody's", server: always(func(c *call) {
			if c.n%12 == 11 {
				c.forever()
				return
			}
			c.stream(40*ms, 10*ms, 4)
		}), args: flags("--workers 2 --rate 20 --duration 4s --drain 2s")},
		{name: "a ramp", lie: "nothing", server: plain, args: flags("--concurrency 2 --ramp-to 16 --duration 6s"), healthy: true},
		{name: "a ramp, paused", lie: "a load that changes has no truth", server: plain, args: flags("--concurrency 2 --ramp-to 16 --duration 6s"), during: flicker(900*ms, 100*ms), host: true},
		{name: "a ramp of rates, paused", lie: "a load that changes has no truth", server: plain, args: flags("--rate 20 --ramp-to 80 --duration 6s"), during: flicker(900*ms, 100*ms), host: true},
		{name: "a trace, paused", lie: "the trace was late, not the client", server: plain, before: file("trace.jsonl", trace(300, 20)), args: []string{"--arrival", "trace", "--input-file", "trace.jsonl", "--quiet"}, during: flicker(900*ms, 100*ms), host: true},
		{name: "stages, one of them paused", lie: "the trouble of one is that of none", server: plain, args: stages("concurrency=4,duration=3s", "concurrency=8,duration=3s", "concurrency=4,duration=3s"), during: func(p *play) {
			p.called(1)
			p.pass(3500 * ms)
			for range 10 {
				p.stop(80 * ms)
				p.pass(120 * ms)
			}
		}, host: true},
		{name: "levels, one of them overloaded", lie: "five good levels are not to be trusted", server: overloaded, args: stages("rate=40,duration=4s", "rate=200,duration=4s", "rate=40,duration=4s,gap=3s"),
			truth: []claim{never("the second level asked for more than the server can")}, always: []claim{alone(1)}},
		{name: "levels, one of them fails", lie: "five good levels are not to be trusted", server: since(func(c *call, at time.Duration) {
			if at > 4500*ms && at < 9500*ms {
				c.status(503, `{"error":{"message":"overloaded"}}`)
				return
			}
			c.stream(40*ms, 10*ms, 4)
		}), args: stages("rate=40,duration=4s", "rate=40,duration=4s,gap=1s", "rate=40,duration=4s,gap=1s"), truth: []claim{never("the second level failed")}, always: []claim{alone(1)}},
		sessions("sessions that run out", "the flow of answers fell", "count: 40, turns: {mean: 4, stddev: 1}", 8, nil),
		sessions("sessions with pauses of their own", "a user who thinks is a slow server", "count: 30, turns: {mean: 4, stddev: 1}, delay_ms: 100", 8, nil),
		sessions("sessions, paused", "a pause of the client is the user's", "count: 60, turns: {mean: 5, stddev: 1}", 6, flicker(400*ms, 80*ms)),
		sessions("sessions with pauses of their own, paused", "a pause of the client is the user's", "count: 60, turns: {mean: 5, stddev: 1}, delay_ms: 50", 6, flicker(400*ms, 80*ms)),
	}
}

// alone claims that of the stages with a verdict of their own only one is not valid. Where
// none has one there is nothing to claim.
func alone(bad int) claim {
	return func(p *play) []finding {
		if p.result == nil {
			return []finding{{text: "there is no result.json", wrong: true}}
		}
		for i, s := range p.result.Stages {
			if s.Verdict == nil {
				return nil
			}
			if valid := p.trusted(i); valid && i == bad || !valid && i != bad && p.result.Verdict.finds(i) {
				return []finding{{text: fmt.Sprintf("stage %d is called %s: %s", i+1, s.Verdict.Word, strings.Join(s.Verdict.Reasons, " ")), wrong: true}}
			}
		}
		return nil
	}
}

// trace is a file of requests that are due so many milliseconds apart.
func trace(n, apart int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"timestamp":%d,"prompt":"Hello %d"}`+"\n", i*apart, i)
	}
	return b.String()
}

// sessions is a run of a number of conversations, each of which ends; with nobody to disturb
// it, nothing is wrong.
func sessions(name, lie, which string, concurrent int, during func(*play)) situation {
	answer := always(func(c *call) {
		c.words(40*ms, 20*ms, 5)
		c.endWith(usage(itoa(c.promptTokens()), "5"))
	})
	return situation{name: name, lie: lie, server: answer, during: during, healthy: during == nil, host: during != nil, before: func(p *play) {
		file("plan.yaml", fmt.Sprintf("target: {urls: [%s], model: m}\ndata: {source: sessions, input: 16, output: 5, sessions: {%s}}\nstages: [{arrival: sessions, sessions: {concurrent: %d}}]\n", p.server.url, which, concurrent))(p)
	}, run: func(p *play) []string {
		return slices.Concat([]string{"run", "plan.yaml", "--quiet", "--out", p.dir}, p.args)
	}}
}
