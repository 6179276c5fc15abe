package token

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/token/bpe"
	"github.com/inferometer/inferometer/internal/token/decoder"
	"github.com/inferometer/inferometer/internal/token/normalizer"
	"github.com/inferometer/inferometer/internal/token/pretokenizer"
	"github.com/inferometer/inferometer/internal/token/regex"
	"github.com/inferometer/inferometer/internal/token/scan"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

// Parts is what a tokenizer is made of, of whatever file. In order: added tokens that are not
// normalized are found in a text, Normalizer changes the rest, other added tokens are found, the
// rest is split into pieces, and Model turns each into ids.
type Parts struct {
	// Name is what reports call the tokenizer.
	Name string
	// Model turns pieces into ids. See bpe.New, bpe.FromRanks and bpe.FromScores.
	Model Model
	// Added are the tokens that are found in a text before the model sees it.
	Added []Added
	// Known are tokens that only Decode and ID know: no text is ever taken for them.
	Known []Added
	// Normalizer changes text before it is split; nil changes nothing.
	Normalizer normalizer.Normalizer
	// PreTokenizer splits text; nil does not.
	PreTokenizer pretokenizer.PreTokenizer
	// Pattern is a rank file's regular expression whose matches in what PreTokenizer gives are the
	// pieces. Package scan knows most; others are matched step by step.
	Pattern string
	// Scanner splits what PreTokenizer gives by a well-known expression; nil does not.
	Scanner *scan.Scanner
	// PrefixSpace puts a space before Scanner's texts that do not begin with one.
	PrefixSpace bool
	// Decoder turns token texts back into text; nil means they are joined with spaces. A
	// raw bpe.Model needs none: its bytes are joined.
	Decoder decoder.Decoder
	// Before and After are the special tokens that Encode adds when asked to.
	Before, After []int32
	// Notes are what a user should know of the file, such as settings without effect.
	Notes []string
}

// Model turns a piece of text into token ids. It is safe for concurrent use.
type Model interface {
	// Encode appends the ids of a piece.
	Encode(dst []int32, piece string) []int32
	// Token is the text of an id; false where there is none.
	Token(id int32) (string, bool)
	// ID is the id of a token; false where the model has none.
	ID(token string) (int32, bool)
}

// Added is a token that is found in a text before the model sees it.
type Added struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no letter, digit or mark stands beside it
	LStrip     bool   `json:"lstrip"`      // takes the white space before it along
	RStrip     bool   `json:"rstrip"`      // takes the white space after it along
	Normalized bool   `json:"normalized"`  // is looked for in the normalized text, in its normalized form
	Special    bool   `json:"special"`     // Decode can leave it out
}

// Pipeline is a tokenizer made of Parts. It is safe for concurrent use.
type Pipeline struct {
	parts   Parts
	fast    *bpe.Model // the model, where it is one
	raw     *finder    // added tokens in the text as it is
	normal  *finder    // added tokens in normalized text
	content map[int32]string
	special map[string]bool
	// The pre-tokenizer asks whether a text begins where the input does.
	usesFirst bool
	// Decode gives back the text that was encoded, where it has no added tokens.
	faithful bool
	passes   sync.Pool // *pass
	cutters  sync.Pool // *cutter
	failure  atomic.Pointer[regex.LimitError]
}

// New makes a tokenizer of its parts.
func New(p Parts) (*Pipeline, error) {
	if p.Model == nil {
		return nil, fmt.Errorf("the tokenizer %q has no model", p.Name)
	}
	if err := p.findScanner(); err != nil {
		return nil, err
	}
	e := &Pipeline{parts: p, content: map[int32]string{}, special: map[string]bool{}}
	e.fast, _ = p.Model.(*bpe.Model)
	e.usesFirst = p.PreTokenizer != nil && pretokenizer.UsesFirst(p.PreTokenizer)
	e.faithful = e.fast != nil && e.fast.Raw() && p.Normalizer == nil && p.PreTokenizer == nil && !p.PrefixSpace
	for _, a := range slices.Concat(p.Known, p.Added) {
		e.content[a.ID] = a.Content
		if a.Special {
			e.special[a.Content] = true
		}
	}
	var raw, normalized []Added
	for _, a := range p.Added {
		if !a.Normalized {
			raw = append(raw, a)
			continue
		}
		if p.Normalizer != nil {
			a.Content = e.within(func() string { return p.Normalizer.Normalize(a.Content) })
		}
		e.content[a.ID] = a.Content // what the reference decodes it to
		normalized = append(normalized, a)
	}
	e.raw, e.normal = newFinder(raw), newFinder(normalized)
	if err := e.Err(); err != nil {
		return nil, fmt.Errorf("normalizing the added tokens: %w", err)
	}
	return e, nil
}

// Err tells of the first text that could not be encoded or decoded: a regular
// expression of the file took more steps on it than it may. The reference fails on
// such a text too. Encode and its like return nothing for it, so that a caller has to
// look here before it trusts a count. No tokenizer in wide use comes near the bound.
func (e *Pipeline) Err() error {
	if f := e.failure.Load(); f != nil {
		return fmt.Errorf("the tokenizer %s failed on a text: %w", e.parts.Name, f)
	}
	return nil
}

// within runs f. If a regular expression takes too many steps it keeps the error and returns "".
func (e *Pipeline) within(f func() string) (text string) {
	defer func() {
		if limit := caught(recover()); limit != nil {
			e.failure.CompareAndSwap(nil, limit)
			text = ""
		}
	}()
	return f()
}

// caught is what a regular expression panicked with, or nil. Other panics go on.
func caught(r any) *regex.LimitError {
	if r == nil {
		return nil
	}
	limit, ok := r.(*regex.LimitError)
	if !ok {
		panic(r)
	}
	return limit
}

// findScanner turns Pattern into a scanner, or into a pre-tokenizer where there is none.
func (p *Parts) findScanner() error {
	if p.Pattern == "" {
		return nil
	}
	if sc, ok := scan.FindRanks(p.Pattern); ok {
		p.Scanner = sc
		return nil
	}
	if p.PreTokenizer != nil {
		return fmt.Errorf("the tokenizer %q has a pre-tokenizer and the expression %s, which is not a well-known one", p.Name, p.Pattern)
	}
	quoted, err := json.Marshal(p.Pattern)
	if err != nil {
		return fmt.Errorf("the expression %s: %w", p.Pattern, err)
	}
	split := `{"type":"Split","pattern":{"Regex":` + string(quoted) + `},"behavior":"Isolated","invert":false}`
	p.PreTokenizer, err = pretokenizer.FromJSON([]byte(split))
	return err
}

// Name is what a plan and a report call this tokenizer.
func (e *Pipeline) Name() string { return e.parts.Name }

// Notes are what a user should know of the file that the tokenizer was read from.
func (e *Pipeline) Notes() []string { return e.parts.Notes }

// Encode returns the ids of text; special: between the tokenizer's special tokens. What is not
// valid UTF-8 is read as U+FFFD, as by a server.
func (e *Pipeline) Encode(text string, special bool) []int32 {
	return e.AppendEncode(nil, text, special)
}

// AppendEncode is Encode that appends to dst.
func (e *Pipeline) AppendEncode(dst []int32, text string, special bool) []int32 {
	start := len(dst)
	if special {
		dst = append(dst, e.parts.Before...)
	}
	p := e.begin()
	p.ids = dst
	ok := p.encodeText(text)
	dst = p.ids
	e.finish(p)
	if !ok {
		return dst[:start]
	}
	if special {
		dst = append(dst, e.parts.After...)
	}
	return dst
}

// Count is the number of tokens in text, without special tokens around it.
func (e *Pipeline) Count(text string) int {
	p := e.begin()
	p.ids = p.own[:0]
	p.encodeText(text)
	n := len(p.ids)
	p.own = p.ids
	e.finish(p)
	return n
}

// ID is the id of a token, be it added or the model's; false where there is none.
func (e *Pipeline) ID(token string) (int32, bool) {
	for id, content := range e.content {
		if content == token {
			return id, true
		}
	}
	return e.parts.Model.ID(token)
}

// Token is the text of an id, as it stands in the vocabulary, or its bytes where the
// model is a raw one; false where there is none.
func (e *Pipeline) Token(id int32) (string, bool) {
	if content, ok := e.content[id]; ok {
		return content, true
	}
	return e.parts.Model.Token(id)
}

// Decode returns the text of ids, without special tokens where skipSpecial is true.
// An id without a token is left out. Bytes that are not valid UTF-8 become U+FFFD.
func (e *Pipeline) Decode(ids []int32, skipSpecial bool) string {
	if e.fast != nil && e.fast.Raw() {
		return e.decodeRaw(ids, skipSpecial)
	}
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if text, ok := e.Token(id); ok && !(skipSpecial && e.special[text]) {
			tokens = append(tokens, text)
		}
	}
	if e.parts.Decoder == nil {
		return strings.Join(tokens, " ")
	}
	return e.within(func() string { return strings.Join(e.parts.Decoder.Decode(tokens), "") })
}

func (e *Pipeline) decodeRaw(ids []int32, skipSpecial bool) string {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		if content, ok := e.content[id]; ok {
			if !skipSpecial || !e.special[content] {
				b = e.appendContent(b, content)
			}
			continue
		}
		if text, ok := e.fast.Token(id); ok && !(skipSpecial && e.special[text]) {
			b = append(b, text...)
		}
	}
	return decoder.Valid(b)
}

// appendContent appends what an added token decodes to: where the vocabulary is
// written in the byte alphabet, added tokens are read in it too if they can be.
func (e *Pipeline) appendContent(b []byte, content string) []byte {
	if e.fast.Alphabet() {
		if raw, ok := unidata.AppendRaw(b, []byte(content)); ok {
			return raw
		}
	}
	return append(b, content...)
}
