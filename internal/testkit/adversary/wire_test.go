//go:build linux

package adversary

import (
	"fmt"
	"strings"
)

// wires are answers that are odd, and permitted, on the wire.
func wires() []situation {
	args := flags("--concurrency 8 --requests 240")
	// put writes bytes of a response that hold so many tokens.
	put := func(c *call, tokens int, text string) {
		c.began = true
		c.write([]byte(text))
		c.note(tokens, text)
	}
	const closing = "Content-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	return []situation{
		{name: "HTTP/1.0, to the end of the connection", lie: "what has no length has no end", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 4 {
				head := ""
				if i == 0 {
					head = "HTTP/1.0 200 OK\r\n" + closing
				}
				put(c, 1, head+word(i))
				c.wait(10 * ms)
			}
			put(c, 0, finish+usage("8", "4")+done)
			c.fate, c.closed = answered, true
		}), args: args, truth: []claim{served}},
		{name: "a cut that looks like the end", lie: "a stream to the end of the connection is whole", server: always(func(c *call) {
			c.wait(40 * ms)
			put(c, 2, "HTTP/1.1 200 OK\r\n"+closing+word(1)+word(2))
			c.fate, c.closed = cut, true
		}), args: args, truth: []claim{never("no answer was whole")}, quick: true},
		{name: "two lengths", lie: "Content-Length bounds what is chunked", server: always(func(c *call) {
			c.wait(40 * ms)
			put(c, 1, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 30\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk(word(1)))
			c.wait(10 * ms)
			put(c, 1, chunk(word(2)))
			c.end()
		}), args: args, truth: []claim{served}},
		{name: "trailers", lie: "a trailer is the next answer", server: always(func(c *call) {
			c.words(40*ms, 10*ms, 4)
			put(c, 0, chunk(finish)+chunk(usage("8", "4"))+chunk(done)+"0\r\nX-Sum: 1\r\nX-More: HTTP/1.1 200 OK\r\n\r\n")
			c.fate = answered
		}), args: args, truth: []claim{served}},
		{name: "lines that end in CR", lie: "what has no LF has no events", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 4 {
				c.send(1, "retry: 5000\r"+strings.ReplaceAll(word(i), "\n", "\r"))
				c.wait(10 * ms)
			}
			c.send(0, strings.ReplaceAll(finish+usage("8", "4")+done, "\n", "\r"))
			put(c, 0, "0\r\n\r\n")
			c.fate = answered
		}), args: args, truth: []claim{served}},
		{name: "two choices, one usage", lie: "the tokens of two answers are those of one", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 4 {
				c.send(2, delta(`"content":" a"`), strings.Replace(delta(`"content":" b"`), `"index":0`, `"index":1`, 1))
				c.wait(10 * ms)
			}
			c.end()
		}), args: flags("--concurrency 8 --requests 240 --extra n=2"), truth: []claim{served}},
		{name: "[DONE] twice, tokens behind it", lie: "what follows the end is part of the answer", server: always(func(c *call) {
			c.words(40*ms, 10*ms, 4)
			c.send(0, finish, usage("8", "4"), done, done, word(1), word(2))
			put(c, 0, "0\r\n\r\n")
			c.fate = answered
		}), args: args, truth: []claim{served}},
		{name: "usage of none behind every event", lie: "a running count of 0 is a count", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 5 {
				c.send(1, strings.Replace(word(i), `"choices"`, `"usage":{"prompt_tokens":8,"completion_tokens":0},"choices"`, 1))
				c.wait(10 * ms)
			}
			c.endWith(usage("8", "0"))
		}), args: args, truth: []claim{served}},
		{name: "an answer ahead of its request", lie: "an answer that was there before the question took no time", server: always(func(c *call) {
			c.stream(40*ms, 10*ms, 3)
			if c.seq() >= 0 {
				put(c, 0, streamHead+chunk(word(1))+chunk(finish)+chunk(usage("8", "1"))+chunk(done)+"0\r\n\r\n")
			}
		}), args: args, truth: []claim{served}, quick: true},
		{name: "tool calls alone", lie: "what is not text is not a token", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 5 {
				c.send(1, delta(fmt.Sprintf(`"tool_calls":[{"index":0,"function":{"arguments":"%d"}}]`, i)))
				c.wait(10 * ms)
			}
			c.end()
		}), args: args, truth: []claim{served}},
	}
}
