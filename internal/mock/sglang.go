package mock

import (
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// This file is SGLang's own endpoint, /generate. Each event of a stream has all that there is so far.

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
