package token

import (
	"fmt"
)

// Parts is what a tokenizer is made of, whatever kind of file it was read from. A
// text goes through them in this order: added tokens that are not normalized are
// found in it, Normalizer changes what is between them, the other added tokens are
// found, PreTokenizer splits the rest into pieces, and Model turns each piece into
// ids.
type Parts struct {
	// Name is what reports call the tokenizer.
	Name string
	// Model turns pieces into ids. See bpe.New, bpe.FromRanks and bpe.FromScores.
	Model Model
	// Added are the tokens that are found in a text before the model sees it.
	Added []Added
	// Normalizer changes text before it is split; nil changes nothing.
	Normalizer Normalizer
	// Pattern is the regular expression whose matches are the pieces, as rank files
	// come with. It is left empty where PreTokenizer says it.
	Pattern string
	// Decoder turns token texts back into text; nil: the texts of the tokens are
	// joined as they are, which is right where the model's tokens are raw bytes.
	Decoder Decoder
	// Before and After are the special tokens that Encode adds when asked to.
	Before, After []int32
}

// Model turns a piece of text into token ids. It is safe for use from many
// goroutines.
type Model interface {
	// Encode appends the ids of a piece.
	Encode(dst []int32, piece string) []int32
	// Token is the text of an id; false where there is none.
	Token(id int32) (string, bool)
	// ID is the id of a token; false where the model has none.
	ID(token string) (int32, bool)
}

// Normalizer changes text before it is split.
type Normalizer interface {
	// Normalize returns what s becomes.
	Normalize(s string) string
}

// Decoder turns the texts of tokens into pieces of text, which are joined.
type Decoder interface {
	// Decode returns the pieces.
	Decode(tokens []string) []string
}

// Added is a token that is found in a text before the model sees it.
type Added struct {
	ID         int32
	Content    string
	SingleWord bool // only where no letter, digit or mark stands beside it
	LStrip     bool // takes the white space before it along
	RStrip     bool // takes the white space after it along
	Normalized bool // is looked for in the normalized text, in its normalized form
	Special    bool // Decode can leave it out
}

// Engine is a tokenizer made of Parts. It is safe for use from many goroutines.
type Engine struct {
	parts Parts
}

// New makes a tokenizer of its parts.
func New(p Parts) (*Engine, error) {
	if p.Model == nil {
		return nil, fmt.Errorf("the tokenizer %q has no model", p.Name)
	}
	return &Engine{parts: p}, nil
}

// Name is what a plan and a report call this tokenizer.
func (e *Engine) Name() string { return e.parts.Name }
