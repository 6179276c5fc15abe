package mock

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strconv"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// unstreamed responses in one piece when the last token is due.
func (c *call) unstreamed(finish string) {
	first := c.due
	if !c.lastToken() {
		return
	}
	if c.callsTool() {
		finish = "tool_calls"
	}
	output := c.tokens * c.choices
	switch c.api {
	case body.Messages:
		c.wholeMessage(finish)
	case body.TGI:
		c.wholeTGI(finish)
	case body.Responses:
		c.responseObject(finish)
	case body.SGLang:
		c.sglangObject(c.tokens, finish)
	case body.Transcriptions:
		c.transcript()
	default:
		c.buf = c.appendHead(c.buf, [...]string{body.Chat: "chat.completion", body.Completions: "text_completion"}[c.api])
		c.str(`"choices":[`)
		for choice := range c.choices {
			c.comma(choice)
			c.choice(choice, finish)
		}
		c.str(`],`)
		c.usage(output, c.reasoning()*c.choices)
		c.str(`}`)
	}
	c.finishBody(finish, output, first)
}

// lastToken waits until the last token is due. False: the client left.
func (c *call) lastToken() bool {
	m := c.s.model
	steady := m.Steady()
	for range c.tokens - 1 {
		// How long a step takes may depend on who else runs; then each is lived through.
		if !steady && !c.wait(c.due, false) {
			return false
		}
		c.due = m.Next(c.due, &c.seq)
	}
	if !c.wait(c.due, false) {
		return false
	}
	c.prefilled()
	return true
}

// comma separates the i-th element of a list from the one before it.
func (c *call) comma(i int) {
	if i > 0 {
		c.str(`,`)
	}
}

func (c *call) choice(choice int, finish string) {
	c.put(`{"index":`, choice)
	reasoning := c.reasoning()
	switch {
	case c.api == body.Completions:
		c.str(`,"text":"`)
		c.visible(choice, 0, c.tokens)
		c.str(`"`)
	case c.callsTool():
		c.str(`,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"`)
		c.toolID(choice)
		c.put(`","type":"function","function":{"name":"`, c.p.Tool, `","arguments":"`)
		c.arguments(choice, 0, c.tokens)
		c.str(`"}}]}`)
	default:
		c.str(`,"message":{"role":"assistant","content":"`)
		c.visible(choice, reasoning, c.tokens-reasoning)
		c.str(`"`)
		if reasoning > 0 {
			c.put(`,"`, c.s.cfg.Output.ReasoningField, `":"`)
			c.words(choice, 0, reasoning)
			c.str(`"`)
		}
		c.str(`}`)
	}
	if c.callsTool() {
		c.str(`,"logprobs":null`)
	} else {
		c.logprobs(choice, reasoning, c.tokens-reasoning)
	}
	c.put(`,"finish_reason":"`, finish, `","stop_reason":null}`)
}

// finishBody sends the response that stands in buf, or the part that a fault leaves.
func (c *call) finishBody(finish string, tokens int, first int64) {
	switch c.fault {
	case config.FaultError, config.FaultErrorEvent:
		c.buf = c.buf[:reserve]
		c.finish = "error"
		c.fail(http.StatusInternalServerError, "injected fault: the engine died")
		return
	case config.FaultReset, config.FaultTruncate, config.FaultStall:
		if !c.half(tokens) {
			return
		}
	default:
		c.begin(c.bodyHead(len(c.buf) - reserve))
		if !c.event(truthfile.KindBody, tokens, true) {
			return
		}
	}
	c.finish = finish
	// The model made the tokens at their due times; only the client saw them at once.
	c.firstAt = max(first, c.arrived()+1)
	c.itl.clear()
	if n := c.tokens - 1; n > 0 && c.api.Generates() {
		c.itl.add(seconds(max(c.due-first, 0))/float64(n), uint64(n*c.choices))
	}
}

// bodyHead goes ahead of a body of so many bytes.
func (c *call) bodyHead(length int) head {
	h := head{status: http.StatusOK, ctype: "application/json", length: length, jsonLength: c.t.jsonLength}
	if h.jsonLength > 0 {
		h.ctype = "application/octet-stream"
	}
	return h
}

// half sends half of the response, then plays the fault. True: the rest followed after all.
func (c *call) half(tokens int) bool {
	length := len(c.buf) - reserve
	rest := append([]byte(nil), c.buf[reserve+length/2:]...)
	c.buf = c.buf[:reserve+length/2]
	c.begin(c.bodyHead(length))
	if !c.event(truthfile.KindBody, 0, false) || c.pending > 0 && !c.flush(false) {
		return false
	}
	if c.fault != config.FaultStall {
		c.out.cut(c.fault == config.FaultReset)
		return false
	}
	if !c.stall() {
		return false
	}
	c.buf = append(c.buf, rest...)
	return c.event(truthfile.KindBody, tokens, true)
}

// embeddings writes a vector for each input, made from its number of words and place,
// so that the same request gets the same response.
func (c *call) embeddings() {
	dim := c.dimensions()
	c.buf = c.appendHead(c.buf, "list")
	c.str(`"data":[`)
	for i, words := range c.p.PerInput {
		c.comma(i)
		c.put(`{"index":`, i, `,"object":"embedding","embedding":`)
		c.vector(dim, words, i)
		c.str(`}`)
	}
	c.str(`],`)
	c.usage(0, 0)
	c.str(`}`)
}

// dimensions are those of a vector.
func (c *call) dimensions() int {
	if c.p.Dim < 0 {
		return c.s.cfg.Output.EmbeddingDim
	}
	return c.p.Dim
}

func (c *call) vector(dim, words, place int) {
	scale := 1 / math.Sqrt(float64(dim))
	value := func(i int) float32 {
		x := uint64(i+1)*0x9e3779b97f4a7c15 ^ uint64(words)*0x100000001b3 ^ uint64(place)<<32
		x ^= x >> 31
		x *= 0xbf58476d1ce4e5b9
		return float32((float64(x>>11)/(1<<52) - 1) * scale)
	}
	if c.p.Base64 {
		raw := make([]byte, 0, 4*dim)
		for i := range dim {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(value(i)))
		}
		c.str(`"`)
		c.buf = base64.StdEncoding.AppendEncode(c.buf, raw)
		c.str(`"`)
		return
	}
	c.str(`[`)
	for i := range dim {
		c.comma(i)
		c.buf = strconv.AppendFloat(c.buf, float64(value(i)), 'g', 8, 32)
	}
	c.str(`]`)
}
