//go:build linux

package adversary

import (
	"strings"
	"time"
)

// forms are answers whose form on the wire is unusual, and runs of an unusual form.
func forms() []situation {
	return []situation{
		{name: "an answer too many", lie: "the answer to the request before is this one's", server: always(func(c *call) {
			c.words(50*ms, 5*ms, 3)
			last := chunk(finish) + chunk(usage("8", "3")) + chunk(done) + "0\r\n\r\n"
			again := streamHead + chunk(word(1)) + chunk(word(2)) + chunk(word(3)) + last
			c.write([]byte(last + again))
			c.fate = answered
		}), args: flags("--concurrency 8 --requests 240"), truth: []claim{served}, quick: true},
		{name: "an answer too many, while idle", lie: "the answer to nobody is the next one's", server: always(func(c *call) {
			c.stream(30*ms, 5*ms, 3)
			c.wait(10 * ms)
			last := c.last
			c.write([]byte(streamHead + chunk(word(1)) + chunk(finish) + chunk(usage("8", "1")) + chunk(done) + "0\r\n\r\n"))
			c.last = last
		}), args: flags("--rate 8 --requests 60"), truth: []claim{served}},
		{name: "interim answers first", lie: "103 is the first byte of the answer", server: always(func(c *call) {
			c.write([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"))
			c.stream(60*ms, 5*ms, 4)
		}), args: flags("--concurrency 8 --requests 240"), truth: []claim{served}},
		{name: "CRLF, comments and extensions", lie: "what is written otherwise is not there", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 5 {
				text := ": x\r\nevent: message\r\nid: 7\r\n" + strings.Replace(strings.ReplaceAll(word(i), "\n\n", "\r\n\r\n"), "data: ", "data:", 1)
				c.head()
				c.write([]byte(strings.Replace(chunk(text), "\r\n", ";name=value\r\n", 1)))
				c.note(1, text)
				c.wait(5 * ms)
			}
			c.end()
		}), args: flags("--concurrency 8 --requests 240"), truth: []claim{served}},
		{name: "idle connections closed", lie: "an idle connection that closes is a failure, or none", server: always(func(c *call) {
			c.stream(20*ms, 5*ms, 4)
			c.wait(30 * ms)
			c.closed = true
		}), args: flags("--rate 10 --requests 60"), truth: []claim{served}},
		{name: "one replica of two is slow", lie: "the mean of two servers is that of each", server: steady(50*ms, 5*ms, 4), before: func(p *play) {
			slow := serve(p.t, func(c *call) { c.stream(400*ms, 5*ms, 4) })
			p.mocks, p.second = []string{slow.url}, slow
		}, run: func(p *play) []string {
			return append([]string{"run", p.server.url, p.mocks[0], "--out", p.dir}, p.args...)
		}, args: flags("--rate 40 --requests 160"), truth: []claim{about("time_to_first_token", "avg", 225, 0.05)}},
		{name: "one replica of two is dead", lie: "the other one has answered", server: steady(50*ms, 5*ms, 4), run: func(p *play) []string {
			return append([]string{"run", p.server.url, "http://127.0.0.1:9", "--model", "m", "--out", p.dir}, p.args...)
		}, args: flags("--rate 40 --requests 160"), truth: []claim{never("half of the requests found nobody")}},
		{name: "warm-up found by itself", lie: "what is cold is settled", server: always(func(c *call) {
			ttft := 50 * ms
			if c.n < 20 {
				ttft *= 6
			}
			c.stream(ttft, 5*ms, 4)
		}), args: flags("--concurrency 4 --requests 240 --warmup auto"), truth: []claim{about("time_to_first_token", "avg", 50, 0.1)}},
		{name: "a second stage that hangs", lie: "the first stage speaks for both", server: since(func(c *call, at time.Duration) {
			if at > 3*time.Second {
				c.forever()
				return
			}
			c.stream(40*ms, 5*ms, 4)
		}), args: append([]string{"--stage", "concurrency=4,duration=2s", "--stage", "concurrency=8,duration=2s", "--drain", "1s", "--quiet"}, "--input-tokens", "8"), truth: []claim{never("the second stage hung")}},
	}
}
