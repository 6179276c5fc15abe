package kit

import (
	"context"
	"fmt"
	"strings"

	"inferometer/internal/plan"
	"inferometer/internal/token/source"
)

// Tokenizer finds the tokenizer of a plan. One that is optional and cannot be had is
// replaced by the built-in one, in the plan too; the note says so.
func (k Kit) Tokenizer(ctx context.Context, p *plan.Plan) (found *source.Found, note string, err error) {
	want := p.Tokenizer
	found, err = k.Tokenizers(ctx, want.Name, want.Revision, p.Limits)
	if err == nil || !want.Optional || ctx.Err() != nil {
		return found, "", err
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	note = fmt.Sprintf("The tokenizer %s cannot be had: %s. %s makes and counts tokens in its place; --tokenizer names another.", want.Name, strings.TrimSuffix(reason, "."), plan.TokenizerBuiltin)
	p.Tokenizer = plan.Tokenizer{Name: plan.TokenizerBuiltin}
	found, err = k.Tokenizers(ctx, plan.TokenizerBuiltin, "", p.Limits)
	return found, note, err
}
