//go:build linux

package adversary

import (
	"strings"
	"time"
)

// loads are those that the client does not hold, or that go another way.
func loads() []situation {
	return []situation{
		{name: "a client that was paused", lie: "27 requests/s for a true 40", server: steady(200*ms, 0, 1), args: flags("--concurrency 8 --duration 12s"),
			during: paused(3*time.Second, 2*time.Second, 2), truth: []claim{about("request_throughput", "avg", 40, 0.1)}},
		{name: "a client that was paused briefly", lie: "a pause of the client is the server's", server: steady(100*ms, 0, 1), args: flags("--concurrency 4 --duration 3s"),
			during: paused(time.Second, time.Second, 1), truth: []claim{about("request_throughput", "avg", 40, 0.1)}, quick: true},
		{name: "a client that was paused, open loop", lie: "what was sent late was sent in time", server: steady(100*ms, 0, 1), args: flags("--rate 40 --duration 4s"),
			during: paused(time.Second, time.Second, 1), truth: []claim{never("a quarter of the requests went out late by up to a second")}, host: true, quick: true},
		{name: "a client that is starved", lie: "its own delays are the server's", server: steady(50*ms, 10*ms, 5), args: flags("--concurrency 4 --duration 5s"),
			during: flicker(30*ms, 30*ms), truth: []claim{about("request_throughput", "avg", 4/0.09, 0.1)}, host: true},
		{name: "too few in flight for the rate", lie: "40/s asked, 20/s sent, VALID", server: steady(400*ms, 0, 1), args: flags("--rate 40 --requests 200 --max-in-flight 8"),
			truth: []claim{about("request_throughput", "avg", 40, 0.1)}},
		{name: "too few in flight, briefly", lie: "40/s asked, 20/s sent, VALID", server: steady(200*ms, 0, 1), args: flags("--rate 40 --requests 60 --max-in-flight 4"),
			truth: []claim{about("request_throughput", "avg", 40, 0.15)}, quick: true},
		{name: "too few in flight, ended by time", lie: "what was not sent is not counted", server: steady(200*ms, 0, 1), args: flags("--rate 40 --duration 3s --max-in-flight 4"),
			truth: []claim{about("request_throughput", "avg", 40, 0.15)}},
		{name: "too few file descriptors", lie: "the client's own failures are the server's", server: steady(time.Second, 0, 1), args: flags("--rate 150 --requests 450"), limit: "ulimit -n 64",
			truth: []claim{never("the client ran out of file descriptors")}},
		{name: "too few file descriptors, briefly", lie: "the client's own failures are the server's", server: steady(time.Second, 0, 1), args: flags("--rate 120 --requests 150"), limit: "ulimit -n 64",
			truth: []claim{never("the client ran out of file descriptors")}, quick: true},
		{name: "through a slow proxy", lie: "366 ms for a true 20", server: steady(320*ms, 5*ms, 4),
			run: func(p *play) []string {
				return append([]string{"run", "http://inference.invalid", "--out", p.dir}, p.args...)
			},
			args: flags("--concurrency 16 --requests 160"), before: func(p *play) { p.env = append(p.env, "http_proxy="+p.server.url) },
			truth: []claim{unless(says("proxy"), about("time_to_first_token", "avg", 20, 0.1))}, quick: true},
		{name: "a proxy for a server on this host", lie: "a detour is the server's time", server: steady(20*ms, 5*ms, 4), args: flags("--concurrency 8 --requests 240"),
			before: func(p *play) { p.env = append(p.env, "http_proxy=http://127.0.0.1:9", "no_proxy=") }, truth: []claim{served}},
		{name: "a second run, on a cache", lie: "TTFT 102 ms, then 31", server: cache(), args: flags("--concurrency 4 --requests 120"), before: once,
			truth: []claim{unless(says("prefix_cache_hits"), about("time_to_first_token", "avg", 100, 0.1))}, quick: true},
		{name: "a second run, salted", lie: "the salt is the same again", server: cache(), args: flags("--concurrency 4 --requests 120 --salt request"), before: once,
			truth: []claim{about("time_to_first_token", "avg", 100, 0.1)}},
		{name: "few prompts, again and again", lie: "a cache is fast", server: cache(), args: flags("--concurrency 4 --requests 160 --prompts 4"),
			truth: []claim{unless(says("prefix cache"), about("time_to_first_token", "avg", 100, 0.1))}},
	}
}

// cache is a server that knows a prompt by its first half: 30 ms, where others take 100.
func cache() func() func(*call) {
	return func() func(*call) {
		known := newSet()
		return func(c *call) {
			ttft := 100 * ms
			if text := c.prompt(); known.add(text[:len(text)/2]) {
				ttft = 30 * ms
			}
			c.stream(ttft, ms, 2)
		}
	}
}

// once runs the program as the situation will, ahead of it.
func once(p *play) {
	p.start(nil, append([]string{"run", p.server.url, "--out", p.dir + "-first"}, p.args...)...)
}

// inputs are data that are not what they are taken for.
func inputs() []situation {
	quick := steady(20*ms, 5*ms, 4)
	received := func(what string, good func(*call) bool) claim {
		return func(p *play) []finding {
			for _, c := range p.calls {
				if c.seq() >= 0 && !good(c) {
					return []finding{{text: "VALID, and the server got " + what, wrong: true}}
				}
			}
			return nil
		}
	}
	few := strings.Fields("--requests 240 --concurrency 8 --quiet")
	return []situation{
		{name: "a CSV file as prompts", lie: "its lines are prompts", server: quick, before: file("prompts.csv", "prompt,output_tokens\n\"Hello, you\",4\n\"Good day\",4\n"),
			args: append([]string{"--input-file", "prompts.csv"}, few...), truth: []claim{received("a line of CSV as its prompt", func(c *call) bool { return !contains(c.body, ",4") && !contains(c.body, "prompt,") })}},
		{name: "two models", lie: "the last one is both", server: quick, args: append([]string{"--model", "a", "--model", "b"}, few...), truth: []claim{func(p *play) []finding {
			for _, c := range p.calls {
				if contains(c.body, `"model":"a"`) {
					return nil
				}
			}
			return []finding{{text: "VALID, and model a was never asked", wrong: true}}
		}}},
		{name: "tools of a row", lie: "what is not understood is not there", server: quick, before: file("rows.jsonl", `{"messages":[{"role":"user","content":"Weather?"}],"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}],"output_tokens":4}`+"\n"),
			args: append([]string{"--input-file", "rows.jsonl"}, few...), truth: []claim{received("no tools", func(c *call) bool { return contains(c.body, "weather") })}},
	}
}
