package prompt

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
)

// Position is where a request stands in a run. Sources derive all that is random from
// it and the seed, so that a stage's prompts do not depend on how many the stages
// before it used.
type Position struct {
	Stage uint64
	I     uint64 // position in the stage; in the run, where the source goes on from stage to stage
}

// Number is one number for the place. It is unique among places of the same run
// with fewer than 2^40 requests in a stage.
func (p Position) Number() uint64 { return p.Stage<<40 + p.I }

// RestartPerStage is what a source embeds that begins anew with every stage and has nothing to do for it.
type RestartPerStage struct{}

// SetStage implements Stager.
func (RestartPerStage) SetStage(int) bool { return true }

// StageStarter is a Source that begins anew with every stage. One that is none goes on from stage to
// stage.
type StageStarter interface {
	// SetStage is called ahead of a stage, not concurrently with At. It reports whether the
	// source begins anew; false: it goes on where it was.
	SetStage(i int) bool
}

// Salt makes a word to put in front of a prompt, so that the prompt shares its
// beginning with no other and a server's prefix cache has nothing to offer.
type Salt struct {
	kind string
	seed uint64
}

// NewSalt makes salt of a kind that the plan knows: one word for each request, one
// for each stage, one for the run, or none. The words of requests and stages are fixed by
// the seed: a second run with the same seed finds them in a cache that outlived the first.
// That of a run is another each time.
func NewSalt(kind string, seed uint64) Salt {
	if kind == plan.SaltRun {
		seed = rand.Uint64()
	}
	return Salt{kind: kind, seed: Mix(seed)}
}

// None reports whether there is no salt.
func (s Salt) None() bool { return s.kind == "" }

// Put puts the word for a place, if there is any, in front of a prompt and measures that again.
// A chat gets it in front of the first message, which is where a server's prompt begins.
func (s Salt) Put(p *Prompt, place Position, tok Tokenizer) {
	if s.None() {
		return
	}
	word := string(s.Append(nil, place))
	if p.Messages == nil {
		p.Text = word + p.Text
		if len(p.Parts) > 0 {
			p.Parts = append([]Part{{Kind: Text, Text: word}}, p.Parts...)
		}
	} else {
		p.Messages = slices.Clone(p.Messages)
		p.Messages[0].begin(word)
	}
	p.Measure(tok)
}

// begin puts a word in front of a message.
func (m *Message) begin(word string) {
	m.Content = word + m.Content
	if m.Raw == nil {
		return
	}
	var fields map[string]json.RawMessage
	var parts []json.RawMessage
	if json.Unmarshal(m.Raw, &fields) != nil {
		return
	}
	value, err := json.Marshal(m.Content)
	if json.Unmarshal(fields["content"], &parts) == nil && parts != nil {
		var part []byte
		if part, err = json.Marshal(map[string]string{"type": "text", "text": word}); err == nil {
			value, err = json.Marshal(slices.Insert(parts, 0, json.RawMessage(part)))
		}
	}
	fields["content"] = value
	if whole, failed := json.Marshal(fields); err == nil && failed == nil {
		m.Raw = whole
	}
}

// Append adds the word for a place and a space after it. No two places with
// different salt have the same word.
func (s Salt) Append(dst []byte, p Position) []byte {
	switch s.kind {
	case plan.SaltRequest:
	case plan.SaltStage:
		p.I = 0
	case plan.SaltRun:
		p = Position{}
	default:
		return dst
	}
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	x := Mix(p.Number() ^ s.seed)
	for range 13 { // of 5 bits each: all of the 64
		dst = append(dst, letters[x&31])
		x >>= 5
	}
	return append(dst, ' ')
}
