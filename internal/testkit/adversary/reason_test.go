//go:build linux

package adversary

import "strings"

// reasons are answers that end early, or are none, and say so in words of their own.
func reasons() []situation {
	args := flags("--concurrency 8 --requests 240")
	failed := []claim{never("a third of the answers were none")}
	third := func(bad func(*call)) func() func(*call) {
		return always(func(c *call) {
			if c.n%3 == 2 {
				bad(c)
				return
			}
			c.stream(40*ms, 10*ms, 8)
		})
	}
	// ends is a response that stops after its second token with a reason.
	ends := func(reason string) func(*call) {
		return func(c *call) {
			c.words(40*ms, 10*ms, 2)
			c.closing(strings.Replace(finish, `"finish_reason":"stop"`, `"finish_reason":`+reason, 1), usage("8", "2"), done)
			c.fate = refused
		}
	}
	behind := func(event string) func(*call) {
		return func(c *call) {
			c.words(40*ms, 10*ms, 2)
			c.closing(event, done)
			c.fate = refused
		}
	}
	inOne := func(reason string) func(*call) {
		return func(c *call) {
			c.wait(50 * ms)
			text := whole
			if c.n%3 == 2 {
				text = strings.Replace(whole, `"finish_reason":"stop"`, `"finish_reason":"`+reason+`"`, 1)
			}
			c.status(200, text)
			if c.n%3 != 2 {
				c.fate, c.tokens = answered, 4
			}
		}
	}
	return []situation{
		{name: "a third ends with abort", lie: "requests/s +50 %", server: third(ends(`"abort"`)), args: args, truth: failed, quick: true},
		{name: "a third ends with error", lie: "requests/s +50 %", server: third(ends(`"error"`)), args: args, truth: failed},
		{name: "a third ends with cancelled", lie: "an answer that was cancelled is one", server: third(ends(`"cancelled"`)), args: args, truth: failed},
		{name: "a third ends with an abort as an object", lie: "SGLang's reason is no text", server: third(ends(`{"type":"abort","message":"Abort in waiting queue"}`)), args: args, truth: failed},
		{name: "a third ends with abort, HTTP/2", lie: "requests/s +50 %", server: third(ends(`"abort"`)), over: []wire{overH2}, args: append([]string{"--http2"}, args...), truth: failed},
		{name: "a third of whole answers ends with abort", lie: "an answer in one piece is whole", server: always(inOne("abort")), args: append([]string{"--no-stream"}, args...), truth: failed},
		{name: "completions: a third ends with abort", lie: "requests/s +50 %", server: always(func(c *call) {
			c.wait(40 * ms)
			c.send(1, completion(" a", "null"))
			c.wait(20 * ms)
			if c.n%3 == 2 {
				c.closing(completion("", `"abort"`), usage("8", "1"), done)
				c.fate = refused
				return
			}
			c.send(1, completion(" a", "null"))
			c.closing(completion("", `"stop"`), usage("8", "2"), done)
			c.fate = answered
		}), args: append([]string{"--endpoint", "completions"}, args...), truth: failed},
		{name: "a detail in the stream, then [DONE]", lie: "what has no error is none", server: third(behind(`data: {"detail":"Internal Server Error"}` + "\n\n")), args: args, truth: failed},
		{name: "an error as text, then [DONE]", lie: "what is no JSON is nothing", server: third(behind("event: error\ndata: CUDA out of memory\n\n")), args: args, truth: failed},
		{name: "a detail with status 200", lie: "200 is success", server: third(func(c *call) { c.status(200, `{"detail":"Internal Server Error"}`) }), args: args, truth: failed},
		{name: "a third refuses with content_filter at once", lie: "the fastest answer is none", server: third(func(c *call) {
			c.wait(5 * ms)
			c.closing(strings.Replace(finish, `"stop"`, `"content_filter"`, 1), usage("8", "0"), done)
			c.fate = refused
		}), args: args, truth: failed},
	}
}

// thoughts are tokens that are not of the response's text, and tokens all the same.
func thoughts() []situation {
	args := flags("--concurrency 8 --requests 240")
	return []situation{
		{name: "reasoning as a list of parts", lie: "TTFT +75 %: thinking is no token", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 3 {
				c.send(1, delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":" hm"}]}]`))
				c.wait(10 * ms)
			}
			c.shown = moment{}
			for range 4 {
				c.send(1, delta(`"content":[{"type":"text","text":" the"}]`))
				c.wait(10 * ms)
			}
			c.end()
		}), args: args, truth: []claim{served}, quick: true},
		{name: "reasoning in fields of other names", lie: "what has another name is not there", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 4 {
				c.send(1, delta(`"reasoning":" hm"`))
				c.wait(10 * ms)
			}
			c.stream(100*ms, 10*ms, 4)
		}), args: args, truth: []claim{served}},
	}
}

// completion is an event of a completions stream.
func completion(text, reason string) string {
	return `data: {"id":"x","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"` + text + `","finish_reason":` + reason + "}]}\n\n"
}
