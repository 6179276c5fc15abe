//go:build linux

package adversary

import (
	"strconv"
	"strings"
	"time"
)

const ms = time.Millisecond

// always answers every call alike.
func always(answer func(*call)) func() func(*call) {
	return func() func(*call) { return answer }
}

// steady is a response that has nothing wrong with it.
func steady(ttft, itl time.Duration, tokens int) func() func(*call) {
	return always(func(c *call) { c.stream(ttft, itl, tokens) })
}

// flags of a run; the words are those of a command line.
func flags(line string) []string {
	return append(strings.Fields(line), "--quiet", "--input-tokens", "8")
}

// healthy are situations in which nothing is wrong, though some look odd. Tokens come at the
// pace of a model, so that a busy host has time to read them one by one.
func healthy() []situation {
	list := append(unusual(), []situation{
		{name: "closed loop", lie: "nothing", server: steady(40*ms, 20*ms, 5), args: flags("--concurrency 8 --requests 240"), quick: true},
		{name: "open loop", lie: "nothing", server: steady(60*ms, 20*ms, 4), args: flags("--rate 60 --requests 300"), quick: true},
		{name: "poisson arrivals", lie: "nothing", server: steady(60*ms, 20*ms, 4), args: flags("--rate 60 --arrival poisson --requests 300")},
		{name: "one at a time", lie: "nothing", server: steady(10*ms, 2*ms, 5), args: flags("--concurrency 1 --requests 150")},
		{name: "whole answers", lie: "nothing", server: always(unstreamed), args: flags("--concurrency 8 --requests 300 --no-stream")},
		{name: "four events back to back", lie: "the client read too late to tell them apart", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 3 {
				for k := range 4 {
					c.send(1, word(i+k))
				}
				c.wait(30 * ms)
			}
			c.end()
		}), args: flags("--concurrency 4 --requests 200"), quick: true},
		{name: "four events in one write", lie: "the client read too late to tell them apart", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 3 {
				c.send(4, word(1), word(2), word(3), word(4))
				c.wait(30 * ms)
			}
			c.end()
		}), args: flags("--concurrency 4 --requests 200")},
		{name: "an event in single bytes", lie: "the first byte is the first token", server: always(func(c *call) {
			c.wait(20 * ms)
			c.head()
			text := chunk(word(1))
			c.write([]byte(text[:20]))
			c.wait(60 * ms)
			c.write([]byte(text[20:]))
			c.note(1, text)
			c.end()
		}), args: flags("--concurrency 4 --requests 200"), quick: true},
		{name: "the head long before the token", lie: "the head is the first token", server: always(func(c *call) {
			c.head()
			c.stream(80*ms, 20*ms, 3)
		}), args: flags("--concurrency 8 --requests 250")},
		{name: "role, comments and empty deltas first", lie: "the first event is the first token", server: always(func(c *call) {
			c.send(0, delta(`"role":"assistant","content":""`))
			c.wait(20 * ms)
			c.send(0, ": keep-alive\n\n")
			c.wait(20 * ms)
			c.send(0, delta(`"content":""`))
			c.stream(80*ms, 20*ms, 3)
		}), args: flags("--concurrency 8 --requests 250"), quick: true},
		{name: "a connection for each answer", lie: "connecting is part of the latency", server: always(func(c *call) {
			c.began = true
			c.write([]byte(strings.Replace(streamHead, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)))
			c.stream(40*ms, 20*ms, 4)
			_ = c.conn.Close()
			c.closed = true
		}), args: flags("--concurrency 8 --requests 300")},
		{name: "usage in every event", lie: "tokens add up over events", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 4 {
				c.send(1, strings.Replace(word(i), `,"choices"`, `,"usage":{"prompt_tokens":8,"completion_tokens":`+strconv.Itoa(i+1)+`},"choices"`, 1))
				c.wait(20 * ms)
			}
			c.end()
		}), args: flags("--concurrency 8 --requests 250")},
		{name: "one answer in four is slow", lie: "the mean of a replica is that of all", server: always(func(c *call) {
			ttft := 30 * ms
			if c.n%4 == 3 {
				ttft = 120 * ms
			}
			c.stream(ttft, 20*ms, 4)
		}), args: flags("--concurrency 8 --requests 300"), quick: true},
	}...)
	for i := range list {
		list[i].healthy = true
	}
	return list
}

// unusual are sound servers that something was once held against.
func unusual() []situation {
	return []situation{
		{name: "the length asked for, ignore_eos set", lie: "set ignore_eos", server: steady(40*ms, 20*ms, 5), args: flags("--concurrency 8 --requests 240 --output-tokens 5 --ignore-eos")},
		{name: "each connection closed without a word", lie: "what is sent again was lost", server: always(func(c *call) {
			c.stream(40*ms, 20*ms, 4)
			_ = c.conn.Close()
			c.closed = true
		}), args: flags("--concurrency 8 --requests 300")},
		{name: "a very fast server", lie: "what takes no time was not measured", server: steady(ms, ms, 3), args: flags("--concurrency 2 --requests 600")},
		{name: "a very slow server", lie: "what takes long hangs", server: steady(900*ms, 100*ms, 5), args: flags("--concurrency 16 --requests 64")},
		{name: "bursts of six events a write", lie: "the client read too late to tell them apart", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 4 {
				c.send(6, word(1), word(2), word(3), word(4), word(5), word(6))
				c.wait(40 * ms)
			}
			c.end()
		}), args: flags("--rate 40 --requests 200")},
		{name: "HTTP/2", lie: "nothing", server: steady(40*ms, 20*ms, 5), over: []wire{overH2}, args: flags("--http2 --concurrency 8 --requests 240")},
		{name: "TLS", lie: "nothing", server: steady(40*ms, 20*ms, 5), over: []wire{overTLS}, args: flags("--insecure --concurrency 8 --requests 240")},
		{name: "HTTP/2 over TLS", lie: "nothing", server: steady(40*ms, 20*ms, 5), over: []wire{overH2, overTLS}, args: flags("--http2 --insecure --concurrency 8 --requests 240")},
	}
}

// unstreamed is a response in one piece.
func unstreamed(c *call) {
	c.wait(50 * ms)
	c.status(200, whole)
	c.fate, c.tokens = answered, 4
}

// whole is a response of four tokens.
const whole = `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a b c d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":4,"total_tokens":12}}`
