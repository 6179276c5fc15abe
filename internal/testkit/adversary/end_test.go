//go:build linux

package adversary

import (
	"encoding/json"
	"syscall"
)

// ends are runs that do not come to theirs, and other tools' names.
func ends() []situation {
	slow := steady(60*ms, 5*ms, 6)
	long := flags("--concurrency 4 --duration 60s")
	signal := func(s syscall.Signal) func(*play) {
		return func(p *play) {
			if p.called(80) {
				_ = p.process.Signal(s)
			}
		}
	}
	hasResult := func(p *play) []finding {
		if p.result == nil {
			return []finding{{text: "there is no result.json", wrong: true}}
		}
		return nil
	}
	return []situation{
		{name: "killed", lie: "a killed run is a whole one", server: slow, args: long, during: signal(syscall.SIGKILL), after: reportAgain,
			truth: []claim{never("the run was killed")}, always: []claim{sent(40)}, quick: true},
		{name: "killed with everything in flight", lie: "No request was sent. Make the stage longer", server: always(func(c *call) {
			if c.seq() < 0 {
				c.stream(20*ms, 5*ms, 4)
				return
			}
			c.forever()
		}),
			args: flags("--concurrency 4 --duration 60s"), during: func(p *play) {
				if p.called(5) {
					p.pass(2500 * ms)
					_ = p.process.Signal(syscall.SIGKILL)
				}
			}, after: reportAgain, truth: []claim{never("the run was killed")}, always: []claim{sent(4)}, quick: true},
		{name: "stopped by SIGTERM", lie: "a part is the whole", server: slow, args: long, during: signal(syscall.SIGTERM), truth: []claim{served}, always: []claim{hasResult, exits}},
		{name: "stopped by SIGHUP", lie: "the terminal went, and the run with it", server: slow, args: long, during: signal(syscall.SIGHUP), truth: []claim{served}, always: []claim{hasResult, exits}, quick: true},
	}
}

// reportAgain makes the report of a run that left none.
func reportAgain(p *play) {
	p.start(nil, "report", p.dir, "--format", "json")
	d := new(document)
	if json.Unmarshal([]byte(p.stdout), d) == nil {
		p.reported = d
	}
}

// sent: at least so many requests are in the report.
func sent(n int64) claim {
	return func(p *play) []finding {
		if p.result == nil || len(p.result.Stages) == 0 {
			return []finding{{text: "there is no report: " + lastLine(p.stderr), wrong: true}}
		}
		c := p.result.Stages[0].Counts
		return []finding{{what: "requests in the report", said: float64(c.Sent), low: float64(n), high: float64(len(p.calls))}}
	}
}

// exits: the code says that the run is not what was asked for.
func exits(p *play) []finding {
	return []finding{{text: "a run that was stopped exits with 0", wrong: p.code == 0}}
}
