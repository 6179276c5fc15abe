package mock

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

func (c *call) generate() {
	finish := c.finish
	c.finish = "abort"
	stream := c.p.Stream && c.api.Generates()
	if stream {
		c.begin(head{status: http.StatusOK, ctype: "text/event-stream; charset=utf-8", length: -1})
		if c.s.cfg.Output.EarlyHeaders && !c.flush(false) {
			return
		}
	}
	if !c.admit() {
		c.s.metrics.ended(c, c.s.clock.Now())
		return
	}
	switch {
	case !c.api.Generates():
		c.answerAtOnce()
	case stream:
		c.stream(finish)
	default:
		c.unstreamed(finish)
	}
	// The batch is left once the last token is out, whoever reads it or not.
	c.s.model.Leave(&c.seq)
	c.s.metrics.ended(c, c.s.clock.Now())
}

// prefilled counts the prompt once its first token is there.
func (c *call) prefilled() { c.s.metrics.prompt.Add(uint64(c.seq.Prompt)) }

func (c *call) callsTool() bool {
	return c.s.cfg.Output.ToolCalls && c.api.Speaks() && len(c.p.Tool) > 0 && !c.p.NoTool
}

// reasoning is how many tokens of each choice are not visible. At least one is.
func (c *call) reasoning() int {
	if !c.api.Speaks() || c.callsTool() {
		return 0
	}
	return min(c.s.cfg.Output.ReasoningTokens, c.tokens-1)
}

// stream sends the events of a streamed response when they are due.
func (c *call) stream(finish string) {
	o := &c.s.cfg.Output
	if !c.wait(c.due, true) {
		return
	}
	c.prefilled()
	tail := tail{usage: c.p.Usage || o.Usage, done: o.Done, finish: o.FinishEvent}
	switch c.api {
	case body.Messages, body.Responses: // their streams always have all of it
		tail.finish = true
	case body.TGI: // the last token has all of it
		tail.finish, tail.usage, tail.done = false, false, false
	case body.SGLang: // and so it has there
		tail.finish, tail.usage = false, false
	case body.Transcriptions:
		tail.finish = tail.finish && c.p.Form.VLLM || !c.p.Form.VLLM
		tail.usage, tail.done = c.p.Usage, tail.done && c.p.Form.VLLM
	}
	if c.callsTool() {
		finish = "tool_calls"
	}
	c.makePrefix()
	c.plain = c.api == body.Chat && !c.callsTool() && !(c.p.Continuous && c.p.Usage) && c.shape == nil && !c.p.Logprobs
	if !c.opening() {
		return
	}
	reasoning, cutAt := c.reasoning(), c.tokens/2
	for at := 0; at < c.tokens; {
		n := min(o.TokensPerEvent, c.tokens-at)
		if at < reasoning {
			n = min(n, reasoning-at)
		}
		if at > 0 && !c.advance(n) {
			return
		}
		if c.fault != "" && at+n > cutAt && !c.broken(&cutAt) {
			return
		}
		why := ""
		if at+n == c.tokens && !tail.finish {
			why = finish
		}
		for choice := range c.choices {
			last := why != "" && choice == c.choices-1 && tail.empty()
			if !c.piece(choice, at, n, at < reasoning, why, last) {
				return
			}
		}
		at += n
	}
	if c.end(tail, finish) {
		c.finish = finish
	}
}

// advance waits until the next n tokens are there.
func (c *call) advance(n int) bool {
	for range n {
		c.due = c.s.model.Next(c.due, &c.seq)
	}
	return c.wait(c.due, true)
}

// tail is what a stream has after its last token.
type tail struct{ finish, usage, done bool }

func (t tail) empty() bool { return !t.finish && !t.usage && !t.done }

func (c *call) end(t tail, finish string) bool {
	switch c.api {
	case body.Messages:
		return c.endMessage(finish)
	case body.Responses:
		return c.endResponse(finish)
	case body.Transcriptions:
		if !c.p.Form.VLLM {
			return c.endTranscript()
		}
	}
	if t.finish {
		for choice := range c.choices {
			last := choice == c.choices-1 && !t.usage && !t.done
			if !c.piece(choice, c.tokens, 0, false, finish, last) {
				return false
			}
		}
	}
	if t.usage {
		c.usageEvent()
		if !c.event(truthfile.KindUsage, 0, !t.done) {
			return false
		}
	}
	if t.done {
		c.str("data: [DONE]\n\n")
		return c.event(truthfile.KindDone, 0, true)
	}
	return true
}

// makePrefix builds what all events of the response begin with.
func (c *call) makePrefix() {
	if c.chunkName() == "" {
		return
	}
	b := append(c.prefix[:0], `data: `...)
	b = c.appendHead(b, c.chunkName())
	c.prefix = append(b, `"choices":[`...)
	b = append(c.content[:0], c.prefix...)
	c.content = append(b, `{"index":0,"delta":{"content":"`...)
}

// chunkName is what the chunks of a stream call themselves; empty: it has none.
func (c *call) chunkName() string {
	switch {
	case c.api == body.Chat:
		return "chat.completion.chunk"
	case c.api == body.Completions:
		return "text_completion"
	case c.api == body.Transcriptions && c.p.Form.VLLM:
		return "transcription.chunk"
	}
	return ""
}

// appendHead writes the fields that every object of a response begins with.
func (c *call) appendHead(b []byte, object string) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, c.id...)
	b = append(b, `","object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, c.req.read.Unix(), 10)
	b = append(b, `,"model":"`...)
	b = append(b, c.p.Model...)
	return append(b, `",`...)
}

// opening sends the events ahead of the first token.
func (c *call) opening() bool {
	switch c.api {
	case body.Messages:
		return c.openMessage()
	case body.Responses:
		return c.openResponse()
	case body.Chat:
	default:
		return true
	}
	if c.s.cfg.Output.Role {
		for choice := range c.choices {
			c.openChoice(choice)
			c.str(`,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`)
			c.closeEvent(0)
			if !c.event(truthfile.KindRole, 0, false) {
				return false
			}
		}
	}
	if !c.callsTool() {
		return true
	}
	for choice := range c.choices {
		c.openChoice(choice)
		c.str(`,"delta":{"tool_calls":[{"id":"`)
		c.toolID(choice)
		c.put(`","type":"function","index":0,"function":{"name":"`, c.p.Tool, `","arguments":""}}]},"logprobs":null,"finish_reason":null}]`)
		c.closeEvent(0)
		if !c.event(truthfile.KindTool, 0, false) {
			return false
		}
	}
	return true
}

func (c *call) toolID(choice int) {
	c.put("call_", c.id, choice)
}

func (c *call) openChoice(choice int) {
	c.put(c.prefix, `{"index":`, choice)
}

// closeEvent ends an event of so many tokens, with the usage so far where that is asked for.
func (c *call) closeEvent(tokens int) {
	if c.p.Continuous && c.p.Usage {
		output := c.sent + tokens
		for _, e := range c.events[c.written:] {
			output += e.Tokens
		}
		c.str(`,`)
		c.usage(output, 0)
	}
	c.str("}\n\n")
}

// piece sends one event of one choice: n tokens from the at-th on.
func (c *call) piece(choice, at, n int, reasoning bool, finish string, last bool) bool {
	switch c.api {
	case body.Messages:
		return c.delta(at, n, reasoning)
	case body.TGI:
		return c.tgiToken(at, n, finish, last)
	case body.Responses:
		return c.responseDelta(at, n, reasoning)
	case body.SGLang:
		return c.sglangPiece(at, n, finish, last)
	case body.Transcriptions:
		if !c.p.Form.VLLM {
			return c.transcriptDelta(at, n)
		}
	}
	if c.plain && choice == 0 && !reasoning && finish == "" {
		// What nearly all events are, in three steps.
		c.buf = append(c.buf, c.content...)
		c.words(0, at, n)
		c.str("\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n")
		return c.event(truthfile.KindContent, n, last)
	}
	k := truthfile.KindContent
	c.openChoice(choice)
	switch {
	case c.api == body.Completions:
		c.str(`,"text":"`)
		c.visible(choice, at, n)
		c.str(`"`)
	case n == 0:
		c.str(`,"delta":{}`)
	case c.callsTool():
		k = truthfile.KindTool
		c.str(`,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`)
		c.arguments(choice, at, n)
		c.str(`"}}]}`)
	case reasoning:
		k = truthfile.KindReasoning
		c.put(`,"delta":{"`, c.s.cfg.Output.ReasoningField, `":"`)
		c.words(choice, at, n)
		c.str(`"}`)
	default:
		c.str(`,"delta":{"content":"`)
		c.visible(choice, at, n)
		c.str(`"}`)
	}
	if k != truthfile.KindContent {
		c.str(`,"logprobs":null`)
	} else {
		c.logprobs(choice, at, n)
	}
	c.str(`,"finish_reason":`)
	if finish == "" {
		c.str(`null}]`)
	} else {
		c.put(`"`, finish, `","stop_reason":null}]`)
	}
	if n == 0 {
		k = truthfile.KindFinish
	}
	c.closeEvent(n)
	return c.event(k, n, last)
}

func (c *call) usageEvent() {
	c.str(`data: `)
	c.buf = c.appendHead(c.buf, c.chunkName())
	c.str(`"choices":[],`)
	c.usage(c.tokens*c.choices, c.reasoning()*c.choices)
	c.str("}\n\n")
}

func (c *call) usage(output, reasoning int) {
	c.put(`"usage":{"prompt_tokens":`, c.seq.Prompt, `,"total_tokens":`, c.seq.Prompt+output)
	if c.api.Generates() {
		c.put(`,"completion_tokens":`, output)
	}
	if c.s.cfg.Latency.PrefixCache {
		c.put(`,"prompt_tokens_details":{"cached_tokens":`, c.seq.Cached, `}`)
	}
	if reasoning > 0 {
		c.put(`,"completion_tokens_details":{"reasoning_tokens":`, reasoning, `}`)
	}
	c.str(`}`)
}

// broken plays a fault in the middle of a stream. False: the stream is over.
func (c *call) broken(cutAt *int) bool {
	*cutAt = c.tokens + 1
	switch c.fault {
	case config.FaultReset, config.FaultTruncate:
		c.flush(false)
		c.out.cut(c.fault == config.FaultReset)
		return false
	case config.FaultStall:
		if !c.flush(false) || !c.stall() {
			return false
		}
		c.due = c.s.clock.Now()
		return true
	case config.FaultError, config.FaultErrorEvent:
		if c.api == body.Responses && c.fault == config.FaultError {
			return c.failResponse("injected fault: the engine died")
		}
		if c.fault == config.FaultErrorEvent {
			c.str("event: error\n")
		}
		c.put("data: ", c.errorText("injected fault: the engine died", http.StatusInternalServerError), "\n\n")
		c.finish = "error"
		done := c.s.cfg.Output.Done && c.chunkName() != ""
		if c.event(truthfile.KindError, 0, !done) && done {
			c.str("data: [DONE]\n\n")
			c.event(truthfile.KindDone, 0, true)
		}
		return false
	}
	return true
}

// stall keeps the client waiting. False: it left.
func (c *call) stall() bool {
	for c.s.cfg.StallFor == 0 {
		if !c.wait(c.s.clock.Now()+int64(time.Hour), false) {
			return false
		}
	}
	return c.wait(c.s.clock.Now()+int64(c.s.cfg.StallFor), false)
}

// outputLength is how many tokens a response has, and why it ends.
func outputLength(o *config.Output, p *body.Params, r *rand.Rand) (n int, finish string) {
	limit := p.Limit()
	natural := o.Tokens
	switch {
	case o.TokensStddev > 0:
		natural = max(1, int(math.Round(float64(o.Tokens)+float64(o.TokensStddev)*r.NormFloat64())))
	case limit > 0:
		natural = limit
	}
	natural = max(natural, p.Min)
	switch {
	case limit > 0 && (p.IgnoreEOS || natural >= limit):
		return limit, "length"
	case p.IgnoreEOS:
		return natural, "length"
	}
	return natural, "stop"
}
