package dialect

import (
	"strings"

	"github.com/inferometer/inferometer/internal/record"
)

type response struct {
	at   int64 // nanoseconds on the run's clock
	mark int
	size int // bytes of text
}

// split finds the responses of an answer, and its text.
func (f *Fold) split(rec *record.Record) {
	f.parts, f.text, f.handed = f.parts[:0], f.text[:0], f.handed[:0]
	if f.opt.Protocol == triton { // messages have the time of their read
		for _, m := range rec.Marks {
			f.handed = append(f.handed, m.Time())
		}
	} else {
		f.handed = rec.Handed(f.handed)
	}
	off := 0
	for i := range rec.Events {
		e := &rec.Events[i]
		piece := rec.Text[off : off+e.Text]
		off += e.Text
		if !f.counts(e.Label) {
			piece = nil
		}
		if e.Label == record.Whole && f.opt.Faithful && f.opt.Visible != nil {
			if said, ok := f.opt.Visible(rec); ok {
				piece = []byte(said)
			}
		}
		if f.keeps(e, len(piece)) {
			f.part(e, piece)
		}
	}
	if t := rec.Tail; t != nil && t.Events > 0 { // one response, for want of their times
		f.text = append(f.text, rec.Text[off:]...)
		f.parts = append(f.parts, response{at: int64(t.Last), mark: len(rec.Marks), size: len(rec.Text) - off})
	}
	if f.opt.Prompt != nil && !f.opt.Faithful {
		f.dropEcho(f.opt.Prompt(rec))
	}
	if f.oldFaithful() { // it takes a last response without text away, and only that
		if n := len(f.parts); n > 0 && f.parts[n-1].size == 0 {
			f.parts = f.parts[:n-1]
		}
	}
}

// dropEcho takes away the prompt that a text begins with, and responses that were nothing else.
func (f *Fold) dropEcho(prompt string) {
	if prompt == "" || !strings.HasPrefix(string(f.text), prompt) {
		return
	}
	f.text = f.text[len(prompt):]
	for left := len(prompt); left > 0; {
		n := min(left, f.parts[0].size)
		f.parts[0].size -= n
		if left -= n; f.parts[0].size == 0 && len(f.parts) > 1 {
			f.parts = f.parts[1:]
		}
	}
}

// counts reports whether a label's text is output. The original knows visible text only.
func (f *Fold) counts(l record.EventKind) bool {
	if f.opt.Faithful {
		return l == record.Content || l == record.Whole
	}
	return l.IsToken()
}

// oldFaithful: the first release counts chunks without text, such as a role's.
func (f *Fold) oldFaithful() bool {
	return f.opt.Faithful && f.opt.Release.old() && f.opt.Protocol != triton
}

// keeps reports whether an event is part of a response.
func (f *Fold) keeps(e *record.Event, size int) bool {
	switch {
	case f.opt.Protocol == triton:
		return e.Label != record.Comment && e.Label != record.Error && e.Label != record.Unknown && e.Label != record.Echo
	case f.oldFaithful():
		return e.Label != record.Comment && e.Label != record.Done
	default:
		return size > 0 || f.opt.Empty && e.Label == record.Whole
	}
}

// part adds an event to the responses. OpenAI's events of one chunk are one response.
func (f *Fold) part(e *record.Event, piece []byte) {
	f.text = append(f.text, piece...)
	if n := len(f.parts); n > 0 && f.opt.Protocol != triton && f.parts[n-1].mark == e.Mark {
		f.parts[n-1].size += len(piece)
		return
	}
	f.parts = append(f.parts, response{at: int64(f.handed[e.Mark]), mark: e.Mark, size: len(piece)})
}

// count is the number of tokens of the whole, and of each response where needed.
func (f *Fold) count() (total int, pieces []int) {
	text := string(f.text)
	if !f.opt.Release.old() {
		return f.opt.Count(text), nil
	}
	if !f.opt.Faithful && f.opt.Pieces != nil {
		f.cuts = f.cuts[:0]
		end := 0
		for _, p := range f.parts {
			end += p.size
			f.cuts = append(f.cuts, end)
		}
		return f.opt.Count(text), f.opt.Pieces(text, f.cuts)
	}
	start, sum := 0, 0
	for _, p := range f.parts {
		n := f.piece(text[start : start+p.size])
		start += p.size
		pieces, sum = append(pieces, n), sum+n
	}
	if f.opt.Faithful {
		return sum, pieces // the early releases add the pieces up
	}
	return f.opt.Count(text), pieces
}

// piece counts a text that stands in the middle of another: a mark in front keeps the
// tokenizer from taking it for a beginning.
func (f *Fold) piece(text string) int {
	return f.opt.Count("!"+text) - 1
}
