package token

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Vocabulary gives the text that each token of the model stands for, in the order of their ids.
// Added tokens, special ones included, and those of broken characters are left out.
func (e *Pipeline) Vocabulary() iter.Seq[string] {
	return func(yield func(string) bool) {
		sized, ok := e.parts.Model.(interface{ Size() int })
		if !ok {
			return
		}
		// Ids may have gaps, though never many.
		left := sized.Size()
		for id := int32(0); left > 0 && int(id) < 2*sized.Size()+1000; id++ {
			if _, ok := e.parts.Model.Token(id); !ok {
				continue
			}
			left--
			if _, added := e.content[id]; added {
				continue
			}
			text := e.Decode([]int32{id}, false)
			if text == "" || strings.ContainsRune(text, utf8.RuneError) {
				continue
			}
			if !yield(text) {
				return
			}
		}
	}
}

// Ordinary are the ids of the model's own tokens that are not special, in order.
func (e *Pipeline) Ordinary() []int32 {
	sized, ok := e.parts.Model.(interface{ Size() int })
	if !ok {
		return nil
	}
	ids := make([]int32, 0, sized.Size())
	for id := range int32(sized.Size()) {
		if text, ok := e.Token(id); !ok || !e.special[text] {
			ids = append(ids, id)
		}
	}
	return ids
}

// BaseSize is how many tokens the model itself has, without those that were added to it.
func (e *Pipeline) BaseSize() int {
	if sized, ok := e.parts.Model.(interface{ Size() int }); ok {
		return sized.Size()
	}
	return 0
}
