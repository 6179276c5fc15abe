package answer

import "github.com/inferometer/inferometer/internal/record"

const (
	// mostTokens is more than any prompt or answer has.
	mostTokens = 1 << 27
	// tooMany is what a number of tokens is read as that is larger still. A few of them
	// add up to no overflow.
	tooMany = 1 << 40
	// unseen is how many tokens a server may count beyond all that it sent: those that
	// begin and end a text or a part of it.
	unseen = 16
	// unsent is the same of a prompt: the system prompt of a server, and images and videos
	// that it fetches by their addresses.
	unsent = 1 << 17
)

// Prompt takes over the server's count of the prompt's tokens; -1: it did not count
// them. One that cannot be, because no token is less than a byte, is noted and not used.
func Prompt(rec *record.Record, n int) {
	switch {
	case n < 0:
	case n > mostTokens, rec.Size > 0 && n > rec.Size+unsent:
		rec.In.Claimed = n
	default:
		rec.In.N, rec.In.Source = n, record.FromServer
	}
}

// Credible gives the server's count of an answer's tokens, or -1 where it did not count
// them or they are more than it can have sent. No token is less than a byte or an event,
// unless it was asked for: what is hidden counts against that. Where nothing was asked
// for, hidden is how many tokens of it the server says that it keeps to itself. A count
// that cannot be is noted.
func Credible(rec *record.Record, n, hidden int) int {
	if n < 0 {
		return -1
	}
	text, events := len(rec.Text), len(rec.Events)
	if t := rec.Tail; t != nil {
		text, events = text+int(t.Text), events+int(t.Events+t.Others)
	}
	most := min(max(text, events, rec.Asked), mostTokens) + unseen
	if n > min(most+max(hidden, 0), mostTokens) {
		rec.Out.Claimed = n
		return -1
	}
	return n
}
