//go:build linux

package adversary

import (
	"strings"
)

// usages are servers whose counts of tokens cannot be, or are not those of the response. The
// text is of words that are one token each, to nearly every tokenizer.
func usages() []situation {
	args := flags("--concurrency 8 --requests 240")
	// words of one token; the text of n of them in one event.
	text := func(n int) string {
		return delta(`"content":"` + strings.Repeat(" the", n) + `"`)
	}
	// answers with so many events of n tokens each, and then with what end does.
	answers := func(events, n int, end func(*call)) func() func(*call) {
		return always(func(c *call) {
			c.wait(40 * ms)
			for range events {
				c.send(n, text(n))
				c.wait(15 * ms)
			}
			end(c)
		})
	}
	says := func(factor float64) func(*call) {
		return func(c *call) { c.endWith(usage("8", itoa(int(float64(c.tokens)*factor)))) }
	}
	named := append([]string{"--tokenizer", "builtin:gpt2"}, args...)
	return []situation{
		{name: "usage of 200 for five short events", lie: "tokens/s ×40", server: answers(5, 1, says(40)), args: args, quick: true},
		{name: "usage three times too high", lie: "tokens/s ×3", server: answers(10, 1, says(3)), args: args},
		{name: "usage three times too high, tokenizer named", lie: "tokens/s ×3", server: answers(10, 1, says(3)), args: named},
		{name: "usage of six tenths", lie: "tokens/s −40 %", server: answers(20, 1, says(0.6)), args: args},
		{name: "usage of six tenths, tokenizer named", lie: "tokens/s −40 %", server: answers(20, 1, says(0.6)), args: named},
		{name: "usage from the middle of the answer", lie: "tokens/s −42 %", server: always(countedEarly), args: args},
		{name: "100,000 prompt tokens claimed for 8", lie: "4.3 M tokens/s", server: answers(5, 1, func(c *call) { c.endWith(usage("100000", itoa(c.tokens))) }), args: args,
			truth: []claim{about("input_sequence_length", "avg", 8, 4)}},
		{name: "prompt tokens of the whole conversation so far", lie: "the server adds up what it was ever asked", server: always(func(c *call) {
			c.words(40*ms, 15*ms, 4)
			c.endWith(usage(itoa(8*(c.n+1)), "4"))
		}), args: args, truth: []claim{about("input_sequence_length", "avg", 8, 4)}},
		{name: "no usage, four tokens an event", lie: "ITL ×4.75", server: answers(6, 4, func(c *call) { c.endWith() }), args: args},
		{name: "no usage, four tokens an event, tokenizer named", lie: "ITL ×4", server: answers(6, 4, func(c *call) { c.endWith() }), args: named},
		{name: "no usage, eight tokens in the last event", lie: "the last event is like the others", server: always(func(c *call) {
			c.wait(40 * ms)
			for i := range 6 {
				n := 1
				if i == 5 {
					n = 8
				}
				c.send(n, text(n))
				c.wait(10 * ms)
			}
			c.endWith()
		}), args: args},
		{name: "usage of the answer before", lie: "a count that belongs to somebody else", server: always(func(c *call) {
			n := 4 + 16*(c.n%2)
			c.wait(40 * ms)
			for range n {
				c.send(1, text(1))
				c.wait(5 * ms)
			}
			c.endWith(usage("8", itoa(24-n)))
		}), args: args, truth: []claim{never("half of the counts are five times too high, the others five times too low")}},
		{name: "usage counts the prompt too", lie: "completion tokens are all tokens", server: answers(5, 1, func(c *call) { c.endWith(usage("8", itoa(c.tokens+8))) }), args: named},
		{name: "usage counts characters", lie: "a character is a token", server: answers(10, 1, func(c *call) { c.endWith(usage("8", itoa(4*c.tokens))) }), args: named},
		{name: "usage as text", lie: `"5" is not a number`, server: answers(5, 1, func(c *call) { c.endWith(usage(`"8"`, `"5"`)) }), args: args},
		{name: "usage of none for every fourth answer", lie: "a count of 0 is a count", server: always(func(c *call) {
			c.words(40*ms, 15*ms, 5)
			n := 5
			if c.n%4 == 3 {
				n = 0
			}
			c.endWith(usage("8", itoa(n)))
		}), args: args},
		{name: "hidden tokens without details", lie: "500 tokens of which five were seen", server: answers(5, 1, func(c *call) {
			c.endWith(usage("8", "500"))
		}), args: args},
	}
}

// countedEarly is a response whose only count stands in the middle of it.
func countedEarly(c *call) {
	c.wait(40 * ms)
	for i := range 12 {
		e := delta(`"content":" the"`)
		if i == 6 {
			e = strings.Replace(e, `,"choices"`, `,"usage":{"prompt_tokens":8,"completion_tokens":7},"choices"`, 1)
		}
		c.send(1, e)
		c.wait(10 * ms)
	}
	c.endWith()
}
