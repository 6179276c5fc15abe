package mock

import (
	"github.com/inferometer/inferometer/internal/mock/body"
)

// This file has the tokens of responses: words, JSON filled with them, and log probabilities.

// vocabulary is what responses are made of. Each token is a space and one of
// these, so words, tokens and usage agree whoever counts.
var vocabulary = [...]string{
	" the", " of", " and", " to", " in", " a", " is", " that", " for", " it", " as", " was", " with", " be", " by", " on",
	" not", " he", " this", " are", " or", " his", " from", " at", " which", " but", " have", " an", " had", " they", " you", " were",
	" their", " one", " all", " we", " can", " her", " has", " there", " been", " if", " more", " when", " will", " would", " who", " so",
	" no", " she", " other", " its", " may", " these", " what", " them", " than", " some", " him", " time", " into", " only", " could", " new",
	" then", " do", " my", " two", " any", " about", " such", " now", " over", " our", " out", " man", " also", " me", " even", " most",
	" made", " after", " first", " many", " must", " well", " much", " where", " your", " down", " should", " way", " long", " people", " day", " how",
	" good", " too", " little", " state", " own", " back", " each", " men", " just", " old", " see", " work", " year", " through", " make", " life",
	" world", " still", " here", " house", " water", " hand", " light", " river", " stone", " tree", " road", " city", " north", " south", " east", " west",
}

// token returns the i-th token of the endless text that all responses are parts of.
func token(i int) string { return vocabulary[uint(i)%uint(len(vocabulary))] }

// words writes tokens; choices and requests begin at different places of the text.
func (c *call) words(choice, at, n int) {
	at += c.textStart(choice)
	for i := range n {
		c.str(token(at + i))
	}
}

// arguments writes tokens of a tool call. All together they are a JSON object.
func (c *call) arguments(choice, at, n int) {
	if at == 0 {
		c.str(`{\"text\":\"`)
	}
	c.words(choice, at, n)
	if at+n == c.tokens {
		c.str(`\"}`)
	}
}

// visible writes tokens that are no reasoning: a text, or JSON that is filled with one.
func (c *call) visible(choice, at, n int) {
	if c.shape == nil {
		c.words(choice, at, n)
		return
	}
	for i := range n {
		quoted := body.AppendQuoted(nil, c.visibleToken(choice, at+i))
		c.buf = append(c.buf, quoted[1:len(quoted)-1]...)
	}
}

// visibleToken is the text of one of them. A JSON is as many words as tokens.
func (c *call) visibleToken(choice, i int) string {
	text := token(c.textStart(choice) + i)
	if c.shape == nil {
		return text
	}
	if i == c.reasoning() {
		if text = text[1:]; !c.shape.Open {
			text = ""
		}
		text = c.shape.Before + text
	}
	if i == c.tokens-1 {
		text += c.shape.After
	}
	return text
}

// rival is the k-th most likely token at a place; the first is the one that stands there.
func (c *call) rival(choice, i, k int) string {
	if k == 0 {
		return c.visibleToken(choice, i)
	}
	return token(c.textStart(choice) + i + k)
}

// logprob is the log probability of the k-th most likely token at a place.
func logprob(i, k int) float64 { return -0.0625*float64(1+i%16) - 0.5*float64(k) }

// logprobs writes those of n tokens from the at-th on, where they are asked for.
func (c *call) logprobs(choice, at, n int) {
	c.str(`,"logprobs":`)
	switch {
	case !c.p.Logprobs || n == 0:
		c.str(`null`)
	case c.api == body.Completions:
		c.textLogprobs(choice, at, n)
	default:
		c.str(`{"content":[`)
		for i := range n {
			c.comma(i)
			c.tokenLogprob(choice, at+i, 0)
			c.str(`,"top_logprobs":[`)
			for k := range c.p.TopLogprobs {
				c.comma(k)
				c.tokenLogprob(choice, at+i, k)
				c.str(`}`)
			}
			c.str(`]}`)
		}
		c.str(`],"refusal":null}`)
	}
}

// tokenLogprob writes what a chat has about a token, up to the end of its object.
func (c *call) tokenLogprob(choice, i, k int) {
	text := c.rival(choice, i, k)
	c.put(`{"token":`, body.AppendQuoted(nil, text), `,"logprob":`)
	c.float(logprob(i, k))
	c.str(`,"bytes":[`)
	for j := range len(text) {
		c.comma(j)
		c.int(int(text[j]))
	}
	c.str(`]`)
}

// textLogprobs writes what a completion has about tokens: a list of each thing.
func (c *call) textLogprobs(choice, at, n int) {
	list := func(name string, write func(i int)) {
		c.put(`"`, name, `":[`)
		for i := range n {
			c.comma(i)
			write(at + i)
		}
		c.str(`]`)
	}
	offset := 0
	for i := range at {
		offset += len(c.visibleToken(choice, i))
	}
	c.str(`{`)
	list("text_offset", func(i int) {
		c.int(offset)
		offset += len(c.visibleToken(choice, i))
	})
	c.str(`,`)
	list("token_logprobs", func(i int) { c.float(logprob(i, 0)) })
	c.str(`,`)
	list("tokens", func(i int) { c.buf = body.AppendQuoted(c.buf, c.visibleToken(choice, i)) })
	c.str(`,`)
	list("top_logprobs", func(i int) {
		c.str(`{`)
		for k := range max(c.p.TopLogprobs, 1) {
			c.comma(k)
			c.buf = append(body.AppendQuoted(c.buf, c.rival(choice, i, k)), ':')
			c.float(logprob(i, k))
		}
		c.str(`}`)
	})
	c.str(`}`)
}
