//go:build linux

package adversary

import (
	"strings"
	"time"
)

// starved are clients that are kept from reading what has come: by a signal, by a quota of
// their control group, or by their own sends.
func starved() []situation {
	quota := func(s situation, share float64) situation {
		s.before, s.during = throttled(share)
		return s
	}
	plain := steady(40*ms, 20*ms, 5)
	c8 := flags("--concurrency 8 --duration 6s")
	often := situation{name: "paused 100 ms every 2 s", lie: "TTFT p99 91 ± 0.2 ms, truly 41", server: plain, args: c8, during: flicker(1900*ms, 100*ms)}
	pairs := often
	pairs.name, pairs.server = "paused 100 ms every 2 s, two tokens", steady(40*ms, 50*ms, 2)
	brief := situation{name: "paused 30 ms ten times a second", lie: "a pause shorter than an answer is none", server: plain, args: c8, during: flicker(70*ms, 30*ms)}
	list := []situation{
		often,
		often.with("HTTP/2", overH2),
		often.with("TLS", overTLS),
		often.with("HTTP/2 over TLS", overH2, overTLS),
		pairs,
		pairs.with("HTTP/2", overH2),
		{name: "paused 100 ms every 2 s, open loop", lie: "what waited was sent late", server: plain, args: flags("--rate 60 --duration 6s"), during: flicker(1900*ms, 100*ms)},
		brief,
		brief.with("HTTP/2", overH2),
		{name: "paused 30 ms ten times a second, open loop", lie: "a pause shorter than an answer is none", server: plain, args: flags("--rate 60 --duration 6s"), during: flicker(70*ms, 30*ms)},
		{name: "paused once for a second", lie: "once is never", server: plain, args: flags("--concurrency 8 --duration 8s"), during: paused(3*time.Second, time.Second, 1)},
		{name: "paused in the first wave", lie: "the first wave is a wave like others", server: plain, args: c8, during: firstWave(3, 300*ms), quick: true},
		{name: "paused in the drain", lie: "what comes after the end is not looked at", server: steady(400*ms, 20*ms, 5), args: flags("--concurrency 8 --duration 4s"), during: func(p *play) {
			p.called(2)
			p.pass(4*time.Second + 100*ms)
			p.stop(700 * ms)
		}},
		quota(situation{name: "a quota of 4 ms in 100", lie: "9 of 9 VALID: TTFT p99 91 ± 0.2 ms, truly 41", server: pairs.server, args: flags("--concurrency 8 --duration 6s")}, 0.04),
		quota(situation{name: "a quota of 4 ms in 100, HTTP/2", lie: "what waits in the kernel came when it was read", server: plain, over: []wire{overH2}, args: flags("--http2 --concurrency 4 --duration 6s")}, 0.04),
		quota(situation{name: "a quota of 12 ms in 100, 6 MB answers", lie: "559 ± 0.03 ms, truly 508: the window was closed, the data waited in the server", server: huge(500*ms, 6<<20), args: flags("--concurrency 2 --requests 24"),
			truth: []claim{about("request_latency", "avg", 508, 0.03)}}, 0.12),
		quota(situation{name: "a quota of 12 ms in 100, 2 MB streams", lie: "the last event came when there was room for it", server: wide(100*ms, 5*ms, 20, 100<<10), args: flags("--concurrency 2 --duration 6s"),
			truth: []claim{about("request_latency", "avg", 200, 0.1)}}, 0.12),
		{name: "role and first token read together", lie: "two events of one read came at once", server: always(func(c *call) {
			c.wait(40 * ms)
			c.send(0, delta(`"role":"assistant","content":""`))
			c.read = time.Now()
			c.stream(30*ms, 20*ms, 4)
		}), args: c8, during: flicker(50*ms, 40*ms)},
		{name: "two tokens, then silence, a paused client", lie: "the gaps add up to the same", server: always(func(c *call) {
			c.wait(40 * ms)
			c.send(2, word(1), word(2))
			c.read = time.Now()
			c.stream(200*ms, 20*ms, 3)
		}), args: c8, during: flicker(150*ms, 50*ms)},
		{name: "32 streams of one connection, paused", lie: "frames of others have no stamps of their own", server: steady(60*ms, 10*ms, 10), over: []wire{overH2}, args: flags("--http2 --concurrency 32 --duration 5s"), during: flicker(450*ms, 50*ms)},
		{name: "1,024 in flight on one core", lie: "TTFT p99 80 to 90 ± 17 ms, truly 51", server: steady(51*ms, 250*ms, 5), args: flags("--concurrency 1024 --requests 4096"), limit: "taskset -cp 0 $$ >/dev/null", alone: true},
		{name: "a burst of 400 at once, one core", lie: "sends go before reads", server: steady(30*ms, 10*ms, 4), before: file("burst.jsonl", burst(400)),
			args: []string{"--arrival", "trace", "--input-file", "burst.jsonl", "--quiet"}, limit: "taskset -cp 0 $$ >/dev/null", alone: true},
	}
	for i := range list {
		list[i].host, list[i].anyway = true, true
	}
	return list
}

// huge is a response in one piece of so many bytes, which are all there after a while.
func huge(after time.Duration, size int) func() func(*call) {
	body := strings.Replace(whole, "a b c d", strings.Repeat("a b c d ", size/8), 1)
	body = strings.Replace(body, `"completion_tokens":4`, `"completion_tokens":`+itoa(size/2), 1)
	return always(func(c *call) {
		c.wait(after)
		c.status(200, body)
		c.fate, c.tokens = answered, size/2
	})
}

// wide is a stream whose events have so many bytes of text.
func wide(ttft, itl time.Duration, events, size int) func() func(*call) {
	event := delta(`"content":"` + strings.Repeat("word ", size/5) + `"`)
	return always(func(c *call) {
		due := c.read.Add(ttft)
		for range events {
			c.wait(time.Until(due))
			c.send(size/5, event)
			due = due.Add(itl)
		}
		c.end()
	})
}

// burst is a trace with all of its requests at one moment of every second.
func burst(n int) string {
	var b strings.Builder
	for i := range 3 * n {
		b.WriteString(`{"timestamp":` + itoa(1000*(i/n)) + `,"prompt":"Hello ` + itoa(i) + `"}` + "\n")
	}
	return b.String()
}
