package token

import "fmt"

func normalizer(raw []byte) (Normalizer, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return nil, fmt.Errorf("normalizer %s", raw)
}

func pretokenizer(raw []byte) (Split, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return nil, fmt.Errorf("pretokenizer %s", raw)
}

func decoder(raw []byte) (Decoder, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return nil, fmt.Errorf("decoder %s", raw)
}

func model(kind string, raw []byte) (Model, error) {
	return nil, fmt.Errorf("model %s", kind)
}
