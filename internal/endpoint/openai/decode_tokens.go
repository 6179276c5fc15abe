package openai

import (
	"inferometer/internal/record"
	"inferometer/internal/token"
)

// countWhole says how many tokens an answer in one piece has, given the server's
// count or -1. Where nobody else counts, a stand-in is better than nothing; the
// report names it.
func (d *Decoder) countWhole(rec *record.Record, total int) {
	if d.own {
		rec.Out.Local = d.tok.Count(string(rec.Text))
	}
	switch {
	case total >= 0:
		rec.Out.N, rec.Out.Source = total, record.FromServer
	case d.own:
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	case d.tok != nil:
		rec.Out.N, rec.Out.Source = d.tok.Count(string(rec.Text)), record.FromTokenizer
	}
}

// countStream says how many tokens a stream has, and how many each of its events.
func (d *Decoder) countStream(rec *record.Record, st *streamed) {
	total := st.usage.completion
	text := ""
	if d.own {
		text = string(rec.Text)
		rec.Out.Local = d.tok.Count(text)
	}
	switch {
	case total >= 0:
		rec.Out.N, rec.Out.Source = total, record.FromServer
	case d.own:
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	case st.chunks > 0:
		rec.Out.N, rec.Out.Source = st.tokens, record.FromEvents
	}
	switch {
	case st.tokens == 0:
	case st.counted == st.tokens && !st.several && differences(rec.Events):
	case oneEach(total, st, rec.Finish):
		setTokens(rec.Events, 1)
	case d.own && d.countEvents(rec.Events, text, total):
	case total < 0 && !d.own:
		setTokens(rec.Events, 1)
	default:
		setTokens(rec.Events, -1)
	}
}

// differences turns sums so far into the tokens of each event. It reports false,
// with events unchanged, where they cannot be such sums.
func differences(events []record.Event) bool {
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
	last = 0
	for i := range events {
		if events[i].Label.IsToken() {
			events[i].Tokens, last = events[i].Tokens-last, events[i].Tokens
		}
	}
	return true
}

// oneEach reports whether the server counts as many tokens as it sent events. Some
// servers send an event for a token without text too, such as half a character or
// the stop token; those are counted with the others.
func oneEach(total int, st *streamed, finish string) bool {
	if total == st.tokens || total == st.tokens+st.empty {
		return true
	}
	return finish == "stop" && st.finishes == 1 && total == st.tokens+st.empty+1
}

// countEvents lets the tokenizer say how many tokens of the text each event
// brought. It reports false where the sum is not the server's total.
func (d *Decoder) countEvents(events []record.Event, text string, total int) bool {
	placer, ok := d.tok.(token.Placer)
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
