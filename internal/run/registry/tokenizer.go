package registry

import (
	"context"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// Tokenizer finds the tokenizer of a plan. One that is optional and is unavailable is
// replaced by the built-in one, in the plan too, and the log says so.
func (k Kit) Tokenizer(ctx context.Context, p *plan.Plan, log message.Log) (*loader.Found, error) {
	want := p.Tokenizer
	found, err := k.Tokenizers(ctx, want.Name, want.Revision, p.Limits)
	if err == nil || !want.Optional || ctx.Err() != nil {
		return found, err
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	log.Printf("The tokenizer %s could not be loaded: %s. Using %s instead%v.\n", want.Name, strings.TrimSuffix(reason, "."), plan.TokenizerBuiltin,
		message.New("; %v names another", message.Tokenizer).Or(""))
	p.Tokenizer = plan.Tokenizer{Name: plan.TokenizerBuiltin}
	return k.Tokenizers(ctx, plan.TokenizerBuiltin, "", p.Limits)
}
