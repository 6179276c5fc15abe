package token

import (
	"encoding/json"
	"fmt"
)

type post struct {
	Type       string            `json:"type"`
	Processors []json.RawMessage `json:"processors"`
	Single     []struct {
		SpecialToken *struct{ ID string }
		Sequence     *struct{ ID string }
	} `json:"single"`
	Special map[string]struct {
		IDs []int32 `json:"ids"`
	} `json:"special_tokens"`
	Sep []any `json:"sep"`
	Cls []any `json:"cls"`
}

// postProcessor is the special tokens that a post-processor puts before and after a
// text.
func postProcessor(raw []byte) (before, after []int32, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil, nil
	}
	var p post
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, nil, fmt.Errorf("the post-processor: %w", err)
	}
	switch p.Type {
	case "ByteLevel": // changes offsets only
	case "TemplateProcessing":
		return p.template()
	case "BertProcessing", "RobertaProcessing":
		cls, err := pairID(p.Cls, "cls")
		if err != nil {
			return nil, nil, err
		}
		sep, err := pairID(p.Sep, "sep")
		if err != nil {
			return nil, nil, err
		}
		return []int32{cls}, []int32{sep}, nil
	case "Sequence":
		for _, inner := range p.Processors {
			b, a, err := postProcessor(inner)
			if err != nil {
				return nil, nil, err
			}
			before, after = append(b, before...), append(after, a...)
		}
	default:
		return nil, nil, fmt.Errorf("unknown post-processor %q", p.Type)
	}
	return before, after, nil
}

func (p *post) template() (before, after []int32, err error) {
	texts := 0
	for _, piece := range p.Single {
		switch {
		case piece.Sequence != nil && piece.Sequence.ID == "A":
			texts++
		case piece.SpecialToken != nil:
			special, ok := p.Special[piece.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("the template uses the special token %q, but has no ids for it", piece.SpecialToken.ID)
			}
			if texts == 0 {
				before = append(before, special.IDs...)
			} else {
				after = append(after, special.IDs...)
			}
		default:
			return nil, nil, fmt.Errorf("the template for a single text has an element that is neither a special token nor the text")
		}
	}
	if texts != 1 {
		return nil, nil, fmt.Errorf("the template for a single text contains the text %d times; only once is supported", texts)
	}
	return before, after, nil
}

func pairID(pair []any, name string) (int32, error) {
	if len(pair) == 2 {
		if id, ok := pair[1].(float64); ok {
			return int32(id), nil
		}
	}
	return 0, fmt.Errorf("the post-processor's %s is not a token and its id", name)
}
