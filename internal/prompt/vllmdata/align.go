package vllmdata

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/prompt"
)

// align cuts prompts that are longer than planned for the server. It looks at the first of them, and at the
// others only where that one has another length there. The note says what became of it; empty: nothing did.
func (s *Source) align(ctx context.Context, server prompt.TokenServer) (note string) {
	first := &s.made[0]
	if s.vllm.Align == "" || server == nil || first.texts != nil || first.ids != nil {
		return ""
	}
	ids, err := server.Tokens(ctx, first.text)
	if err != nil {
		return "The server does not tokenize: prompts are as long as the tokenizer here counts them."
	}
	if len(ids) == first.length {
		return ""
	}
	cut := 0
	for i := range s.made {
		r := &s.made[i]
		ids, err := server.Tokens(ctx, r.text)
		if err != nil || len(ids) <= r.length {
			continue
		}
		if text, err := server.Text(ctx, ids[:r.length]); err == nil {
			r.text = text
			cut++
		}
	}
	if cut == 0 {
		return ""
	}
	return fmt.Sprintf("The server's tokenizer is another one: %s longer there, and cut.", number.Plural(int64(cut), "prompt"))
}
