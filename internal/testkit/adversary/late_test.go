//go:build linux

package adversary

import "time"

// late are answers that come after everybody else's, or after the client has left.
func late() []situation {
	// slowOnes answers one call in so many after a long time.
	slowOnes := func(every int, after time.Duration) func() func(*call) {
		return always(func(c *call) {
			ttft := 40 * ms
			if c.n%every == every-1 {
				ttft = after
			}
			c.stream(ttft, 5*ms, 4)
		})
	}
	// straggler answers one call after a long time: the first that comes after a while.
	straggler := func(at, after time.Duration, answer func(c *call, after time.Duration)) func() func(*call) {
		return func() func(*call) {
			told := newSet()
			return since(func(c *call, now time.Duration) {
				if now > at && !told.add("") {
					answer(c, after)
					return
				}
				c.stream(40*ms, 5*ms, 4)
			})()
		}
	}
	slow := func(c *call, after time.Duration) { c.stream(after, 5*ms, 4) }
	stuck := func(c *call, after time.Duration) {
		c.words(40*ms, 5*ms, 2)
		c.wait(after)
		c.send(1, word(3))
		c.end()
	}
	return []situation{
		{name: "one in twelve hangs beyond the drain", lie: "TTFT average 41 ms, truly 3.4 s", server: slowOnes(12, 40*time.Second), args: flags("--rate 20 --duration 6s --drain 4s")},
		{name: "one in twelve hangs, closed loop", lie: "slots that hang send nothing", server: slowOnes(12, 40*time.Second), args: flags("--concurrency 24 --duration 1s --drain 4s"), quick: true},
		{name: "one in twelve hangs, HTTP/2", lie: "a stream that is cut off was not there", server: slowOnes(12, 40*time.Second), over: []wire{overH2}, args: flags("--http2 --rate 20 --duration 5s --drain 3s")},
		{name: "one in fifty hangs beyond the drain", lie: "2 % are too few to change an average", server: slowOnes(50, 20*time.Second), args: flags("--rate 40 --duration 6s --drain 2s")},
		{name: "one in five hangs after its second token", lie: "what was cut off had a fast first token", server: always(func(c *call) {
			if c.n%5 == 4 {
				stuck(c, 30*time.Second)
				return
			}
			c.stream(40*ms, 5*ms, 4)
		}), args: flags("--rate 20 --duration 5s --drain 2s")},
		{name: "one straggler at the end", lie: "24.7/s ± 0.02 of 43.2/s", server: straggler(3500*ms, 8*time.Second, slow), args: flags("--concurrency 4 --duration 4s")},
		{name: "one straggler at the end, open loop", lie: "a rate over the drain is that of the load", server: straggler(3500*ms, 8*time.Second, slow), args: flags("--rate 40 --duration 4s")},
		{name: "one straggler in the middle of its answer", lie: "the longest gap is one of many", server: straggler(2*time.Second, 5*time.Second, stuck), args: flags("--concurrency 4 --duration 5s")},
		{name: "the last answer is cut off", lie: "one of 300 is no more than 0.3 %", server: straggler(3500*ms, 30*time.Second, slow), args: flags("--concurrency 4 --duration 4s --drain 2s")},
		{name: "one in twelve runs into the timeout", lie: "what took too long took no time", server: slowOnes(12, 20*time.Second), args: flags("--rate 20 --duration 5s --timeout 1s"), truth: []claim{never("one request in twelve timed out")}},
		{name: "half of the answers outlive a stage of 2 s", lie: "those that ended are those that there were", server: always(func(c *call) {
			c.stream(time.Duration(c.n%4)*time.Second+100*ms, 5*ms, 4)
		}), args: flags("--rate 30 --duration 2s --drain 1s")},
		{name: "cut off by SIGINT", lie: "what was on its way did not exist", server: slowOnes(4, 30*time.Second), args: flags("--rate 30 --duration 60s --drain 1s"), during: func(p *play) {
			if p.called(100) {
				p.signal(interrupt)
			}
		}, quick: true},
	}
}
