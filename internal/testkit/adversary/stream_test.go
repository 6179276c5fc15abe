//go:build linux

package adversary

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// counts are servers that miscount.
func counts() []situation {
	says := func(prompt, completion string, tokens int) func() func(*call) {
		return always(func(c *call) {
			c.words(30*ms, 5*ms, tokens)
			c.endWith(usage(prompt, completion))
		})
	}
	args := flags("--concurrency 8 --requests 240")
	return []situation{
		{name: "usage of 2^63-1", lie: "-15 tokens/s, VALID", server: says("8", "9223372036854775807", 5), args: args, truth: []claim{served}, quick: true},
		{name: "usage of 2^64", lie: "it does not fit", server: says("8", "18446744073709551616", 5), args: args, truth: []claim{served}},
		{name: "5000 tokens for five events", lie: "75,365 tokens/s, VALID", server: says("8", "5000", 5), args: args, truth: []claim{served}, quick: true},
		{name: "usage below zero", lie: "fewer than none", server: says("8", "-5", 5), args: args, truth: []claim{served}},
		{name: "usage of 1e300", lie: "a count is a float", server: says("8", "1e300", 5), args: args, truth: []claim{served}},
		{name: "usage of nothing", lie: "no tokens at all", server: says("8", "0", 5), args: args, truth: []claim{served}},
		{name: "usage far too small", lie: "one token in fifty events", server: says("8", "1", 50), args: flags("--concurrency 8 --requests 200"), truth: []claim{served}},
		{name: "a billion prompt tokens", lie: "the prompt was that long", server: says("1000000000", "5", 5), args: args,
			truth: []claim{about("input_sequence_length", "avg", 8, 10)}},
		{name: "a tenth of the length asked for", lie: "short answers are fast", server: steady(20*ms, 5*ms, 5), args: flags("--concurrency 8 --requests 200 --output-tokens 50"),
			truth: []claim{never("answers were a tenth of the length that was asked for")}},
	}
}

// streams are answers of an odd form.
func streams() []situation {
	return []situation{
		{name: "[DONE], and no end", lie: "a slot held for ten minutes is the server's", server: always(func(c *call) {
			c.words(30*ms, 5*ms, 4)
			c.send(0, finish, usage("8", "4"), done)
			c.fate = answered
			c.forever()
		}), args: flags("--concurrency 8 --requests 80 --timeout 2s"), truth: []claim{served}, quick: true},
		{name: "[DONE], and comments for good", lie: "what keeps a connection alive is part of the answer", server: always(func(c *call) {
			c.words(30*ms, 5*ms, 4)
			c.send(0, finish, usage("8", "4"), done)
			c.fate = answered
			end := c.last
			for !c.closed {
				c.wait(100 * ms)
				c.send(0, ": still here\n\n")
			}
			c.last = end
		}), args: flags("--concurrency 8 --requests 40 --timeout 60s"), truth: []claim{served}},
		{name: "held back and sent at once", lie: "a stream is what it calls itself", server: always(func(c *call) {
			c.wait(100 * ms)
			c.send(5, word(1), word(2), word(3), word(4), word(5))
			c.end()
		}), args: flags("--concurrency 8 --requests 200"), truth: []claim{served}},
		{name: "five tokens an event", lie: "an event is a token", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 4 {
				c.send(5, delta(`"content":" one two three four five"`))
				c.wait(20 * ms)
			}
			c.end()
		}), args: flags("--concurrency 8 --requests 200"), truth: []claim{served}},
		{name: "reasoning first", lie: "what is not visible is not there", server: always(func(c *call) {
			c.wait(40 * ms)
			for range 4 {
				c.send(1, delta(`"reasoning_content":" hm"`))
				c.wait(10 * ms)
			}
			c.stream(100*ms, 5*ms, 4)
		}), args: flags("--concurrency 8 --requests 200"), truth: []claim{served}},
		{name: "compressed without being asked", lie: "bytes are text", server: always(func(c *call) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(word(1) + word(2) + finish + usage("8", "2") + done))
			_ = z.Close()
			c.wait(40 * ms)
			c.began = true
			c.write([]byte(strings.Replace(streamHead, "\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n", 1) + chunk(b.String()) + "0\r\n\r\n"))
			c.note(2, word(1)+word(2))
			c.fate = answered
		}), args: flags("--concurrency 4 --requests 60"), truth: []claim{served}},
		{name: "less than Content-Length", lie: "what came is all that there was", server: always(func(c *call) {
			if c.n%4 != 3 {
				unstreamed(c)
				return
			}
			c.wait(30 * ms)
			c.began = true
			c.write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + whole))
			c.drop()
		}), args: flags("--concurrency 8 --requests 200 --no-stream"), truth: []claim{never("answers were cut short")}},
		{name: "a JSON answer to a stream", lie: "its one event is the first token", server: always(unstreamed), args: flags("--concurrency 8 --requests 200"), truth: []claim{served}},
	}
}

// bombs are answers without measure.
func bombs() []situation {
	endless := func(text string) func() func(*call) {
		return always(func(c *call) {
			c.head()
			big := []byte(chunk(strings.Repeat(text, 1+16384/len(text))))
			for !c.closed {
				c.write(big)
			}
			c.fate = cut
		})
	}
	list := []situation{
		{name: "a hundred thousand events", lie: "a stream that long is not whole", server: always(func(c *call) {
			c.wait(20 * ms)
			c.send(1, word(0))
			batch := strings.Repeat(word(1), 1000)
			for range 100 {
				c.send(1000, batch)
			}
			c.end()
		}), args: flags("--concurrency 1 --requests 3"), truth: []claim{served}},
		{name: "an event of sixteen megabytes", lie: "an event that long is a token", server: always(func(c *call) {
			c.wait(20 * ms)
			c.send(1, delta(`"content":"`+strings.Repeat("a", 16<<20)+`"`))
			c.end()
		}), args: flags("--concurrency 1 --requests 3"), truth: []claim{served}},
		{name: "tokens without end", lie: "it answers", server: endless(word(1)), args: flags("--concurrency 1 --requests 2 --timeout 2s"), truth: []claim{never("no answer ever ended")}},
		{name: "comments without end", lie: "it answers", server: endless(": wait\n\n"), args: flags("--concurrency 1 --requests 2 --timeout 2s"), truth: []claim{never("no answer ever came")}},
		{name: "a line without end", lie: "it answers", server: endless("aaaaaaaa"), args: flags("--concurrency 1 --requests 2 --timeout 2s"), truth: []claim{never("no answer ever came")}},
		{name: "a head without end", lie: "it answers", server: always(func(c *call) {
			c.began = true
			c.write([]byte("HTTP/1.1 200 OK\r\n"))
			line := []byte(strings.Repeat("X-More: "+strings.Repeat("a", 100)+"\r\n", 100))
			for !c.closed {
				c.write(line)
			}
			c.fate = cut
		}), args: flags("--concurrency 1 --requests 2 --timeout 2s"), truth: []claim{never("no answer ever came")}},
		{name: "prompts from /dev/zero", lie: "it is a file", server: steady(20*ms, 5*ms, 4),
			args: []string{"--input-file", "/dev/zero", "--requests", "2", "--concurrency", "1", "--quiet"}, truth: []claim{never("there were no prompts")}},
	}
	for i := range list {
		list[i].alone = true
		list[i].limit = "ulimit -v 6000000" // what takes more is killed by itself, and takes nothing else with it
	}
	return list
}

// prompt is the text of the last message of a call.
func (c *call) prompt() string {
	var body struct {
		Messages []struct{ Content any }
		Prompt   string
	}
	if err := json.Unmarshal(c.body, &body); err != nil || len(body.Messages) == 0 {
		return body.Prompt
	}
	return fmt.Sprint(body.Messages[len(body.Messages)-1].Content)
}

// promptTokens is about how many tokens all messages of a call have.
func (c *call) promptTokens() int {
	var body struct{ Messages []struct{ Content any } }
	_ = json.Unmarshal(c.body, &body)
	n := 0
	for _, m := range body.Messages {
		n += 4 + len(fmt.Sprint(m.Content))/4
	}
	return n
}

func contains(text []byte, parts ...string) bool {
	for _, p := range parts {
		if !bytes.Contains(text, []byte(p)) {
			return false
		}
	}
	return true
}

// set is a set of texts for several goroutines.
type set struct {
	mu   sync.Mutex
	have map[string]time.Time
}

func newSet() *set { return &set{have: map[string]time.Time{}} }

// add reports whether a text was there before.
func (s *set) add(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.have[text]
	s.have[text] = time.Now()
	return ok
}
