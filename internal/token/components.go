package token

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/token/detoken"
	"github.com/inferometer/inferometer/internal/token/normal"
	"github.com/inferometer/inferometer/internal/token/unigram"
	"github.com/inferometer/inferometer/internal/token/wordlevel"
	"github.com/inferometer/inferometer/internal/token/wordpiece"
)

// normalizer reads a normalizer; none is nil.
func normalizer(raw []byte) (Normalizer, error) {
	n, err := normal.FromJSON(raw)
	if n == nil || err != nil {
		return nil, err
	}
	return n, nil
}

// decoder reads a decoder; none is nil.
func decoder(raw []byte) (Decoder, error) {
	d, err := detoken.FromJSON(raw)
	if d == nil || err != nil {
		return nil, err
	}
	return d, nil
}

// model reads a model other than BPE.
func model(kind string, raw []byte) (Model, error) {
	switch kind {
	case "Unigram":
		return checked(unigram.FromJSON(raw))
	case "WordPiece":
		return checked(wordpiece.FromJSON(raw))
	case "WordLevel":
		return checked(wordlevel.FromJSON(raw))
	}
	return nil, fmt.Errorf("the model is of type %q, which is not known; known are BPE, Unigram, WordPiece and WordLevel", kind)
}

// checked is m, or nil where there is an error.
func checked[M Model](m M, err error) (Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
