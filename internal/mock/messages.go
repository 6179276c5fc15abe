package mock

import (
	"net/http"
	"strconv"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// This file is Anthropic's messages API: the events of its streams and its responses
// in one piece.

// openMessage sends the events ahead of the first token.
func (c *call) openMessage() bool {
	c.str("event: message_start\ndata: {\"type\":\"message_start\",\"message\":")
	c.messageHead()
	c.str(`"content":[],"stop_reason":null,"stop_sequence":null,`)
	c.messageUsage(1)
	c.str("}}\n\n")
	if !c.event(truthfile.KindRole, 0, false) {
		return false
	}
	c.block = 0
	return c.openBlock(c.reasoning() > 0)
}

// messageHead writes the fields that a message begins with.
func (c *call) messageHead() {
	c.put(`{"id":"`, c.id, `","type":"message","role":"assistant","model":"`, c.p.Model, `",`)
}

// messageUsage writes the usage member. Tokens from the cache are counted apart.
func (c *call) messageUsage(output int) {
	c.put(`"usage":{"input_tokens":`, c.seq.Prompt-c.seq.Cached)
	if c.s.cfg.Latency.PrefixCache {
		c.put(`,"cache_creation_input_tokens":0,"cache_read_input_tokens":`, c.seq.Cached)
	}
	c.put(`,"output_tokens":`, output, `}`)
}

func (c *call) openBlock(reasoning bool) bool {
	c.put("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":", c.block, `,"content_block":`)
	switch {
	case reasoning:
		c.str(`{"type":"thinking","thinking":"","signature":""}`)
	case c.callsTool():
		c.str(`{"type":"tool_use","id":"`)
		c.toolUseID()
		c.put(`","name":"`, c.p.Tool, `","input":{}}`)
	default:
		c.str(`{"type":"text","text":""}`)
	}
	c.str("}\n\n")
	k := truthfile.KindFrame
	if c.callsTool() {
		k = truthfile.KindTool
	}
	return c.event(k, 0, false)
}

func (c *call) toolUseID() {
	c.put("toolu_", c.id[len("msg_"):])
}

func (c *call) closeBlock() bool {
	c.put("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":", c.block, "}\n\n")
	c.block++
	return c.event(truthfile.KindFrame, 0, false)
}

// delta sends n tokens from the at-th on.
func (c *call) delta(at, n int, reasoning bool) bool {
	if thought := c.reasoning(); at == thought && thought > 0 && c.block == 0 {
		c.str("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"bW9jaw==\"}}\n\n")
		if !c.event(truthfile.KindFrame, 0, false) || !c.closeBlock() || !c.openBlock(false) {
			return false
		}
	}
	c.put("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":", c.block)
	k := truthfile.KindContent
	switch {
	case reasoning:
		k = truthfile.KindReasoning
		c.str(`,"delta":{"type":"thinking_delta","thinking":"`)
		c.words(0, at, n)
	case c.callsTool():
		k = truthfile.KindTool
		c.str(`,"delta":{"type":"input_json_delta","partial_json":"`)
		c.arguments(0, at, n)
	default:
		c.str(`,"delta":{"type":"text_delta","text":"`)
		c.words(0, at, n)
	}
	c.str("\"}}\n\n")
	return c.event(k, n, false)
}

// endMessage sends what a stream has after its last token.
func (c *call) endMessage(finish string) bool {
	if !c.closeBlock() {
		return false
	}
	c.put("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"", stopReason(finish), `","stop_sequence":null},`)
	c.messageUsage(c.tokens)
	c.str("}\n\n")
	if !c.event(truthfile.KindFinish, 0, !c.s.cfg.Output.Done) {
		return false
	}
	if !c.s.cfg.Output.Done {
		return true
	}
	c.str("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return c.event(truthfile.KindDone, 0, true)
}

// stopReason is a finish reason in the words of the API.
func stopReason(finish string) string {
	switch finish {
	case "length":
		return "max_tokens"
	case "tool_calls":
		return "tool_use"
	}
	return "end_turn"
}

// wholeMessage writes a response in one piece.
func (c *call) wholeMessage(finish string) {
	c.messageHead()
	c.str(`"content":[`)
	reasoning := c.reasoning()
	if reasoning > 0 {
		c.str(`{"type":"thinking","thinking":"`)
		c.words(0, 0, reasoning)
		c.str(`","signature":"bW9jaw=="},`)
	}
	if c.callsTool() {
		c.str(`{"type":"tool_use","id":"`)
		c.toolUseID()
		c.put(`","name":"`, c.p.Tool, `","input":{"text":"`)
		c.words(0, 0, c.tokens)
		c.str(`"}}`)
	} else {
		c.str(`{"type":"text","text":"`)
		c.words(0, reasoning, c.tokens-reasoning)
		c.str(`"}`)
	}
	c.put(`],"stop_reason":"`, stopReason(finish), `","stop_sequence":null,`)
	c.messageUsage(c.tokens)
	c.str(`}`)
}

// countTokens answers how long a prompt is. No model runs for that.
func (s *Server) countTokens(c *call) {
	c.api = body.CountTokens
	switch {
	case c.req.method != http.MethodPost:
		c.notAllowed(http.MethodPost)
	case !s.authorized(c):
		c.unauthorized()
	case c.readBody():
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "application/json"}, `{"input_tokens":`+strconv.Itoa(c.p.Words.N)+`}`)
	}
}

// messageError is an error object of the API.
func messageError(text string, status int) string {
	return `{"type":"error","error":{"type":"` + messageErrorType(status) + `","message":` + string(body.AppendQuoted(nil, text)) + `}}`
}

func messageErrorType(status int) string {
	name := map[int]string{
		http.StatusUnauthorized:          "authentication_error",
		http.StatusForbidden:             "permission_error",
		http.StatusNotFound:              "not_found_error",
		http.StatusRequestEntityTooLarge: "request_too_large",
		http.StatusTooManyRequests:       "rate_limit_error",
		http.StatusServiceUnavailable:    "overloaded_error",
		529:                              "overloaded_error",
	}[status]
	switch {
	case name != "":
		return name
	case status < http.StatusInternalServerError:
		return "invalid_request_error"
	}
	return "api_error"
}
