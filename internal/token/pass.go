package token

import (
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/bpe"
	"github.com/inferometer/inferometer/internal/token/decoder"
	"github.com/inferometer/inferometer/internal/token/normalizer"
	"github.com/inferometer/inferometer/internal/token/pretokenizer"
)

// pass is one text on its way through an engine.
type pass struct {
	e      *Pipeline
	worker *bpe.Worker
	ids    []int32
	own    []int32 // memory for ids that the caller does not keep
	pieces []pretokenizer.Piece
	padded []byte

	limit int   // of tokens after which the rest may be left out; 0: none
	track bool  // ends are asked for
	ends  []int // where each token ends in the text
	place int   // of the normalized stretch that is encoded next
}

// largest is how many tokens or pieces a pass in the pool may have memory for.
const largest = 1 << 16

func (e *Pipeline) begin() *pass {
	p, _ := e.passes.Get().(*pass)
	if p == nil {
		p = &pass{e: e}
	}
	if e.fast != nil {
		p.worker = e.fast.Worker()
	}
	return p
}

func (e *Pipeline) finish(p *pass) {
	if p.worker != nil {
		e.fast.Give(p.worker)
		p.worker = nil
	}
	if cap(p.own) > largest || cap(p.pieces) > largest || cap(p.padded) > 4*largest {
		return
	}
	p.ids, p.track, p.ends, p.limit = nil, false, nil, 0
	clear(p.pieces)
	e.passes.Put(p)
}

// encodeText encodes a whole text. Where a regular expression takes too many steps on it,
// the engine keeps the error, nothing is added, and it returns false.
func (p *pass) encodeText(s string) (ok bool) {
	ids, ends := len(p.ids), len(p.ends)
	defer func() {
		if limit := caught(recover()); limit != nil {
			p.e.failure.CompareAndSwap(nil, limit)
			p.ids, p.ends = p.ids[:ids], p.ends[:ends]
		}
	}()
	p.text(s)
	return true
}

func (p *pass) text(s string) {
	whole := s
	if !utf8.ValidString(s) {
		s = decoder.Valid([]byte(s))
	}
	if p.e.raw == nil {
		if s != "" {
			p.stretch(s, 0)
		}
	} else {
		p.e.raw.each(s,
			func(from, to int) { p.stretch(s[from:to], from) },
			p.token)
	}
	if p.track && len(s) != len(whole) {
		align(p.ends, s, whole, 0)
	}
}

// full reports whether there are as many tokens as were asked for.
func (p *pass) full() bool { return p.limit > 0 && len(p.ids) > p.limit }

// token adds an added token that ends at an offset of the text.
func (p *pass) token(id int32, end int) {
	p.ids = append(p.ids, id)
	if p.track {
		p.ends = append(p.ends, end)
	}
}

// stretch encodes what lies between added tokens that are not normalized, at an
// offset of the text.
func (p *pass) stretch(s string, at int) {
	before, text := len(p.ids), s
	p.place = 0
	if n := p.e.parts.Normalizer; n != nil {
		text = n.Normalize(s)
	}
	// A normalizer may take the beginning of the input away.
	first := at == 0 && (!p.e.usesFirst || p.e.parts.Normalizer == nil || normalizer.Begins(p.e.parts.Normalizer, s))
	base := len(p.ends)
	if p.e.normal == nil {
		if text != "" {
			p.plain(text, first)
		}
	} else {
		p.e.normal.each(text,
			func(from, to int) { p.place = from; p.plain(text[from:to], first && from == 0) },
			p.token)
	}
	if !p.track || before == len(p.ids) {
		return
	}
	ends := p.ends[base:]
	if text != s {
		align(ends, text, s, at)
		return
	}
	for i := range ends {
		ends[i] += at
	}
}

// plain encodes normalized text without added tokens. p.place is where it begins.
func (p *pass) plain(s string, first bool) {
	parts := &p.e.parts
	if parts.PreTokenizer == nil {
		p.scan(s, p.place)
		return
	}
	at, base := p.place, len(p.ends)
	p.pieces = parts.PreTokenizer.Split(p.pieces[:0], pretokenizer.Piece{Text: s, First: first})
	off := 0
	for _, piece := range p.pieces {
		p.scan(piece.Text, off)
		off += len(piece.Text)
	}
	if p.track {
		align(p.ends[base:], join(p.pieces), s, at)
	}
}

func join(pieces []pretokenizer.Piece) string {
	var b strings.Builder
	for _, piece := range pieces {
		b.WriteString(piece.Text)
	}
	return b.String()
}

// scan splits a piece by the scanner and encodes what comes of it.
func (p *pass) scan(s string, at int) {
	parts := &p.e.parts
	sc := parts.Scanner
	extra := 0
	if parts.PrefixSpace && !strings.HasPrefix(s, " ") {
		p.padded = append(append(p.padded[:0], ' '), s...)
		s = string(p.padded)
		extra = 1
	}
	if sc == nil {
		p.encode(s, at, extra)
		return
	}
	if p.worker != nil && !p.track {
		ids, w := p.ids, p.worker
		for len(s) > 0 {
			n := sc.Next(s)
			ids = w.Encode(ids, s[:n])
			s = s[n:]
		}
		p.ids = ids
		return
	}
	for len(s) > 0 && !p.full() {
		n := sc.Next(s)
		p.encode(s[:n], at, extra)
		at += n - extra
		extra = 0
		s = s[n:]
	}
}

// encode encodes a piece, which begins at an offset of the stretch, with extra bytes in front.
func (p *pass) encode(s string, at, extra int) {
	start := len(p.ids)
	if p.worker != nil {
		p.ids = p.worker.Encode(p.ids, s)
	} else {
		p.ids = p.e.parts.Model.Encode(p.ids, s)
	}
	if !p.track {
		return
	}
	n := -extra
	stop := len(s) - extra
	for i, id := range p.ids[start:] {
		n += p.e.width(id)
		end := min(max(n, 0), stop)
		if start+i == len(p.ids)-1 {
			end = stop
		}
		p.ends = append(p.ends, at+end)
	}
}
