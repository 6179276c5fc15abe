package decode

import "github.com/inferometer/inferometer/internal/record"

const (
	// mostTokens is more than any prompt or response has.
	mostTokens = 1 << 27
	// tooMany is what larger numbers of tokens are read as. A few of them add up to no overflow.
	tooMany = 1 << 40
	// unseen is how many tokens a server may count beyond all that it sent: those that
	// begin and end a text or a part of it, and what stands around tool calls.
	unseen = 16
	// unsent is the same of a prompt: the chat template and the system prompt of a server.
	unsent = 1 << 12
	// unsentMedia is the same of a prompt with images, sound or video, of which a few bytes
	// can be thousands of tokens, or which the server fetches by their addresses.
	unsentMedia = 1 << 17
	// fewestPrompt: the tokenizer of a run, which may be another model's, counts at most so
	// many times the tokens of a prompt. GPT-2's has three for a character of some scripts.
	fewestPrompt = 10
)

// AnyHidden says of hidden tokens that there are some, and not how many.
const AnyHidden = mostTokens

// Prompt takes over the server's count of the prompt's tokens; -1: none. An impossible one is only
// noted.
func Prompt(x *record.Exchange, n int) { PromptOf(x, n, x.Size) }

// PromptOf is Prompt of a text of size bytes; 0: not known. No token is less than a byte.
func PromptOf(x *record.Exchange, n, size int) {
	in := &x.In
	most, beyond := mostTokens, unsent
	if x.Media {
		beyond, in.Local = unsentMedia, -1 // no tokenizer counts them
	}
	if size > 0 {
		most = min(size+beyond, mostTokens)
	}
	switch {
	case n < 0, n == 0 && in.Local > 0: // where there is a text, none is as good as not counted
	case n > most, in.Local > fewestPrompt*n+unseen:
		in.Claimed = n
	default:
		in.N, in.Source = n, record.FromServer
	}
}

// mostOf is how many tokens a response can have, without those that are hidden: one for each
// byte of its text, and one for each event without.
func mostOf(rec *record.Record) int {
	text, blank := len(rec.Text), 0
	for i := range rec.Events {
		if rec.Events[i].Text == 0 {
			blank++
		}
	}
	if t := rec.Tail; t != nil {
		text, blank = text+int(t.Text), blank+int(t.Others)
	}
	return text + blank + unseen
}

// PlausibleCount gives the server's count of a response's tokens, or -1 where it did not count
// them or they are more than it can have sent. Hidden is how many tokens the server says
// that it keeps to itself. A count that cannot be is noted.
func PlausibleCount(rec *record.Record, n, hidden int) int {
	switch {
	case n < 0, n == 0 && len(rec.Text) > 0: // where there is text, none is as good as not counted
		return -1
	case n > min(mostOf(rec)+max(hidden, 0), mostTokens):
		rec.Out.Claimed = n
		return -1
	}
	return n
}
