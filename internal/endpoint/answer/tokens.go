package answer

import (
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
)

// Counter counts the tokens of answers. The model's own tokenizer counts beside the
// server; one that stands in for it counts only answers in one piece that the server
// did not count. Without any that is left undone.
type Counter struct {
	tok prompt.Tokenizer // nil, or the run's own
	own bool             // tok is the model's own, not one that stands in for it
}

// NewCounter makes a Counter of the run's tokenizer, if there is one. own: it is that
// of the model.
func NewCounter(tok prompt.Tokenizer, own bool) Counter {
	return Counter{tok: tok, own: own && tok != nil}
}

// Whole says how many tokens an answer in one piece has, given the server's count or
// -1, and how many of them it hides. Where nobody else counts, a stand-in is better than nothing; the report names
// it. It returns the tokens of the answer's one event.
func (c Counter) Whole(rec *record.Record, total, hidden int) int {
	total = Credible(rec, total, hidden)
	if c.own {
		rec.Out.Local = c.tok.Count(string(rec.Text))
	}
	switch {
	case total >= 0:
		rec.Out.N, rec.Out.Source = total, record.FromServer
	case c.own:
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	case c.tok != nil:
		rec.Out.N, rec.Out.Source = c.tok.Count(string(rec.Text)), record.FromTokenizer
	default:
		return -1
	}
	return rec.Out.N
}

// Stream is what is known of a stream's tokens.
type Stream struct {
	Total   int  // the server's count; -1: not said
	Hidden  int  // of those, tokens that it did not send, as it says
	Tokens  int  // events that carry tokens
	Sums    bool // each of those has the server's count so far in its Tokens
	OneEach bool // the server counts as many tokens as it sent events
	Events  bool // there are events of the protocol at all
}

// Stream says how many tokens a stream has, and how many each of its events. Of the events
// of one that was folded it knows no more than that each has a token, where it does.
func (c Counter) Stream(rec *record.Record, s Stream) {
	if said := s.Total; said >= 0 {
		s.Total = Credible(rec, said, s.Hidden)
		s.Sums, s.OneEach = s.Sums && s.Total >= 0, s.OneEach && s.Total >= 0
	}
	own := c.own && (rec.Tail == nil || rec.Tail.Text == 0)
	text := ""
	if own {
		text = string(rec.Text)
		rec.Out.Local = c.tok.Count(text)
	}
	switch {
	case s.Total >= 0:
		rec.Out.N, rec.Out.Source = s.Total, record.FromServer
	case own:
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	case s.Events:
		rec.Out.N, rec.Out.Source = s.Tokens, record.FromEvents
	}
	if rec.Tail != nil {
		rec.Tail.Tokens = -1
		if s.OneEach || rec.Out.Source == record.FromEvents || rec.Out.N == s.Tokens {
			rec.Tail.Tokens = 1
		}
		setTokens(rec.Events, int(rec.Tail.Tokens))
		return
	}
	switch {
	case s.Tokens == 0:
	case s.Sums && differences(rec.Events, s.Total):
	case s.OneEach:
		setTokens(rec.Events, 1)
	case c.own && c.countEvents(rec.Events, text, s.Total):
	case s.Total < 0 && !c.own:
		setTokens(rec.Events, 1)
	default:
		setTokens(rec.Events, -1)
	}
}

// differences turns sums so far into the tokens of each event. It reports false,
// with events unchanged, where they cannot be such sums or come to more than the total.
func differences(events []record.Event, total int) bool {
	last := 0
	for i := range events {
		if !events[i].Label.IsToken() {
			continue
		}
		if events[i].Tokens <= last {
			return false
		}
		last = events[i].Tokens
	}
	if last > total {
		return false
	}
	last = 0
	for i := range events {
		if events[i].Label.IsToken() {
			events[i].Tokens, last = events[i].Tokens-last, events[i].Tokens
		}
	}
	return true
}

// countEvents lets the tokenizer say how many tokens of the text each event
// brought. It reports false where the sum is not the server's total.
func (c Counter) countEvents(events []record.Event, text string, total int) bool {
	placer, ok := c.tok.(token.Placer)
	if !ok {
		return false
	}
	cuts := make([]int, 0, len(events))
	end := 0
	for i := range events {
		end += events[i].Text
		if events[i].Label.IsToken() {
			cuts = append(cuts, end)
		}
	}
	sum, next := 0, token.PerEvent(nil, placer, text, cuts)
	for i := range events {
		if events[i].Label.IsToken() {
			events[i].Tokens = next[0]
			sum += next[0]
			next = next[1:]
		}
	}
	return total < 0 || sum == total
}

func setTokens(events []record.Event, n int) {
	for i := range events {
		if events[i].Label.IsToken() {
			events[i].Tokens = n
		}
	}
}
