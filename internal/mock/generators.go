package mock

import (
	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// This file is the two servers that have /generate: Text Generation Inference, with /generate_stream and the root,
// which is either as the body says, and SGLang, of whose streams each event has all that there is so far. Then OpenAI's
// endpoint for what is said in a sound, whose streams vLLM has in another form.

// tgiToken sends n tokens from the at-th on. The last event has the whole text too.
func (c *call) tgiToken(at, n int, finish string, last bool) bool {
	c.put(`data:{"index":`, at+n, `,"token":{"id":`, 100+at%1000, `,"text":"`)
	c.words(0, at, n)
	c.str(`","logprob":-0.5,"special":false},"generated_text":`)
	if finish == "" {
		c.str("null,\"details\":null}\n\n")
		return c.event(truthfile.KindContent, n, last)
	}
	c.str(`"`)
	c.words(0, 0, c.tokens)
	c.str(`","details":`)
	c.tgiDetails(finish)
	c.str("}\n\n")
	return c.event(truthfile.KindContent, n, last)
}

func (c *call) tgiDetails(finish string) {
	c.str(`{"finish_reason":"`)
	if finish == "stop" {
		finish = "eos_token"
	}
	c.put(finish, `","generated_tokens":`, c.tokens, `,"seed":null,"input_length":`, c.seq.Prompt, `}`)
}

// wholeTGI writes a response in one piece. The root answers with a list.
func (c *call) wholeTGI(finish string) {
	if c.req.path == "/" {
		c.str(`[`)
	}
	c.str(`{"generated_text":"`)
	c.words(0, 0, c.tokens)
	c.str(`"`)
	if c.p.Details {
		c.str(`,"details":`)
		c.tgiDetails(finish)
	}
	c.str(`}`)
	if c.req.path == "/" {
		c.str(`]`)
	}
}

func tgiError(text string, status int) string {
	kind := "generation"
	switch {
	case status == 429 || status == 503:
		kind = "overloaded"
	case status < 500:
		kind = "validation"
	}
	return `{"error":` + string(body.AppendQuoted(nil, text)) + `,"error_type":"` + kind + `"}`
}

// sglangPiece sends n tokens from the at-th on, behind those that were sent before.
func (c *call) sglangPiece(at, n int, finish string, last bool) bool {
	c.str("data: ")
	c.sglangObject(at+n, finish)
	c.str("\n\n")
	return c.event(truthfile.KindContent, n, last)
}

// sglangObject writes the first n tokens and what is known of the request; a finish reason says that they are all.
func (c *call) sglangObject(n int, finish string) {
	c.str(`{"text":"`)
	c.words(0, 0, n)
	c.str(`","output_ids":[`)
	for i := range n {
		c.comma(i)
		c.int(wordID(token(c.textStart(0) + i)[1:]))
	}
	c.put(`],"meta_info":{"id":"`, c.id, `","finish_reason":`)
	switch finish {
	case "":
		c.str(`null`)
	case "length":
		c.put(`{"type":"length","length":`, n, `}`)
	default:
		c.put(`{"type":"`, finish, `","matched":2}`)
	}
	c.put(`,"prompt_tokens":`, c.seq.Prompt, `,"completion_tokens":`, n, `,"cached_tokens":`, c.seq.Cached, `,"weight_version":"default"}}`)
}

// transcriptDelta sends n tokens from the at-th on, as OpenAI does.
func (c *call) transcriptDelta(at, n int) bool {
	c.str(`data: {"type":"transcript.text.delta","delta":"`)
	c.words(0, at, n)
	c.str("\"}\n\n")
	return c.event(truthfile.KindContent, n, false)
}

// endTranscript sends what such a stream has after its last token.
func (c *call) endTranscript() bool {
	c.str(`data: {"type":"transcript.text.done","text":"`)
	c.words(0, 0, c.tokens)
	c.str(`",`)
	c.soundUsage()
	c.str("}\n\n")
	return c.event(truthfile.KindFinish, 0, true)
}

func (c *call) soundUsage() {
	c.put(`"usage":{"type":"tokens","input_tokens":`, c.seq.Prompt, `,"output_tokens":`, c.tokens, `,"total_tokens":`, c.seq.Prompt+c.tokens, `}`)
}

// transcript writes what was said in one piece.
func (c *call) transcript() {
	c.str(`{"text":"`)
	c.words(0, 0, c.tokens)
	c.str(`",`)
	if c.p.Form.Verbose {
		c.str(`"task":"transcribe","language":"english","duration":`)
		c.float(c.p.Form.Seconds)
		c.str(`,"segments":[],`)
	}
	c.soundUsage()
	c.str(`}`)
}
