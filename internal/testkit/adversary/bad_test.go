//go:build linux

package adversary

import (
	"strings"
	"sync"
	"time"
)

// drops are servers that take requests and do not answer them.
func drops() []situation {
	afterWork := func(work time.Duration) func() func(*call) {
		return always(func(c *call) {
			if c.nth > 0 {
				c.wait(work)
				c.drop()
				return
			}
			c.stream(20*ms, 5*ms, 4)
		})
	}
	silent := []claim{never("requests were dropped")}
	return []situation{
		{name: "reused connections dropped", lie: "16 of 20 dropped, all counted as good", server: afterWork(600 * ms), args: flags("--concurrency 2 --requests 20"), truth: silent},
		{name: "reused connections dropped at once", lie: "sent again as if nothing had been", server: afterWork(150 * ms), args: flags("--concurrency 4 --requests 60"), truth: silent, quick: true},
		{name: "idle, then dropped after work", lie: "an idle connection that closes has done nothing", server: afterWork(300 * ms), args: flags("--rate 6 --requests 24"), truth: silent, quick: true},
		{name: "answers cut in the middle", lie: "what came is all that there was", server: always(func(c *call) {
			c.words(20*ms, 5*ms, 4)
			if c.n%5 == 4 {
				c.drop()
				return
			}
			c.end()
		}), args: flags("--concurrency 8 --requests 240"), truth: silent},
		{name: "answers reset in the middle", lie: "what came is all that there was", server: always(func(c *call) {
			c.words(20*ms, 5*ms, 4)
			if c.n%5 == 4 {
				c.fate, c.closed = cut, true
				abort(c.conn)
				return
			}
			c.end()
		}), args: flags("--concurrency 8 --requests 240"), truth: silent},
		{name: "the server dies", lie: "104 of 200 failed, VALID", server: always(func(c *call) {
			if c.n == 60 {
				c.server.kill()
				return
			}
			c.stream(20*ms, 5*ms, 4)
		}), args: flags("--concurrency 4 --requests 150"), truth: []claim{never("the server died")}, quick: true},
	}
}

// trends are servers that never come to rest.
func trends() []situation {
	return []situation{
		{name: "more asked than it can", lie: "20/s asked of a server that does 5/s", server: lanes(1, func(c *call) { c.stream(200*ms, 0, 1) }),
			args: flags("--rate 20 --duration 6s --drain 60s"), truth: []claim{never("every request waited longer than the one before")}},
		{name: "more asked than it can, briefly", lie: "a queue that only grows has no latency", server: lanes(1, func(c *call) { c.stream(100*ms, 0, 1) }),
			args: flags("--rate 30 --duration 2s --drain 60s"), truth: []claim{never("every request waited longer than the one before")}, quick: true},
		{name: "the first twenty are slow", lie: "401 ms for a settled 201", server: always(func(c *call) {
			ttft := 200 * ms
			if c.n < 20 {
				ttft *= 5
			}
			c.stream(ttft, ms, 2)
		}), args: flags("--concurrency 4 --requests 80"), truth: []claim{about("time_to_first_token", "avg", 201, 0.1)}},
		{name: "the first ten are slow", lie: "what is cold is settled", server: always(func(c *call) {
			ttft := 50 * ms
			if c.n < 10 {
				ttft *= 6
			}
			c.stream(ttft, ms, 2)
		}), args: flags("--concurrency 2 --requests 40"), truth: []claim{about("time_to_first_token", "avg", 51, 0.1)}, quick: true},
		{name: "five times slower from half time", lie: "the mean of two servers", server: since(func(c *call, at time.Duration) {
			ttft := 100 * ms
			if at > 3*time.Second {
				ttft *= 5
			}
			c.stream(ttft, ms, 2)
		}), args: flags("--concurrency 2 --duration 6s"), truth: []claim{never("latency grew fivefold at half time")}},
		{name: "five times slower, few requests", lie: "too few to see it", server: since(func(c *call, at time.Duration) {
			ttft := 60 * ms
			if at > 1500*ms {
				ttft *= 5
			}
			c.stream(ttft, ms, 2)
		}), args: flags("--concurrency 1 --duration 3s"), truth: []claim{never("latency grew fivefold at half time")}, quick: true},
		{name: "hangs from half time", lie: "the answers until then are all", server: since(func(c *call, at time.Duration) {
			if at > 2*time.Second {
				c.forever()
				return
			}
			c.stream(80*ms, ms, 2)
		}), args: flags("--concurrency 4 --duration 4s --drain 1s"), truth: []claim{never("the server hung from half time")}, quick: true},
		{name: "hangs from half time, open loop", lie: "the answers until then are all", server: since(func(c *call, at time.Duration) {
			if at > 2*time.Second {
				c.forever()
				return
			}
			c.stream(80*ms, ms, 2)
		}), args: flags("--rate 20 --duration 4s --drain 1s"), truth: []claim{never("the server hung from half time")}},
		{name: "a model that warms up", lie: "TPOT falling threefold", server: since(func(c *call, at time.Duration) {
			itl := 10 * ms
			if at < 3*time.Second {
				itl += time.Duration(float64(20*ms) * (1 - at.Seconds()/3))
			}
			c.stream(30*ms, itl, 10)
		}), args: flags("--concurrency 2 --duration 6s"), truth: []claim{about("time_per_output_token", "avg", 10, 0.1)}},
		{name: "slower and slower", lie: "one latency for a slope", server: since(func(c *call, at time.Duration) {
			c.stream(50*ms+time.Duration(float64(100*ms)*at.Seconds()/4), ms, 2)
		}), args: flags("--concurrency 2 --duration 4s"), truth: []claim{never("latency tripled on the way")}, quick: true},
		{name: "one pause of two seconds", lie: "a stop of the world between two answers", server: pause(2*time.Second, 4*time.Second, func(c *call) {
			c.stream(40*ms, 5*ms, 4)
		}), args: flags("--concurrency 4 --duration 6s"), truth: []claim{served}},
	}
}

// lanes lets so many calls be worked on at once; others queue.
func lanes(n int, answer func(*call)) func() func(*call) {
	return func() func(*call) {
		room := make(chan struct{}, n)
		return func(c *call) {
			select {
			case room <- struct{}{}:
			case <-c.server.closed:
				c.closed = true
				return
			}
			defer func() { <-room }()
			c.read = time.Now() // work begins here; when it arrived stands in arrived
			answer(c)
		}
	}
}

// since tells a response how long ago the first call came.
func since(answer func(c *call, at time.Duration)) func() func(*call) {
	return func() func(*call) {
		var mu sync.Mutex
		var begin time.Time
		return func(c *call) {
			mu.Lock()
			if begin.IsZero() {
				begin = c.read
			}
			at := c.read.Sub(begin)
			mu.Unlock()
			answer(c, at)
		}
	}
}

// pause holds all responses that begin between two moments up to the second.
func pause(from, to time.Duration, answer func(*call)) func() func(*call) {
	return since(func(c *call, at time.Duration) {
		if at > from && at < to {
			c.wait(to - at)
			c.read = time.Now()
		}
		answer(c)
	})
}

// failures are answers that are none.
func failures() []situation {
	part := func(every int, bad func(*call)) func() func(*call) {
		return always(func(c *call) {
			c.wait(20 * ms)
			if c.n%every == every-1 {
				bad(c)
				return
			}
			c.read = time.Now()
			c.stream(20*ms, 5*ms, 4)
		})
	}
	fail := func(code int) func(*call) {
		return func(c *call) { c.status(code, `{"error":{"message":"out of memory"}}`) }
	}
	failed := []claim{never("more than one request in a hundred failed")}
	return []situation{
		{name: "a quarter answered 500", lie: "failures are valid", server: part(4, fail(500)), args: flags("--concurrency 8 --requests 200"), truth: failed, quick: true},
		{name: "one in twenty answered 503", lie: "failures are valid", server: part(20, fail(503)), args: flags("--rate 60 --requests 200"), truth: failed},
		{name: "everything answered 500", lie: "failures are fast", server: part(1, fail(500)), args: flags("--concurrency 8 --requests 240"), truth: failed},
		{name: "an error with status 200", lie: "200 is success", server: part(4, func(c *call) {
			c.status(200, `{"error":{"message":"out of memory","code":500}}`)
		}), args: flags("--concurrency 8 --requests 200"), truth: failed, quick: true},
		{name: "an error in the stream", lie: "a stream that began is an answer", server: part(4, func(c *call) {
			c.send(1, word(1))
			c.send(0, `data: {"error":{"message":"out of memory","code":500}}`+"\n\n", done)
			c.write([]byte("0\r\n\r\n"))
			c.fate = refused
		}), args: flags("--concurrency 8 --requests 200"), truth: failed},
		{name: "streams without a token", lie: "the fastest answer is none", server: part(4, func(c *call) {
			c.send(0, delta(`"role":"assistant","content":""`))
			c.endWith()
			c.fate = refused
		}), args: flags("--concurrency 8 --requests 200"), truth: failed},
		{name: "a web page with status 200", lie: "200 is success", server: part(4, func(c *call) {
			c.status(200, "<!doctype html><title>Welcome</title>", "X-Type: text/html")
		}), args: flags("--concurrency 8 --requests 200"), truth: failed},
		{name: "a model that is not there", lie: "53,287 requests in 3 s", server: always(func(c *call) {
			c.status(404, `{"error":{"message":"The model does not exist","type":"NotFoundError"}}`)
		}), args: flags("--model nope --concurrency 4 --duration 2s"), truth: failed, quick: true},
		{name: "a key that is wrong", lie: "401 is fast", server: always(fail(401)), args: flags("--concurrency 4 --duration 1s"), truth: failed},
		{name: "429 with Retry-After", lie: "hammered 18,000 times a second", server: always(func(c *call) {
			c.status(429, `{"error":{"message":"slow down"}}`, "Retry-After: 1")
		}), args: flags("--concurrency 4 --duration 2s"), truth: failed},
		{name: "429 for one in ten", lie: "what is refused costs nothing", server: part(10, func(c *call) {
			c.status(429, `{"error":{"message":"slow down"}}`, "Retry-After: 1")
		}), args: flags("--rate 40 --requests 120"), truth: failed, quick: true},
		{name: "a redirect", lie: "a detour is the server's time", server: always(func(c *call) {
			if !strings.HasSuffix(c.path, "/again") {
				c.wait(100 * ms)
				c.status(307, "", "Location: "+c.path+"/again")
				return
			}
			c.stream(20*ms, 5*ms, 4)
		}), args: flags("--concurrency 4 --requests 60"), truth: failed},
	}
}
