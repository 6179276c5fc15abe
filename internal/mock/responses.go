package mock

import (
	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// This file is OpenAI's responses API: the events of its streams and its responses in one piece.

// openResponse sends the events ahead of the first token.
func (c *call) openResponse() bool {
	for _, e := range [...]struct{ kind, truth string }{
		{"response.created", truthfile.KindRole}, {"response.in_progress", truthfile.KindFrame},
	} {
		c.beginEvent(e.kind)
		c.str(`,"response":`)
		c.responseObject("")
		if !c.endEvent(e.truth, 0, false) {
			return false
		}
	}
	c.block = 0
	return c.openItem(c.reasoning() > 0)
}

// beginEvent writes what an event begins with; endEvent completes it.
func (c *call) beginEvent(kind string) {
	c.put("event: ", kind, "\ndata: {\"type\":\"", kind, `","sequence_number":`, c.number)
	c.number++
}

func (c *call) endEvent(kind string, tokens int, last bool) bool {
	c.str("}\n\n")
	return c.event(kind, tokens, last)
}

// itemID writes the id of an item, which says what kind it is.
func (c *call) itemID(reasoning bool) {
	kind := "msg_"
	switch {
	case reasoning:
		kind = "rs_"
	case c.callsTool():
		kind = "fc_"
	}
	c.put(kind, c.id[len("resp_"):])
}

// itemEvent writes what an event of the item that is being sent begins with.
func (c *call) itemEvent(kind string, reasoning bool) {
	c.beginEvent(kind)
	c.str(`,"item_id":"`)
	c.itemID(reasoning)
	c.put(`","output_index":`, c.block)
	if !c.callsTool() {
		c.str(`,"content_index":0`)
	}
}

func (c *call) openItem(reasoning bool) bool {
	c.beginEvent("response.output_item.added")
	c.put(`,"output_index":`, c.block, `,"item":`)
	c.item(reasoning, false)
	kind := truthfile.KindFrame
	if c.callsTool() {
		kind = truthfile.KindTool
	}
	if ok := c.endEvent(kind, 0, false); !ok || reasoning || c.callsTool() {
		return ok
	}
	c.itemEvent("response.content_part.added", false)
	c.str(`,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`)
	return c.endEvent(truthfile.KindFrame, 0, false)
}

// closeItem sends what an item has after its last token: once more all that was in it.
func (c *call) closeItem(reasoning bool) bool {
	switch {
	case reasoning:
		c.itemEvent("response.reasoning_text.done", true)
		c.str(`,"text":"`)
		c.itemText(true)
		c.str(`"`)
	case c.callsTool():
		c.itemEvent("response.function_call_arguments.done", false)
		c.put(`,"name":"`, c.p.Tool, `","arguments":"`)
		c.itemText(false)
		c.str(`"`)
	default:
		c.itemEvent("response.output_text.done", false)
		c.str(`,"text":"`)
		c.itemText(false)
		c.str(`","logprobs":[]`)
		if !c.endEvent(truthfile.KindFrame, 0, false) {
			return false
		}
		c.itemEvent("response.content_part.done", false)
		c.str(`,"part":`)
		c.textPart(false)
	}
	if !c.endEvent(truthfile.KindFrame, 0, false) {
		return false
	}
	c.beginEvent("response.output_item.done")
	c.put(`,"output_index":`, c.block, `,"item":`)
	c.item(reasoning, true)
	c.block++
	return c.endEvent(truthfile.KindFrame, 0, false)
}

// itemText writes all tokens of an item.
func (c *call) itemText(reasoning bool) {
	thought := c.reasoning()
	switch {
	case reasoning:
		c.words(0, 0, thought)
	case c.callsTool():
		c.arguments(0, 0, c.tokens)
	default:
		c.visible(0, thought, c.tokens-thought)
	}
}

func (c *call) textPart(reasoning bool) {
	if reasoning {
		c.str(`{"type":"reasoning_text","text":"`)
		c.itemText(true)
		c.str(`"}`)
		return
	}
	c.str(`{"type":"output_text","text":"`)
	c.itemText(false)
	c.str(`","annotations":[],"logprobs":[]}`)
}

// item writes an item of the output, with what is in it if it is done.
func (c *call) item(reasoning, done bool) {
	status := "in_progress"
	if done {
		status = "completed"
	}
	c.str(`{"id":"`)
	c.itemID(reasoning)
	switch {
	case reasoning:
		c.str(`","type":"reasoning","summary":[],"content":[`)
		if done {
			c.textPart(true)
		}
		c.str(`],"encrypted_content":null`)
	case c.callsTool():
		c.put(`","type":"function_call","call_id":"call_`, c.id[len("resp_"):], `","name":"`, c.p.Tool, `","arguments":"`)
		if done {
			c.itemText(false)
		}
		c.str(`"`)
	default:
		c.str(`","type":"message","role":"assistant","content":[`)
		if done {
			c.textPart(false)
		}
		c.str(`]`)
	}
	c.put(`,"status":"`, status, `"}`)
}

// responseDelta sends n tokens from the at-th on.
func (c *call) responseDelta(at, n int, reasoning bool) bool {
	if thought := c.reasoning(); at == thought && thought > 0 && c.block == 0 {
		if !c.closeItem(true) || !c.openItem(false) {
			return false
		}
	}
	kind, name := truthfile.KindContent, "response.output_text.delta"
	switch {
	case reasoning:
		kind, name = truthfile.KindReasoning, "response.reasoning_text.delta"
	case c.callsTool():
		kind, name = truthfile.KindTool, "response.function_call_arguments.delta"
	}
	c.itemEvent(name, reasoning)
	c.str(`,"delta":"`)
	switch kind {
	case truthfile.KindTool:
		c.arguments(0, at, n)
	case truthfile.KindReasoning:
		c.words(0, at, n)
	default:
		c.visible(0, at, n)
	}
	c.str(`"`)
	if kind == truthfile.KindContent {
		c.str(`,"logprobs":[]`)
	}
	return c.endEvent(kind, n, false)
}

// endResponse sends what a stream has after its last token.
func (c *call) endResponse(finish string) bool {
	if !c.closeItem(false) {
		return false
	}
	kind := "response.completed"
	if finish == "length" {
		kind = "response.incomplete"
	}
	c.beginEvent(kind)
	c.str(`,"response":`)
	c.responseObject(finish)
	return c.endEvent(truthfile.KindFinish, 0, true)
}

// failResponse ends a stream with the news that the model failed.
func (c *call) failResponse(text string) bool {
	c.beginEvent("response.failed")
	c.str(`,"response":`)
	c.responseHead("failed", `{"code":"server_error","message":`+string(body.AppendQuoted(nil, text))+`}`, "null")
	c.str(`"output":[],"usage":null}`)
	c.finish = "error"
	c.endEvent(truthfile.KindError, 0, true)
	return false
}

// responseObject writes the response: as it begins, or with all that is in it if there is a finish reason.
func (c *call) responseObject(finish string) {
	status, incomplete := "completed", "null"
	switch finish {
	case "":
		c.responseHead("in_progress", "null", "null")
		c.str(`"output":[],"usage":null}`)
		return
	case "length":
		status, incomplete = "incomplete", `{"reason":"max_output_tokens"}`
	}
	c.responseHead(status, "null", incomplete)
	c.str(`"output":[`)
	if c.reasoning() > 0 {
		c.item(true, true)
		c.str(`,`)
	}
	c.item(false, true)
	c.put(`],"usage":{"input_tokens":`, c.seq.Prompt, `,"input_tokens_details":{"cached_tokens":`, c.seq.Cached,
		`,"cache_write_tokens":0},"output_tokens":`, c.tokens, `,"output_tokens_details":{"reasoning_tokens":`, c.reasoning(),
		`},"total_tokens":`, c.seq.Prompt+c.tokens, `}}`)
}

// responseHead writes the fields that stand ahead of the output. Failure and incomplete are JSON.
func (c *call) responseHead(status, failure, incomplete string) {
	c.put(`{"id":"`, c.id, `","object":"response","created_at":`, int(c.req.read.Unix()), `,"status":"`, status, `","error":`, failure,
		`,"incomplete_details":`, incomplete, `,"instructions":null,"metadata":{},"model":"`, c.p.Model,
		`","parallel_tool_calls":true,"previous_response_id":null,"store":false,"temperature":1.0,"text":{"format":{"type":"text"}},`,
		`"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","max_output_tokens":`)
	if limit := c.p.Limit(); limit > 0 {
		c.int(limit)
	} else {
		c.str(`null`)
	}
	c.str(`,`)
}
