// Package decodetest is what tests of decoders share: records to decode, and outcomes for tables.
package decodetest

import (
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Words is a tokenizer whose tokens are words.
type Words struct{}

// Name implements prompt.Tokenizer.
func (Words) Name() string { return "words" }

// Count implements prompt.Tokenizer.
func (Words) Count(text string) int { return len(strings.Fields(text)) }

// Answered is a record of a successful response that came in one read.
func Answered(body string) *record.Exchange {
	return &record.Exchange{Record: record.Record{
		Status: 200, Streamed: true, Body: []byte(body), End: 9 * time.Millisecond,
		Marks: []record.Read{{Off: len(body), Kernel: record.Never, User: 5 * time.Millisecond}},
		In:    record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3},
	}}
}

// Decoded is what a test expects of a decoded record.
type Decoded struct {
	Labels  string // one word for each event
	Texts   []string
	Tokens  []int // of the events that carry tokens
	Finish  string
	In, Out record.Tokens
	Cached  int
	Failure string // class and message
}

// Summarise tells what was decoded.
func Summarise(rec *record.Exchange) Decoded {
	s := Decoded{Finish: rec.Finish, In: rec.In, Out: rec.Out, Cached: rec.Cached}
	text := string(rec.Text)
	var labels []string
	for _, e := range rec.Events {
		labels = append(labels, e.Label.String())
		if e.Label.IsToken() {
			s.Texts = append(s.Texts, text[:e.Text])
			s.Tokens = append(s.Tokens, e.Tokens)
		}
		text = text[e.Text:]
	}
	s.Labels = strings.Join(labels, " ")
	if text != "" {
		s.Labels += " and text of no event"
	}
	if f := rec.Failure; f != nil {
		s.Failure = string(f.Class) + ": " + f.Message
	}
	return s
}
