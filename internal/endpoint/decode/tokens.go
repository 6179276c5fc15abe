package decode

import (
	"bytes"
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
)

// Counter counts the tokens of responses. The model's own tokenizer counts beside the
// server; one that stands in for it counts responses that the server did not count, and
// looks over some of those that it did. Without any that is left undone.
type Counter struct {
	tok prompt.Tokenizer // nil, or the run's own
	own bool             // tok is the model's own, not one that stands in for it
	// Plain: the server's counts are taken as they are, and this side counts each event's visible
	// text.
	Plain bool
	// Thoughts: where a session's call is counted so, what it thinks counts ahead of what is visible.
	Thoughts bool
}

// NewCounter makes a Counter of the run's tokenizer, if there is one. own: it is that
// of the model.
func NewCounter(tok prompt.Tokenizer, own bool) Counter {
	return Counter{tok: tok, own: own && tok != nil}
}

// CountVisible puts a plain count of a response's visible text in place of that of all its
// text. It returns the tokens of the response.
func (c Counter) CountVisible(rec *record.Record, visible []byte) int {
	if c.Thoughts && rec.Call != "" {
		text := rec.Text
		if thoughts, behind := bytes.CutPrefix(text, visible); behind && !bytes.HasSuffix(text, visible) {
			text = slices.Concat(thoughts, visible)
		}
		visible = text
	}
	if c.own {
		rec.Out.Local = c.tok.Count(string(visible))
		if rec.Out.Source == record.FromTokenizer {
			rec.Out.N = rec.Out.Local
		}
	}
	return rec.Out.N
}

// countVisibleEvents is CountVisible of a stream, and of each of its events by itself.
func (c Counter) countVisibleEvents(rec *record.Record) {
	var visible []byte
	start := 0
	for i := range rec.Events {
		e := &rec.Events[i]
		end := start + e.Text
		if e.Label == record.Content {
			e.Tokens = c.tok.Count(string(rec.Text[start:end]))
			visible = append(visible, rec.Text[start:end]...)
		}
		start = end
	}
	c.CountVisible(rec, visible)
}

// Prompt takes over the server's count of the prompt's tokens; -1: it did not count them.
func (c Counter) Prompt(x *record.Exchange, n int) {
	if c.Plain && n >= 0 {
		x.In.N, x.In.Source = min(n, mostTokens), record.FromServer
		return
	}
	Prompt(x, n)
}

// plausible is the server's count of a response's tokens, or -1.
func (c Counter) plausible(rec *record.Record, n, hidden int) int {
	if c.Plain {
		return min(n, mostTokens)
	}
	return PlausibleCount(rec, n, hidden)
}

// CountUnstreamed says how many tokens a response in one piece has, given the server's count or
// -1, and how many of them it hides. Without another count, a stand-in is better than
// nothing; the report names it. It returns the tokens of the response's one event.
func (c Counter) CountUnstreamed(rec *record.Record, total, hidden int) int {
	total = c.plausible(rec, total, hidden)
	if c.own {
		rec.Out.Local = c.tok.Count(string(rec.Text))
	}
	switch {
	case total >= 0:
		rec.Out.N, rec.Out.Source = total, record.FromServer
		c.expect(rec, hidden, false)
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
	After   int  // of those, the ones after the event with Total
	Sums    bool // each of those has the server's count so far in its Tokens
	OneEach bool // the server counts as many tokens as it sent events
	Events  bool // there are events of the protocol at all
}

// Stream says how many tokens a stream has, and how many each of its events. Of the events
// of one that was folded it knows no more than that each has a token, where it does.
func (c Counter) Stream(rec *record.Record, s Stream) {
	c.stream(rec, s)
	if c.Plain && c.own && rec.Tail == nil {
		c.countVisibleEvents(rec)
	}
}

func (c Counter) stream(rec *record.Record, s Stream) {
	own := c.own && hasAllText(rec)
	if own {
		rec.Out.Local = c.tok.Count(string(rec.Text))
	}
	if !c.Server(rec, s) {
		s.Total, s.Sums, s.OneEach = -1, false, false
	}
	switch {
	case s.Total >= 0:
	case own:
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	case s.Tokens > 0 && c.standIn(rec, s.Tokens):
		return
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
	case c.own && c.countEvents(rec.Events, string(rec.Text), s.Total):
	case s.Total < 0 && !c.own:
		setTokens(rec.Events, 1)
	default:
		setTokens(rec.Events, -1)
	}
}

// Server takes over what the server says of a stream's tokens. It reports false where it did
// not count them or its count cannot be, which is noted.
func (c Counter) Server(rec *record.Record, s Stream) bool {
	if s.Total = c.plausible(rec, s.Total, s.Hidden); s.Total < 0 {
		return false
	}
	if !c.Plain && c.tooFew(rec, &s) {
		rec.Out.Claimed = s.Total
		return false
	}
	rec.Out.N, rec.Out.Source = s.Total, record.FromServer
	c.expect(rec, s.Hidden, s.OneEach)
	return true
}

// hasAllText reports whether all the text of a stream is there.
func hasAllText(rec *record.Record) bool { return rec.Tail == nil || rec.Tail.Text == 0 }

// count is how many tokens the tokenizer finds in the text of a response. Where not all of
// that is there, the rest is taken to be like it.
func (c Counter) count(rec *record.Record) int {
	switch {
	case rec.Out.Local >= 0:
		return rec.Out.Local
	case hasAllText(rec) || len(rec.Text) == 0:
		return c.tok.Count(string(rec.Text))
	}
	all := float64(len(rec.Text)) + float64(rec.Tail.Text)
	return int(float64(c.tok.Count(string(rec.Text))) * all / float64(len(rec.Text)))
}

// tooFew reports whether the server's count of a stream's tokens is smaller than what came. An
// event with text has a token, unless tokens were cut up on the way: then the tokenizer agrees with
// the server. A count before the end is none of the whole.
func (c Counter) tooFew(rec *record.Record, s *Stream) bool {
	n := s.Total
	if s.After > 0 && n < s.Tokens {
		return true
	}
	if s.Tokens <= n+n/10+1 {
		return false
	}
	events := s.Tokens
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Label.IsToken() && e.Text == 0 {
			events--
		}
	}
	if events <= n+n/10+1 {
		return false
	}
	if c.tok == nil {
		return true
	}
	found := c.count(rec)
	if 4*found > 5*n {
		return true
	}
	if !c.own {
		rec.Out.Expected = max(found, 1) // it speaks for the server
	}
	return false
}

// standIn lets a tokenizer that is not the model's say how many tokens a stream has that its
// server did not count, and how many each event: at least one, since another model's tokens
// may lie across events. It reports false where it cannot.
func (c Counter) standIn(rec *record.Record, events int) bool {
	placer, ok := c.tok.(token.Placer)
	switch {
	case !ok:
		return false
	case hasAllText(rec) && rec.Tail == nil:
		rec.Out.N, rec.Out.Source = PerEvent(placer, rec.Events, string(rec.Text), 1), record.FromTokenizer
		return true
	}
	n := c.count(rec)
	if n <= events+events/4 { // an event is a token, as far as can be told
		return false
	}
	rec.Out.N, rec.Out.Source, rec.Tail.Tokens = n, record.FromTokenizer, -1
	setTokens(rec.Events, -1)
	return true
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
	sum := PerEvent(placer, events, text, 0)
	return total < 0 || sum == total
}

// PerEvent lets a tokenizer say how many tokens each event brought, least or more, and returns
// their sum.
func PerEvent(placer token.Placer, events []record.Event, text string, least int) (sum int) {
	cuts := make([]int, 0, len(events))
	end := 0
	for i := range events {
		end += events[i].Text
		if events[i].Label.IsToken() {
			cuts = append(cuts, end)
		}
	}
	next := token.PerEvent(nil, placer, text, cuts)
	for i := range events {
		if events[i].Label.IsToken() {
			events[i].Tokens = max(next[0], least)
			sum += events[i].Tokens
			next = next[1:]
		}
	}
	return sum
}

func setTokens(events []record.Event, n int) {
	for i := range events {
		if events[i].Label.IsToken() {
			events[i].Tokens = n
		}
	}
}
