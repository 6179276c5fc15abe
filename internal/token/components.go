package token

import (
	"fmt"

	"inferometer/internal/token/detoken"
	"inferometer/internal/token/normal"
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

func model(kind string, raw []byte) (Model, error) {
	return nil, fmt.Errorf("model %s", kind)
}
