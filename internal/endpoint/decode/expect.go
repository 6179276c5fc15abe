package decode

import (
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
)

// longToken is more bytes than the tokens of a text have on average.
const longToken = 12

// expect notes how many tokens the tokenizer would expect where the server has counted.
// What the model's own finds in the text stands in rec.Out.Local already: there it is about
// hidden ones. One that stands in for it is asked only where nothing else speaks for the
// server's count, as events do that are as many. docs/decisions/076 has why.
func (c Counter) expect(rec *record.Record, hidden int, oneEach bool) {
	n := rec.Out.N
	switch {
	case c.own && hidden >= AnyHidden:
		rec.Out.Expected = n
		return
	case c.own && hidden > 0 && rec.Out.Local >= 0:
		rec.Out.Expected = nearer(n, rec.Out.Local, hidden)
		return
	case c.own, c.tok == nil, c.tok.Name() == (token.Words{}).Name(), rec.Out.Expected > 0, hidden >= AnyHidden, rec.Seq%record.Sampled != 0:
		return
	case oneEach && n*longToken >= len(rec.Text):
		return
	}
	found := c.count(rec)
	if !latin(rec.Text) { // the tokenizer of GPT-2 finds several times too many
		found = min(found, n)
	}
	rec.Out.Expected = max(nearer(n, found, max(hidden, 0)), 1)
}

// nearer is how many tokens a response should have of which a tokenizer finds some. Those that
// the server calls hidden may be among them, since reasoning is shown as a rule.
func nearer(n, found, hidden int) int {
	if both := found + hidden; max(both-n, n-both) < max(found-n, n-found) {
		return both
	}
	return found
}

// latin reports whether a text suits GPT-2's tokenizer: nine bytes of ten are ASCII.
func latin(text []byte) bool {
	other := 0
	for _, b := range text {
		if b >= 0x80 {
			other++
		}
	}
	return 10*other <= len(text)
}
