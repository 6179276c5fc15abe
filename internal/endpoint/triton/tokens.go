package triton

import (
	"bytes"
	"strings"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
)

// dropEcho takes the prompt out of an answer that begins with it, and with it what
// earlier responses said already where each repeats all of it. What is left of the
// text is what the model wrote.
func (a *reading) dropEcho(prompt string) {
	if a.decoder.convention.answerIDs != "" {
		a.dropIDs(prompt)
		return
	}
	echo := echoLength(a.rec.Text, prompt)
	if a.repeats(echo > 0, prompt) {
		a.keepLast(prompt)
		return
	}
	if echo == 0 {
		return
	}
	a.rec.Text = append(a.rec.Text[:0], a.rec.Text[echo:]...)
	for i := 0; echo > 0 && i < len(a.rec.Events); i++ {
		n := min(echo, a.rec.Events[i].Text)
		a.takeAway(i, n)
		echo -= n
	}
}

// takeAway notes that so many bytes of an event's text were not the model's.
func (a *reading) takeAway(i, n int) {
	e := &a.rec.Events[i]
	e.Text -= n
	if n > 0 && e.Text == 0 && e.Label.IsToken() {
		e.Label = record.Echo
		a.Tokens--
		if a.counted > 0 {
			a.counted--
			a.sum -= e.Tokens
		}
		e.Tokens = 0
	}
}

// blank is what a tokenizer may lose or add at the beginning of a text.
const blank = " \t\r\n"

// echoLength is how many bytes at the beginning of a text are the prompt sent back; 0:
// it is not there. A long prompt is recognised also where spaces around it were lost,
// or a mark of the beginning was added.
func echoLength(text []byte, prompt string) int {
	if len(text) >= len(prompt) && string(text[:len(prompt)]) == prompt {
		return len(prompt)
	}
	bare := strings.Trim(prompt, blank)
	if len(bare) < shortEcho {
		return 0
	}
	rest := bytes.TrimLeft(text, blank)
	for _, mark := range []string{"<s>", "<|begin_of_text|>", "<bos>"} {
		if after, ok := bytes.CutPrefix(rest, []byte(mark)); ok {
			rest = bytes.TrimLeft(after, blank)
			break
		}
	}
	if after, ok := bytes.CutPrefix(rest, []byte(bare)); ok {
		return len(text) - len(after)
	}
	return 0
}

// fewestRepeats is how many responses must each begin with the one before for that to
// be no accident.
const fewestRepeats = 3

// repeats reports whether each response repeats all that came before it.
func (a *reading) repeats(echoed bool, prompt string) bool {
	var last []byte
	n, at := 0, 0
	for i := range a.rec.Events {
		piece := a.rec.Text[at : at+a.rec.Events[i].Text]
		at += a.rec.Events[i].Text
		if len(piece) == 0 {
			continue
		}
		if n++; n == 1 {
			last = piece
			continue
		}
		if len(piece) <= len(last) || !bytes.HasPrefix(piece, last) {
			return false
		}
		last = piece
	}
	return n >= fewestRepeats || n == 2 && echoed && echoLength(last, prompt) > 0
}

// keepLast makes each response that repeats those before it one of what is new in it.
func (a *reading) keepLast(prompt string) {
	var text, last []byte
	at := 0
	for i := range a.rec.Events {
		n := a.rec.Events[i].Text
		piece := a.rec.Text[at : at+n]
		at += n
		if n == 0 {
			continue
		}
		known := len(last)
		if last == nil {
			known = echoLength(piece, prompt)
		}
		last = piece
		text = append(text, piece[known:]...)
		a.takeAway(i, known)
	}
	a.rec.Text = append(a.rec.Text[:0], text...)
}

// dropIDs takes the prompt's ids out of an answer in ids that begins with them.
func (a *reading) dropIDs(prompt string) {
	for i := range a.rec.Events {
		e := &a.rec.Events[i]
		if !e.Label.IsToken() {
			continue
		}
		if n := len(prompt) / 4; a.firstIDs == prompt && e.Tokens >= n {
			if e.Tokens -= n; e.Tokens == 0 {
				e.Label = record.Echo
				a.Tokens--
			}
		}
		return
	}
}

// countTokens says how many tokens the answer has, and how many each of its events.
func (a *reading) countTokens() {
	rec, d := a.rec, a.decoder
	if d.convention.answerIDs != "" {
		for _, e := range a.rec.Events {
			if e.Label.IsToken() {
				rec.Out.N += e.Tokens
			}
		}
		rec.Out.Source = record.FromServer
		return
	}
	if d.own {
		rec.Out.Local = d.tok.Count(string(rec.Text))
	}
	counted := a.counted > 0 && a.counted == a.Tokens
	if counted && decode.NewCounter(d.tok, d.own).Server(rec,
		decode.Stream{Total: a.sum, Tokens: a.Tokens, OneEach: rec.Streamed && a.sum == a.Tokens}) {
		return
	}
	placer, places := d.tok.(token.Placer)
	switch {
	case d.own:
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	case d.tok != nil && (!rec.Streamed || places && a.Tokens > 0):
		rec.Out.N, rec.Out.Source = d.tok.Count(string(rec.Text)), record.FromTokenizer
	default:
		rec.Out.N, rec.Out.Source = a.Tokens, record.FromEvents
	}
	switch {
	case a.Tokens == 1: // it has them all
		if !d.own {
			rec.Out.N = max(rec.Out.N, 1)
		}
		a.setTokens(rec.Out.N)
	case rec.Out.Source == record.FromEvents:
		a.setTokens(1)
	case !places:
		a.setTokens(-1)
	case d.own:
		decode.PerEvent(placer, rec.Events, string(rec.Text), 0)
	default: // another model's tokens may lie across events
		rec.Out.N = decode.PerEvent(placer, rec.Events, string(rec.Text), 1)
	}
}

func (a *reading) setTokens(n int) {
	for i := range a.rec.Events {
		if a.rec.Events[i].Label.IsToken() {
			a.rec.Events[i].Tokens = n
		}
	}
}
