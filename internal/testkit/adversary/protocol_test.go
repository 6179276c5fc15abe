//go:build linux

package adversary

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// protocols are lies that are told over other protocols than OpenAI's chat.
func protocols() []situation {
	messages := append([]string{"--protocol", "anthropic"}, flags("--concurrency 8 --requests 240")...)
	vectors := append([]string{"--endpoint", "embeddings"}, flags("--concurrency 8 --requests 400")...)
	blink := flicker(450*ms, 80*ms)
	embedding := func(body string) func() func(*call) {
		return always(func(c *call) {
			c.wait(30 * ms)
			c.status(200, body)
			c.fate = answered
		})
	}
	const list = `{"object":"list","model":"m","usage":{"prompt_tokens":8,"total_tokens":8},"data":[`
	return []situation{
		{name: "Anthropic", lie: "nothing", server: always(func(c *call) { c.messages(40*ms, 20*ms, 5) }), args: messages, healthy: true},
		{name: "Anthropic, paused", lie: "a pause of the client is the server's", server: always(func(c *call) { c.messages(40*ms, 20*ms, 5) }), args: messages, during: blink, host: true},
		{name: "Anthropic, pings ahead of the first token", lie: "a ping is a token", server: always(func(c *call) {
			for range 4 {
				c.wait(30 * ms)
				c.send(0, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
			}
			c.read = time.Now()
			c.messages(40*ms, 20*ms, 5)
		}), args: messages},
		{name: "Anthropic, thinking first", lie: "what is not visible is not there", server: always(func(c *call) {
			c.wait(40 * ms)
			c.send(0, opened("8"))
			for range 3 {
				c.send(1, `event: content_block_delta`+"\n"+`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":" hm"}}`+"\n\n")
				c.wait(15 * ms)
			}
			c.read = time.Now()
			c.blocks(50*ms, 15*ms, 5)
		}), args: messages},
		{name: "Anthropic, a third ends with an error", lie: "a stream that began is an answer", server: always(func(c *call) {
			if c.n%3 != 2 {
				c.messages(40*ms, 10*ms, 8)
				return
			}
			c.wait(40 * ms)
			c.send(0, opened("8"))
			c.send(1, textDelta)
			c.closing("event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n")
			c.fate = refused
		}), args: messages, truth: []claim{never("a third of the answers were none")}, quick: true},
		{name: "Anthropic, usage of the first event alone", lie: "one token of the beginning is the count", server: always(func(c *call) {
			c.wait(40 * ms)
			c.send(0, opened("8"))
			for range 6 {
				c.send(1, textDelta)
				c.wait(15 * ms)
			}
			c.closing(`event: message_delta`+"\n"+`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}`+"\n\n", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
			c.fate = answered
		}), args: messages},
		{name: "embeddings", lie: "nothing", server: embedding(list + `{"object":"embedding","index":0,"embedding":[0.1,0.2,0.3]}]}`), args: vectors, healthy: true},
		{name: "embeddings, paused", lie: "a pause of the client is the server's", server: embedding(list + `{"object":"embedding","index":0,"embedding":[0.1,0.2,0.3]}]}`), args: vectors, during: blink, host: true},
		{name: "embeddings without numbers", lie: "an empty vector is one", server: embedding(list + `{"object":"embedding","index":0,"embedding":[]}]}`), args: vectors, truth: []claim{never("no vector has a number")}, quick: true},
		{name: "embeddings without vectors", lie: "an empty list is an answer", server: embedding(list + `]}`), args: vectors, truth: []claim{never("there is no vector")}},
		{name: "embeddings of 4 MB, paused", lie: "what is long came when it was read", server: embedding(list + `{"object":"embedding","index":0,"embedding":[0.1` + strings.Repeat(",0.1234567", 400_000) + `]}]}`),
			args: append([]string{"--endpoint", "embeddings"}, flags("--concurrency 2 --duration 5s")...), during: flicker(60*ms, 60*ms), host: true},
		triton("gRPC", "nothing", 0, "--ttft", "40ms", "--itl", "20ms"),
		triton("gRPC, paused", "a pause of the client is the server's", 80*ms, "--ttft", "40ms", "--itl", "20ms"),
		triton("gRPC, four responses a write", "what shares a read was late", 0, "--ttft", "40ms", "--itl", "10ms", "--coalesce", "4"),
		triton("gRPC, four responses a write, paused", "what shares a read was sent together", 80*ms, "--ttft", "40ms", "--itl", "10ms", "--coalesce", "4"),
		triton("gRPC, three tokens a response", "a response is a token", 0, "--ttft", "40ms", "--itl", "10ms", "--tokens-per-event", "3"),
		triton("gRPC, two tokens, paused", "TTFT of the second token", 100*ms, "--ttft", "40ms", "--itl", "50ms", "--output-tokens", "2"),
	}
}

const textDelta = `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" the"},"content":""}` + "\n\n"

// opened are the events that a stream of messages begins with.
func opened(prompt string) string {
	return `event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":` + prompt + `,"output_tokens":1}}}` + "\n\n" +
		`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"
}

// messages is a whole response of Anthropic's API.
func (c *call) messages(ttft, itl time.Duration, tokens int) {
	c.send(0, opened("8"))
	c.blocks(ttft, itl, tokens)
}

// blocks is the response behind its opening.
func (c *call) blocks(ttft, itl time.Duration, tokens int) {
	due := c.read.Add(ttft)
	for range tokens {
		c.wait(time.Until(due))
		c.send(1, textDelta)
		due = due.Add(itl)
	}
	c.closing("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
		fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":%d}}\n\n", c.tokens),
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	if !c.closed {
		c.fate = answered
	}
}

// triton is a run over the gRPC streams of the program's own mock, which writes down what it
// sent. Its client is stopped for a time, again and again; 0: it is not, and nothing is wrong.
func triton(name, lie string, pause time.Duration, args ...string) situation {
	s := situation{name: name, lie: lie, server: steady(0, 0, 1), healthy: pause == 0, host: true}
	s.before = func(p *play) {
		p.truthFile = filepath.Join(p.tmp, "truth.jsonl")
		p.slack = 1 // the mock looks at the clock itself
		mocked(append([]string{"--truth", p.truthFile}, args...)...)(p)
	}
	s.run = func(p *play) []string {
		return append([]string{"run", "grpc://" + p.mocks[1], "--model", "vllm_model", "--out", p.dir}, flags("--concurrency 8 --duration 5s --output-tokens 12")...)
	}
	if pause > 0 {
		s.during = func(p *play) {
			p.pass(500 * ms)
			for p.pass(500 * ms) {
				p.stop(pause)
			}
		}
	}
	return s
}

// readTruth reads what the program's own mock wrote down. It looks at the clock right before
// it writes, and when it has read the head of a request.
func readTruth(name string) []*call {
	file, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	var all []*call
	for d := json.NewDecoder(file); ; {
		var line struct {
			ID     string
			Read   int64
			Finish string
			Events []struct {
				At     int64
				Kind   string
				Tokens int
			}
		}
		if d.Decode(&line) != nil {
			return all
		}
		c := &call{id: line.ID, arrived: time.Unix(0, line.Read), fate: answered}
		for _, e := range line.Events {
			at := time.Unix(0, e.At)
			m := moment{before: at, after: at, tokens: e.Tokens, events: 1}
			if c.start.before.IsZero() {
				c.start, c.opened = m, m
			}
			if c.last = m; e.Tokens > 0 {
				c.writes, c.tokens = append(c.writes, m), c.tokens+e.Tokens
			}
		}
		if line.Finish == "abort" || len(line.Events) == 0 {
			c.fate = cut
		}
		all = append(all, c)
	}
}
